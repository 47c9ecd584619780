"""One connection's life, with a running hub: pings, age, a client that goes or stops reading, and the hub's own end."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest

from conversations.delivery import sse
from conversations.delivery.bridge import BridgeDown
from conversations.delivery.feeds import Feed, Subscriber
from conversations.delivery.hub import StreamHub
from conversations.delivery.memory import InProcessBridge
from conversations.delivery.outbox import Outbox
from conversations.delivery.sse import ConversationStreams
from conversations.errors import Unavailable
from conversations.publish import subscribe
from tests.conversations.streams.answers import stage as cast_of_answers
from tests.server import wait_until
from tests.verbs import post
from tests.world import World

from .pages import Page

PATIENCE_S = 20.0


@pytest.fixture
def world() -> World:
    return cast_of_answers()


@pytest.fixture
def hub() -> Iterator[StreamHub]:
    made = StreamHub(InProcessBridge())
    made.start()
    unsubscribe = subscribe(made.heard)
    yield made
    unsubscribe()
    made.stop(10)


class Threads:
    """Where a test's blocking work runs."""

    async def run(self, work: Callable[..., Any], *arguments: Any) -> Any:
        from django.db import connection

        def ran() -> Any:
            try:
                return work(*arguments)
            finally:
                connection.close()

        return await asyncio.to_thread(ran)


class Client(Page):
    """An ASGI server's side of one connection; `reads` False holds up its `send` for ever."""

    def __init__(self, world: World, hub: StreamHub, ping_s: float = 15.0) -> None:
        super().__init__()
        self.app = ConversationStreams(hub, Threads(), ping_s)
        path = f"/v1/conversations/{world.scope['x'].id}/stream"
        bearer = f"Bearer {world.token['ann']}".encode()
        self.scope: dict[str, Any] = {
            "type": "http",
            "method": "GET",
            "path": path,
            "query_string": b"",
            "headers": [(b"host", b"localhost"), (b"authorization", bearer)],
            "path_parameters": {"conversation_id": str(world.scope["x"].id)},
        }
        self.reads = True
        self.gone = asyncio.Event()
        self.sent: list[dict[str, Any]] = []
        self.changed = asyncio.Event()
        self.pings = 0

    def open(self) -> asyncio.Task[None]:
        return asyncio.create_task(self._run())

    async def _run(self) -> None:
        await self.app(self.scope, self._receive, self._send)

    async def until(self, true: Callable[[], Any]) -> None:
        async with asyncio.timeout(PATIENCE_S):
            while not true():
                self.changed.clear()
                await self.changed.wait()

    async def _receive(self) -> dict[str, Any]:
        if not self.sent:
            return {"type": "http.request", "body": b""}
        await self.gone.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: dict[str, Any]) -> None:
        if not self.reads:
            await asyncio.Event().wait()
        self.sent.append(message)
        body = message.get("body", b"")
        self.pings += body.count(b": ping")
        self.feed(body)
        self.changed.set()

    @property
    def complete(self) -> bool:
        return self.sent[-1]["type"] == "http.response.body" and not self.sent[-1].get("more_body", False)


async def settled(work: Awaitable[None]) -> None:
    async with asyncio.timeout(PATIENCE_S):
        await work


async def test_an_idle_connection_is_pinged(world: World, hub: StreamHub) -> None:
    client = Client(world, hub, ping_s=0.01)
    connection = client.open()
    await client.until(lambda: client.pings >= 3)
    said = await asyncio.to_thread(post, world, "ben", "x", "between pings")
    await client.until(lambda: str(said.id) in client.models)
    client.gone.set()
    await settled(connection)
    assert hub.open_feeds == 0


async def test_an_old_connection_ends_so_that_it_comes_back(
    world: World, hub: StreamHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sse, "MAX_AGE_S", 0.05)
    client = Client(world, hub, ping_s=0.01)
    await settled(client.open())
    assert client.complete
    assert client.last_id.isdigit()
    assert hub.open_feeds == 0


async def test_a_client_that_reads_nothing_is_cut_off(
    world: World, hub: StreamHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sse, "SEND_PATIENCE_S", 0.05)
    client = Client(world, hub, ping_s=0.01)
    connection = client.open()
    await client.until(lambda: client.last_id)
    client.reads = False
    await settled(connection)
    assert (client.complete, hub.open_feeds) == (False, 0)


async def test_a_client_that_goes_is_let_go(world: World, hub: StreamHub) -> None:
    client = Client(world, hub)
    connection = client.open()
    await client.until(lambda: client.last_id)
    assert hub.open_feeds == 1
    client.gone.set()
    await settled(connection)
    assert hub.open_feeds == 0


async def test_a_cancelled_connection_is_let_go(world: World, hub: StreamHub) -> None:
    client = Client(world, hub)
    connection = client.open()
    await client.until(lambda: client.last_id)
    connection.cancel()
    with pytest.raises(asyncio.CancelledError):
        await connection
    assert hub.open_feeds == 0


async def test_a_stop_ends_connections_and_threads_and_takes_no_more(world: World) -> None:
    hub = StreamHub(InProcessBridge())
    hub.start()
    assert hub.healthy()
    client = Client(world, hub)
    connection = client.open()
    await client.until(lambda: client.last_id)
    await asyncio.to_thread(hub.stop, 10)
    await settled(connection)
    assert client.complete
    assert not hub.healthy()
    assert not {"stream-hub", "stream-reader"} & {thread.name for thread in threading.enumerate()}
    late = Client(world, hub)
    await settled(late.open())
    assert late.sent[0]["status"] == 503
    with pytest.raises(Unavailable):
        hub.join(Feed(Subscriber(world.id, world.scope["x"].id, world.member["ann"].id, "session:x"), Outbox()))


def test_a_reader_that_fails_goes_on(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the bridge raises, its thread lives, and is there when the bridge is back."""
    failures: list[type[Exception]] = [BridgeDown, ValueError, BridgeDown]
    bridge = InProcessBridge()
    reader = bridge.reader()
    read = reader.read

    def failing(*arguments: Any, **more: Any) -> Any:
        if failures:
            raise failures.pop()("from the test")
        return read(*arguments, **more)

    monkeypatch.setattr(reader, "read", failing)
    monkeypatch.setattr(bridge, "reader", lambda: reader)
    monkeypatch.setattr("conversations.delivery.following.RETRY_S", 0.01)
    hub = StreamHub(bridge)
    hub.start()
    try:
        wait_until(lambda: not failures, PATIENCE_S)
        assert hub.healthy()
    finally:
        hub.stop(10)
