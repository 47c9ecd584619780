"""A stop in the middle of everything: what was acknowledged and counted is there after the next start.

The flush interval is an hour, so whatever a restart shows was written by the stop itself.
"""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import signal
import socket
import threading
from collections.abc import Iterator
from http.client import HTTPException
from typing import Any

import pytest

from tests.cast import Cast
from tests.server import Server, running_server, wait_until

pytestmark = pytest.mark.server


@pytest.fixture
def server() -> Iterator[Server]:
    with running_server(LOOPD_UNREAD_RUNTIME_SNAPSHOT_FLUSH_INTERVAL="1h") as running:
        yield running


def settled(cast: Cast, who: str) -> dict[str, Any]:
    """The unread answer once the member's pages are in."""
    answers: list[dict[str, Any]] = []

    def loaded() -> bool:
        answers.append(cast.unread(who))
        return answers[-1]["state"] != "hydrating"

    wait_until(loaded, 15)
    return answers[-1]


async def test_a_stop_with_open_sockets_flushes_and_tells_them(server: Server) -> None:
    cast = await asyncio.to_thread(Cast, server, "ann", "ben")
    channel = await asyncio.to_thread(cast.channel, "ann", "ben")
    async with cast.socket("ben") as ben, cast.socket("ann") as ann:
        await ben.next("unread.snapshot")
        await ann.next("unread.snapshot")
        for n in range(3):
            await asyncio.to_thread(cast.post, "ann", channel, f"number {n}")
        stopping = asyncio.create_task(asyncio.to_thread(server.stop))
        assert await ben.closed(30) == 4012, server.log
        assert await ann.closed(30) == 4012
        assert await stopping == 0
    await asyncio.to_thread(server.start)
    shown = await asyncio.to_thread(settled, cast, "ben")
    assert (shown["state"], shown["counts"][channel]["messages"]) == ("snapshot_serving", 3)


@pytest.mark.parametrize("connection", ["half a request", "a socket whose application has returned"])
def test_a_stop_with_a_connection_without_application_flushes(server: Server, connection: str) -> None:
    """Daphne looks up the application of every connection when it stops; these two have none."""
    cast = Cast(server, "ann", "ben")
    channel = cast.channel("ann", "ben")
    with contextlib.closing(socket.create_connection(("127.0.0.1", server.port), 10)) as raw:
        if connection == "half a request":
            raw.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-More: to come\r\n")
        else:
            raw.sendall(_upgrade(f"/ws/workspaces/{cast.workspace}/"))
            raw.settimeout(10)
            received = b""
            while b"\x88" not in received.partition(b"\r\n\r\n")[2]:
                received += raw.recv(4096)
        cast.post("ann", channel)
        assert server.stop() == 0
    server.start()
    shown = settled(cast, "ben")
    assert (shown["state"], shown["counts"][channel]["messages"]) == ("snapshot_serving", 1)


def test_a_request_that_runs_when_the_stop_begins_is_answered_and_counted(server: Server) -> None:
    if server.own["DATABASE_URL"]:
        pytest.skip("the request is held by SQLite's one write lock")
    import sqlite3

    cast = Cast(server, "ann", "ben")
    channel = cast.channel("ann", "ben")
    cast.post("ann", channel, "warms everything up")
    answers: list[Any] = []
    assert _requests_running(server, cast) == 1
    held = sqlite3.connect(server.home / "loopd.sqlite3", timeout=30, isolation_level=None)
    held.execute("BEGIN IMMEDIATE")
    sending = threading.Thread(
        target=lambda: answers.append(cast.ask("ann", "POST", f"/conversations/{channel}/messages", {"text": "late"}))
    )
    sending.start()
    wait_until(lambda: _requests_running(server, cast) == 2, 10)
    stopping = threading.Thread(target=server.stop)
    stopping.start()
    wait_until(lambda: server._readyz() != 200, 10)
    held.execute("ROLLBACK")
    held.close()
    sending.join(30)
    stopping.join(30)
    assert [answer.status for answer in answers] == [201]
    server.start()
    assert settled(cast, "ben")["counts"][channel]["messages"] == 2


def test_a_thread_that_hangs_does_not_keep_the_process(server: Server) -> None:
    if server.own["DATABASE_URL"]:
        pytest.skip("the request is held by SQLite's one write lock")
    import sqlite3

    server.environment["LOOPD_STOP_DEADLINE"] = "1s"
    server.stop()
    server.start()
    cast = Cast(server, "ann")
    channel = cast.channel("ann")
    held = sqlite3.connect(server.home / "loopd.sqlite3", timeout=30, isolation_level=None)
    held.execute("BEGIN IMMEDIATE")

    def hang() -> None:
        with contextlib.suppress(OSError, HTTPException):
            cast.ask("ann", "POST", f"/conversations/{channel}/messages", {"text": "waits for the lock"})

    hanging = threading.Thread(target=hang)
    hanging.start()
    wait_until(lambda: "database is locked" not in server.log and _requests_running(server, cast) == 2, 10)
    assert server.process is not None
    server.process.send_signal(signal.SIGTERM)
    assert server.process.wait(15) == 1
    assert "did not end" in server.log
    held.close()
    hanging.join(30)


def test_nothing_new_is_taken_while_a_stop_waits(server: Server) -> None:
    if server.own["DATABASE_URL"]:
        pytest.skip("the request is held by SQLite's one write lock")
    import sqlite3

    cast = Cast(server, "ann")
    channel = cast.channel("ann")
    kept = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
    kept.request("GET", "/healthz")
    kept.getresponse().read()
    held = sqlite3.connect(server.home / "loopd.sqlite3", timeout=30, isolation_level=None)
    held.execute("BEGIN IMMEDIATE")
    sending = threading.Thread(target=lambda: cast.post("ann", channel))
    sending.start()
    wait_until(lambda: _requests_running(server, cast) == 2, 10)
    stopping = threading.Thread(target=server.stop)
    stopping.start()
    wait_until(lambda: server._readyz() == 0, 10)
    kept.request("GET", "/v1/me")
    refused = kept.getresponse()
    assert (refused.status, refused.getheader("Retry-After")) == (503, "1")
    held.execute("ROLLBACK")
    held.close()
    sending.join(30)
    stopping.join(30)
    assert server.process is not None
    assert server.process.returncode == 0


def _requests_running(server: Server, cast: Cast) -> float:
    """The request that reads them counts too."""
    lines = str(server.call(cast.token["ann"], "GET", "//metrics").value).splitlines()
    return float(next(line for line in lines if line.startswith("loopd_http_requests_running")).split()[1])


def test_a_second_server_is_refused_until_the_first_has_stopped(server: Server) -> None:
    from tests.server import beside

    cast = Cast(server, "ann")
    channel = cast.channel("ann")
    with beside(server) as other:
        other.start(until_ready=False)
        ready = other.call(None, "GET", "//readyz")
        assert (ready.status, "held by" in ready.value["problems"]["ownership"]) == (503, True)
        refused = other.call(cast.token["ann"], "POST", f"/conversations/{channel}/messages", {"text": "elsewhere"})
        assert (refused.status, refused.value["error"]["type"]) == (421, "misdirected")
        assert cast.post("ann", channel)["seq"] == 1
        assert server.stop() == 0
        wait_until(lambda: other._readyz() == 200, 10)
        accepted = other.call(cast.token["ann"], "POST", f"/conversations/{channel}/messages", {"text": "here now"})
        assert (accepted.status, accepted.value["seq"]) == (201, 2)
        assert other.stop() == 0


def _upgrade(path: str) -> bytes:
    lines = [
        f"GET {path} HTTP/1.1",
        "Host: localhost",
        "Upgrade: websocket",
        "Connection: Upgrade",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        "Sec-WebSocket-Version: 13",
        "",
        "",
    ]
    return "\r\n".join(lines).encode()
