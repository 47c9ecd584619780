"""The same application under another ASGI server: its lifespan starts and stops everything."""

from __future__ import annotations

import asyncio
import sys

import pytest

from tests.cast import Cast
from tests.faults.test_stops import settled
from tests.server import free_port, running_server

pytestmark = pytest.mark.server


async def test_uvicorn_serves_sockets_and_flushes_when_it_stops() -> None:
    port = str(free_port())
    command = [sys.executable, "-m", "uvicorn", "loopd.asgi:application", "--port", port, "--log-level", "warning"]
    with running_server(start=False, command=command, LOOPD_UNREAD_RUNTIME_SNAPSHOT_FLUSH_INTERVAL="1h") as server:
        server.port = int(port)
        await asyncio.to_thread(server.start)
        cast = await asyncio.to_thread(Cast, server, "ann", "ben")
        channel = await asyncio.to_thread(cast.channel, "ann", "ben")
        async with cast.socket("ben") as ben:
            await ben.next("unread.snapshot")
            message = await asyncio.to_thread(cast.post, "ann", channel)
            assert (await ben.next("message.created"))["id"] == message["id"]
            stopping = asyncio.create_task(asyncio.to_thread(server.stop))
            assert await ben.closed(30) in (1012, 4012)
            await stopping
        await asyncio.to_thread(server.start)
        shown = await asyncio.to_thread(settled, cast, "ben")
        assert (shown["state"], shown["counts"][channel]["messages"]) == ("snapshot_serving", 1)
