"""The threads: named, watched, ended, and doing by themselves what tests do step by step."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator

import pytest

from unread.core.budgets import RuntimeSettings
from unread.core.ports import Clock
from unread.core.runtime import UnreadRuntime

from .cast import Play
from .facts import WORKSPACE

PATIENCE_S = 20.0


class WallClock(Clock):
    def monotonic(self) -> float:
        return time.monotonic()


@pytest.fixture
def play() -> Iterator[Play]:
    play = Play(tick_s=0.01, flush_retry_s=0.01, hydrate_retry_s=0.01)
    play.clock = WallClock()  # type: ignore[assignment]
    play.settings = RuntimeSettings(flush_interval=0.02)
    play.begin()
    play.runtime.start()
    yield play
    play.runtime.stop(4.0)


def eventually(holds: Callable[[], bool]) -> None:
    until = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < until, "it never happened"
        threading.Event().wait(0.002)


def names() -> set[str]:
    return {thread.name for thread in threading.enumerate() if thread.name.startswith("unread-")}


def test_workers_have_names_and_end(play: Play) -> None:
    assert {"unread-flusher", "unread-housekeeping", "unread-jobs-1", "unread-jobs-2"} <= names()
    assert play.runtime.healthy() == []
    play.runtime.stop(4.0)
    assert not names()
    assert play.runtime.healthy() == []


def test_a_runtime_that_is_only_built_has_no_threads() -> None:
    before = names()
    Play()
    assert names() == before


def test_workers_warm_hydrate_and_flush_by_themselves(play: Play) -> None:
    scope = play.channel()
    play.tell(play.facts.post(play.ann, scope))
    play.runtime.request_hydrate(WORKSPACE, play.ben)
    eventually(lambda: play.dot(play.ben))
    eventually(lambda: (play.ben, scope) in play.snapshots.rows)


def test_a_failed_job_and_a_failed_flush_are_tried_again(play: Play) -> None:
    scope = play.channel()
    broken = threading.Event()

    def fail(point: str) -> None:
        if not broken.is_set():
            raise OSError("the database is gone")

    play.rosters.between = play.snapshots.between = fail
    play.tell(play.facts.post(play.ann, scope))
    eventually(lambda: play.metrics.counts["job_failures"] > 0 and play.metrics.counts["flush_failures"] > 0)
    broken.set()
    eventually(lambda: play.count(play.ben, scope) == ("ready", 1))
    eventually(lambda: (play.ben, scope) in play.snapshots.rows and not play.runtime.stats().dirty_entries)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_dead_worker_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def die(runtime: UnreadRuntime, timeout_s: float | None = None) -> bool:
        raise SystemExit

    monkeypatch.setattr(UnreadRuntime, "run_one_job", die)
    play = Play()
    play.runtime.start()
    eventually(lambda: len(play.runtime.healthy()) == 2)
    assert play.runtime.healthy() == ["unread-jobs-1", "unread-jobs-2"]
    play.runtime.stop(4.0)


def test_readers_and_writers_do_not_wait_for_a_flush(play: Play) -> None:
    scope = play.channel()
    play.tell(play.facts.post(play.ann, scope))
    play.runtime.request_hydrate(WORKSPACE, play.ben)
    eventually(lambda: play.dot(play.ben))
    writing, go_on = threading.Event(), threading.Event()

    def hold(point: str) -> None:
        if point == "upsert":
            writing.set()
            go_on.wait(PATIENCE_S)

    play.snapshots.between = hold
    play.tell(play.facts.post(play.ann, scope))
    assert writing.wait(PATIENCE_S)
    play.tell(play.facts.post(play.ann, scope))
    assert play.view(play.ben).counts[scope].messages == 3
    go_on.set()


def test_a_backlog_that_fills_is_flushed_between_two_intervals() -> None:
    play = Play(tick_s=0.01, flush_retry_s=0.01, max_dirty_entries=5)
    play.clock = WallClock()  # type: ignore[assignment]
    play.settings = RuntimeSettings(flush_interval=3600.0)
    play.begin()
    play.runtime.start()
    try:
        scope = play.channel()
        eventually(lambda: (play.ben, scope) in play.snapshots.rows)
    finally:
        play.runtime.stop(4.0)
