"""SIGKILL in the middle of a burst: nothing that was acknowledged is lost, doubled or wrongly called exact."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Iterator
from http.client import HTTPException
from typing import Any

import pytest

from tests.cast import Cast
from tests.faults.test_stops import settled
from tests.server import Server, running_server, wait_until

pytestmark = pytest.mark.server

WRITERS, ACKNOWLEDGED_BEFORE_KILL = 4, 40


@pytest.fixture(params=["200ms", "1h"], ids=["killed among flushes", "killed before any flush"])
def server(request: pytest.FixtureRequest) -> Iterator[Server]:
    with running_server(
        LOOPD_UNREAD_RUNTIME_SNAPSHOT_FLUSH_INTERVAL=request.param, LOOPD_MESSAGES_PER_SECOND="100000"
    ) as running:
        yield running


class Burst:
    """Writers that send to two channels, each under its own keys, until the server is gone."""

    def __init__(self, cast: Cast, channels: list[str]) -> None:
        self.cast, self.channels = cast, channels
        self.acknowledged: dict[tuple[str, str], str] = {}
        """`(channel, client_message_id)` to the message's id."""
        self._threads = [threading.Thread(target=self._send, args=(writer,)) for writer in range(WRITERS)]

    def until(self, count: int) -> None:
        for thread in self._threads:
            thread.start()
        wait_until(lambda: len(self.acknowledged) >= count, 60)

    def over(self) -> None:
        for thread in self._threads:
            thread.join(60)
            assert not thread.is_alive()

    def _send(self, writer: int) -> None:
        for n in range(10_000):
            channel, key = self.channels[n % 2], f"{writer}-{n}"
            body = {"text": f"number {n}", "client_message_id": key}
            try:
                answer = self.cast.ask("ann", "POST", f"/conversations/{channel}/messages", body)
            except (OSError, HTTPException, ValueError):  # gone, or in the middle of an answer
                return
            if answer.status == 201:
                self.acknowledged[channel, key] = answer.value["id"]


def test_a_kill_in_a_burst_of_sends(server: Server) -> None:
    cast = Cast(server, "ann", "ben")
    channels = [cast.channel("ann", "ben"), cast.channel("ann", "ben")]
    burst = Burst(cast, channels)
    burst.until(ACKNOWLEDGED_BEFORE_KILL)
    server.kill()
    burst.over()
    acknowledged = dict(burst.acknowledged)
    server.start()

    for channel in channels:
        stored = history(cast, channel)
        keys = {message["client_message_id"]: message["id"] for message in stored}
        mine = {key: found for (where, key), found in acknowledged.items() if where == channel}
        assert mine.items() <= keys.items()
        assert len(keys) == len(stored)
        assert [message["seq"] for message in stored] == list(range(1, len(stored) + 1))
        assert sorted(message["id"] for message in stored) == [message["id"] for message in stored]
    assert_honest(cast, channels)

    (channel, key), first = next(iter(acknowledged.items()))
    again = {"text": f"number {key.split('-')[1]}", "client_message_id": key}
    answer = cast.ask("ann", "POST", f"/conversations/{channel}/messages", again)
    assert (answer.status, answer.value["id"]) == (200, first)
    for channel in channels:
        cast.post("ann", channel, "after the kill")
    assert_honest(cast, channels)
    for channel in channels:
        cast.call("ben", "PUT", f"/conversations/{channel}/read", {})
    shown = settled(cast, "ben")
    assert (shown["state"], shown["counts"]) == ("ready", {})


def test_a_kill_between_the_commit_and_its_hook_is_repaired_by_the_retry() -> None:
    with running_server(command=sabotaged("hook")) as server:
        cast = Cast(server, "ann", "ben")
        channel = cast.channel("ann", "ben")
        message = {"text": "committed and never told", "client_message_id": "once"}
        (server.home / "die-at-hook").touch()
        with pytest.raises((OSError, HTTPException)):
            cast.ask("ann", "POST", f"/conversations/{channel}/messages", message)
        assert server.process is not None
        server.process.wait(10)
        (server.home / "die-at-hook").unlink()
        server.start()
        assert [kept["seq"] for kept in history(cast, channel)] == [1]
        assert_honest(cast, [channel])
        retried = cast.ask("ann", "POST", f"/conversations/{channel}/messages", message)
        assert (retried.status, retried.value["seq"]) == (200, 1)
        wait_until(lambda: settled(cast, "ben")["counts"].get(channel, {}).get("messages") == 1, 15)
        assert_honest(cast, [channel])


def test_a_kill_in_the_middle_of_a_flush_leaves_honest_rows() -> None:
    with running_server(
        command=sabotaged("flush"),
        LOOPD_UNREAD_RUNTIME_SNAPSHOT_FLUSH_INTERVAL="500ms",
        LOOPD_UNREAD_RUNTIME_SNAPSHOT_FLUSH_BATCH_SIZE="1",
    ) as server:
        cast = Cast(server, "ann", "ben")
        channels = [cast.channel("ann", "ben") for _ in range(3)]
        for channel in channels:
            cast.post("ann", channel)
        (server.home / "die-at-flush").touch()
        for channel in channels:
            with contextlib.suppress(OSError, HTTPException):  # it may die among them
                cast.post("ann", channel)
        assert server.process is not None
        server.process.wait(20)
        (server.home / "die-at-flush").unlink()
        server.start()
        assert_honest(cast, channels)
        for channel in channels:
            cast.call("ben", "PUT", f"/conversations/{channel}/read", {})
            cast.post("ann", channel)
        wait_until(lambda: settled(cast, "ben")["state"] == "ready", 15)
        counts = settled(cast, "ben")["counts"]
        assert {channel: counts[channel]["messages"] for channel in channels} == dict.fromkeys(channels, 1)


def sabotaged(point: str) -> list[str]:
    return [sys.executable, "tests/faults/saboteur.py", point]


def assert_honest(cast: Cast, channels: list[str]) -> None:
    """What is shown as exact is exact; a hint may be short of what is unread, never beyond it."""
    shown = settled(cast, "ben")
    for channel in channels:
        unread = len(history(cast, channel))
        entry = shown["counts"].get(channel, {"state": "snapshot_serving", "messages": 0})
        assert entry["messages"] <= unread
        if entry["state"] == "ready":
            assert entry["messages"] == unread


def history(cast: Cast, channel: str) -> list[dict[str, Any]]:
    """All of it, oldest first."""
    found: list[dict[str, Any]] = []
    page = cast.call("ann", "GET", f"/conversations/{channel}/messages?limit=200")
    while True:
        found = page["items"] + found
        if not page["has_more_before"]:
            return found
        page = cast.call("ann", "GET", f"/conversations/{channel}/messages?limit=200&before={found[0]['id']}")
