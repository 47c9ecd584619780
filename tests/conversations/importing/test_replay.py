"""Where a replay may go, and in which order and at what pace it speaks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from conversations.importing.archive import Archive
from conversations.importing.client import CallFailed, Client
from conversations.importing.inspection import inspect
from conversations.importing.replay import Replay, Speaker, in_order_of_time

from .exports import START_S, ExportMaker, small_team


@pytest.mark.parametrize(
    ("url", "allowed", "message"),
    [
        ("ftp://127.0.0.1", False, "is not an address"),
        ("127.0.0.1:8000", False, "is not an address"),
        ("http://10.0.0.1:8000", False, "10.0.0.1 is not this machine"),
        ("http://example.org", False, "example.org is not this machine"),
        ("http://example.org", True, "by https only"),
    ],
)
def test_only_this_machine_unless_another_is_meant(url: str, allowed: bool, message: str) -> None:
    with pytest.raises(CallFailed, match=message):
        Client(url, allow_remote=allowed)


def test_this_machine_and_meant_ones_are_fine() -> None:
    for url, allowed in (("http://localhost:1", False), ("http://[::1]:1", False), ("https://example.org", True)):
        Client(url, allow_remote=allowed)


def test_channels_are_merged_by_time(tmp_path: Path) -> None:
    with Archive(small_team().write(tmp_path / "export.zip")) as archive:
        stamps = [message.stamp.us for _, message in in_order_of_time(archive, inspect(archive))]
    assert stamps == sorted(stamps)
    assert len(stamps) == 16


class Recorder:
    """A client that notes its calls and answers as a server would; what a real one does is tested on a real one."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, str, str]] = []

    def call(self, token: str, method: str, path: str, body: Any = None) -> Any:
        self.calls.append((token, method, path.split("?")[0]))
        return {"id": f"id-{len(self.calls)}"}

    def pages(self, token: str, path: str) -> list[dict[str, Any]]:
        return []


def test_silences_are_divided_by_the_speed_and_cut(tmp_path: Path) -> None:
    made = ExportMaker()
    made.user("U1", "ann")
    made.channel("C1", "general", "U1")
    for at in (0, 10, 1000):
        made.say("general", "U1", "x", at)
    slept: list[float] = []
    with Archive(made.write(tmp_path / "export.zip")) as archive:
        replay = Replay(
            Recorder(),  # type: ignore[arg-type]
            inspect(archive),
            "w",
            {"U1": Speaker("t1", "ann", "m1")},
            speed=20,
            max_gap_s=3,
            limit=10,
            sleep=slept.append,
        )
        assert replay.play(archive).messages == 3
    assert slept == [0.5, 3]


def test_replies_open_the_thread_of_what_was_played_and_the_limit_holds(tmp_path: Path) -> None:
    made = ExportMaker()
    made.user("U1", "ann")
    made.user("U2", "ben")
    made.channel("C1", "general", "U1", "U2")
    root = made.say("general", "U1", "root", 1)
    made.say("general", "U2", "reply", 2, thread_ts=root)
    made.say("general", "U2", "orphan", 3, thread_ts=f"{START_S - 100}.000000")
    made.say("general", "U9", "nobody", 4)
    made.say("general", "U1", "too late", 5)
    client = Recorder()
    with Archive(made.write(tmp_path / "export.zip")) as archive:
        speakers = {"U1": Speaker("t1", "ann", "m1"), "U2": Speaker("t2", "ben", "m2")}
        replay = Replay(client, inspect(archive), "w", speakers, speed=1, max_gap_s=1, limit=4, sleep=lambda s: None)  # type: ignore[arg-type]
        report = replay.play(archive)
    assert (report.messages, report.replies) == (3, 1)
    assert dict(report.skipped) == {"no token for its author": 1, "beyond the limit of 4 messages": 1}
    assert client.calls == [
        ("t1", "POST", "/conversations"),
        ("t1", "POST", "/conversations/id-1/members"),
        ("t1", "POST", "/conversations/id-1/messages"),
        ("t2", "POST", "/conversations/id-1/members"),
        ("t2", "POST", "/messages/id-3/thread"),
        ("t2", "POST", "/conversations/id-5/messages"),
        ("t2", "POST", "/conversations/id-1/messages"),
    ]
