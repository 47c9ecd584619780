"""The database goes away for longer than a lease lives: nothing is lost, and what is shown afterwards is exact."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from urllib.parse import urlsplit, urlunsplit

import pytest

from tests.cast import Cast
from tests.faults.proxy import Proxy, proxied
from tests.server import Server, running_server, wait_until

pytestmark = pytest.mark.server


@pytest.fixture
def proxy() -> Iterator[Proxy]:
    url = os.environ.get("DATABASE_URL", "")
    parts = urlsplit(url)
    if not url.startswith("mysql") or parts.hostname is None:
        pytest.skip("a database goes away behind its TCP port; this run has a file or a local socket")
    with proxied(parts.hostname, parts.port or 3306) as made:
        yield made


async def test_an_outage_during_flushes(proxy: Proxy) -> None:
    def through_proxy(url: str) -> str:
        parts = urlsplit(url)
        return urlunsplit(parts._replace(netloc=f"{parts.netloc.rpartition('@')[0]}@127.0.0.1:{proxy.port}"))

    with running_server(
        through=through_proxy,
        LOOPD_UNREAD_RUNTIME_SNAPSHOT_FLUSH_INTERVAL="300ms",
        LOOPD_LEASE_TTL="1s",
        LOOPD_HEARTBEAT="300ms",
    ) as server:
        cast = await asyncio.to_thread(Cast, server, "ann", "ben")
        channel = await asyncio.to_thread(cast.channel, "ann", "ben")
        await asyncio.to_thread(cast.post, "ann", channel)
        async with cast.socket("ben") as ben:
            await ben.next("unread.snapshot")
            posts = [asyncio.create_task(asyncio.to_thread(cast.post, "ann", channel)) for _ in range(5)]
            await asyncio.gather(*posts)
            proxy.cut()
            gone = await asyncio.to_thread(
                cast.ask, "ann", "POST", f"/conversations/{channel}/messages", {"text": "into the void"}
            )
            assert (gone.status, gone.value["error"]["type"]) == (503, "unavailable")
            await asyncio.to_thread(wait_until, lambda: server._readyz() == 503, 15)
            assert server.call(None, "GET", "//healthz").status == 200
            for _ in range(10):
                await ben.next("heartbeat")
            proxy.mend()
            await asyncio.to_thread(wait_until, lambda: server._readyz() == 200, 30)
            await asyncio.to_thread(cast.post, "ann", channel)
            counts = await asyncio.to_thread(cast.unread, "ben")
            assert counts["counts"][channel] == {
                "state": "ready",
                "messages": 7,
                "activities": 0,
                "manual": False,
                "mentions": 0,
            }
            await asyncio.to_thread(wait_until, lambda: _flushed(server, cast.token["ann"]), 30)


def _flushed(server: Server, token: str) -> bool:
    lines = str(server.call(token, "GET", "//metrics").value).splitlines()
    values = dict(line.split(" ") for line in lines if line.startswith("loopd_unread_") and "{" not in line)
    return (
        float(values["loopd_unread_dirty_entries"]) == 0
        and float(values["loopd_unread_failing_flushes"]) == 0
        and float(values["loopd_unread_flush_failures_total"]) > 0
    )
