"""Clients that do not read cost the server a bounded amount, and catch up by a snapshot when they do."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.client import connect

from tests.cast import Cast, LiveSocket, shown
from tests.server import Server, wait_until

pytestmark = pytest.mark.server

SOCKETS, MESSAGES, TEXT = 10, 150, "x" * 60_000
ALL_BYTES = SOCKETS * MESSAGES * len(TEXT)


async def test_readers_that_stop_reading_are_held_back_and_catch_up(server: Server) -> None:
    cast = await asyncio.to_thread(Cast, server, "ann", "ben")
    channel = await asyncio.to_thread(cast.channel, "ann", "ben")
    metrics = cast.token["ann"]
    await asyncio.to_thread(cast.post, "ann", channel, TEXT)
    async with contextlib.AsyncExitStack() as stack:
        url = server.socket_url(cast.workspace, cast.token["ben"])
        slow = [await stack.enter_async_context(_lazy(url)) for _ in range(SOCKETS)]
        for one in slow:
            await one.next("unread.snapshot")
            one.connection.transport.pause_reading()
        before, gaps = _resident_bytes(server), _gauge(server, metrics, "loopd_realtime_gaps")
        for _ in range(MESSAGES):
            await asyncio.to_thread(cast.post, "ann", channel, TEXT)
        await asyncio.to_thread(wait_until, lambda: _gauge(server, metrics, "loopd_realtime_facts_waiting") == 0, 20)
        assert _gauge(server, metrics, "loopd_realtime_gaps") - gaps >= SOCKETS
        assert _resident_bytes(server) - before < ALL_BYTES / 2
        for one in slow:
            one.connection.transport.resume_reading()
            await one.next("resync")
            while shown(one, channel) != MESSAGES + 1:
                await one.next()


@contextlib.asynccontextmanager
async def _lazy(url: str) -> Any:
    """A connection whose kernel buffer is small and whose library takes nothing ahead."""
    raw = socket.socket()
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 32 * 1024)
    raw.connect(("127.0.0.1", int(url.split(":")[2].split("/")[0])))
    raw.setblocking(False)
    async with connect(url, sock=raw, max_size=None, max_queue=1, proxy=None, ping_interval=None) as connection:
        yield LiveSocket(connection)


def _resident_bytes(server: Server) -> int:
    assert server.process is not None
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) * 1024


def _gauge(server: Server, token: str, name: str) -> float:
    lines = str(server.call(token, "GET", "//metrics").value).splitlines()
    return float(next(line for line in lines if line.startswith(name)).split()[1])
