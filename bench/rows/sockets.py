"""Row 7: a thousand people with a page open: what heartbeats cost, and how one message's deltas reach them all."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time

from websockets.asyncio.client import ClientConnection, connect

from ..client import Client, scrape
from ..databases import sqlite
from ..figures import Figure, Line
from ..scale import Scale
from ..servers import Place, places, wait_until_counted

COUNTING = "bench.counting_server"
BEATS, BEAT_S = 3, 2
PATIENCE_S = 120.0
AT_ONCE = 50


def run(scale: Scale) -> list[Line]:
    people, messages = scale.of(1000, 100), scale.of(20, 5)
    with (
        sqlite() as environment,
        places({**environment, "LOOPD_HEARTBEAT": f"{BEAT_S}s"}, people, COUNTING) as (place,),
    ):
        return asyncio.run(_measure(place, people, messages))


async def _measure(place: Place, people: int, messages: int) -> list[Line]:
    writer = place.client()
    path = f"/conversations/{place.channel}/messages"
    for person in range(people):
        await asyncio.to_thread(_look, place, person)
    await asyncio.to_thread(writer.call, "POST", path, {"text": "Good morning."})
    await asyncio.to_thread(wait_until_counted, place, people - 1, 1)
    crowd = Crowd()
    try:
        await crowd.come(place, people)
        idle = await _idle(crowd, writer)
        taken, batches, statements = await _messages(crowd, writer, path, messages)
    finally:
        await crowd.leave()
        writer.close()
    extra = f"{idle['bench_statements']:.0f} by other work (leases, access)"
    return [
        Line(
            "sockets",
            f"{people} sockets, {BEATS} heartbeats each",
            Figure(idle["beats"], 0, 0, 1, "frames"),
            None,
            f"{idle['bench_statements_on_loop']:.0f} statements; {extra}",
            "0 statements",
            idle["bench_statements_on_loop"] == 0 and idle["bench_unread_statements"] == 0,
        ),
        Line(
            "sockets",
            f"one message's deltas to {people - 1} sockets, until the last has it",
            Figure.of(taken, "ms"),
            None,
            f"{max(batches):.0f} batch, {statements:.0f} unread statements",
            "1 batch",
            max(batches) == 1 and statements == 0,
        ),
    ]


async def _idle(crowd: Crowd, writer: Client) -> dict[str, float]:
    """The differences that a few heartbeats make, but for what a look at them costs by itself."""
    before = scrape(writer)
    look = scrape(writer)["bench_statements"] - before["bench_statements"]
    before, heard = scrape(writer), crowd.heard["heartbeat"]
    until = time.monotonic() + PATIENCE_S
    while crowd.heard["heartbeat"] - heard < BEATS * len(crowd.sockets):
        if time.monotonic() > until:
            raise RuntimeError("the heartbeats do not come")
        await asyncio.sleep(0.1)
    after = scrape(writer)
    found = {name: after[name] - before[name] for name in after if name.startswith("bench_")}
    return {**found, "bench_statements": found["bench_statements"] - look, "beats": crowd.heard["heartbeat"] - heard}


async def _messages(crowd: Crowd, writer: Client, path: str, messages: int) -> tuple[list[float], list[float], float]:
    """For each message: milliseconds from its request to the last delta, and how many batches; unread SQL in all."""
    taken, batches = [], []
    first = scrape(writer)
    for _ in range(messages):
        before = scrape(writer)
        waiting = crowd.expect("unread.delta", len(crowd.sockets) - 1)
        began = time.perf_counter()
        await asyncio.to_thread(writer.call, "POST", path, {"text": "Is the build green again?"})
        async with asyncio.timeout(PATIENCE_S):
            ended = await waiting
        taken.append((ended - began) * 1e3)
        batches.append(scrape(writer)["bench_delta_batches"] - before["bench_delta_batches"])
    return taken, batches, scrape(writer)["bench_unread_statements"] - first["bench_unread_statements"]


class Crowd:
    """Open sockets that count the frames they get, by type."""

    def __init__(self) -> None:
        self.sockets: list[ClientConnection] = []
        self.heard: dict[str, int] = {"heartbeat": 0, "unread.delta": 0}
        self._wanted: dict[str, tuple[int, asyncio.Future[float]]] = {}
        self._listening: list[asyncio.Task[None]] = []

    async def come(self, place: Place, people: int) -> None:
        gate = asyncio.Semaphore(AT_ONCE)

        async def one(token: str) -> None:
            async with gate:
                url = place.server.socket_url(place.workspace, token)
                self.sockets.append(await connect(url, max_size=None, proxy=None, open_timeout=PATIENCE_S))

        await asyncio.gather(*(one(token) for token in place.tokens[:people]))
        self._listening = [asyncio.create_task(self._listen(socket)) for socket in self.sockets]

    async def leave(self) -> None:
        for task in self._listening:
            task.cancel()
        await asyncio.gather(*self._listening, return_exceptions=True)
        await asyncio.gather(*(socket.close() for socket in self.sockets), return_exceptions=True)

    def expect(self, kind: str, more: int) -> asyncio.Future[float]:
        """When so many more frames of a type have come."""
        future: asyncio.Future[float] = asyncio.get_running_loop().create_future()
        self._wanted[kind] = (self.heard[kind] + more, future)
        return future

    async def _listen(self, socket: ClientConnection) -> None:
        with contextlib.suppress(asyncio.CancelledError):
            async for raw in socket:
                self._hear(json.loads(raw)["type"])

    def _hear(self, kind: str) -> None:
        if kind not in self.heard:
            return
        self.heard[kind] += 1
        wanted, future = self._wanted.get(kind, (0, None))
        if future is not None and self.heard[kind] >= wanted and not future.done():
            future.set_result(time.perf_counter())


def _look(place: Place, person: int) -> None:
    client = place.client(person)
    client.call("GET", f"/workspaces/{place.workspace}/unread")
    client.close()
