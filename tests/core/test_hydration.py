"""A member's rows: requested once, read in pages, published when the last is in."""

from __future__ import annotations

import pytest

from .cast import ELSEWHERE, Play
from .fact_stores import StoreDown
from .facts import WORKSPACE


def unread_in(play: Play, channels: int) -> list[int]:
    """So many channels with one unread message for Ben, written to rows; a new life begins."""
    scopes = [play.channel(play.ann, play.ben) for _ in range(channels)]
    for scope in scopes:
        play.tell(play.facts.post(play.ann, scope))
    play.run()
    play.restart()
    return scopes


def test_nothing_is_shown_before_the_last_page_is_in() -> None:
    play = Play(page=2)
    scopes = unread_in(play, 5)
    views: list[tuple[str, bool, int]] = []

    def meanwhile(point: str) -> None:
        view = play.view(play.ben)
        views.append((view.state, play.dot(play.ben), len(view.counts)))

    play.snapshots.between = meanwhile
    play.look(play.ben)
    assert set(views) == {("hydrating", False, 0)}
    view = play.view(play.ben)
    assert (view.state, view.has_unread, sorted(view.counts)) == ("snapshot_serving", True, sorted(scopes))


def test_however_many_ask_the_rows_are_read_once() -> None:
    play = Play()
    unread_in(play, 1)
    points: list[str] = []
    play.snapshots.between = points.append
    for _ in range(5):
        play.runtime.request_hydrate(WORKSPACE, play.ben)
    play.run()
    play.look(play.ben)
    assert points.count("hydrate") == 1


def test_one_hydration_at_a_time_for_each_member() -> None:
    play = Play()
    unread_in(play, 1)
    inner: list[bool] = []

    def meanwhile(point: str) -> None:
        if point == "hydrate":
            inner.append(play.runtime.hydrate_member(WORKSPACE, play.ben))

    play.snapshots.between = meanwhile
    assert play.runtime.hydrate_member(WORKSPACE, play.ben)
    assert inner == [False]


def test_a_failed_load_is_tried_again_and_shows_nothing_meanwhile() -> None:
    play = Play()
    unread_in(play, 1)

    def fail(point: str) -> None:
        raise StoreDown(point)

    play.snapshots.between = fail
    play.look(play.ben)
    assert play.view(play.ben).state == "hydrating"
    play.snapshots.between = lambda point: None
    play.run()
    assert play.view(play.ben).state == "hydrating"
    play.wait(play.budgets.hydrate_retry_s)
    play.run()
    assert play.dot(play.ben)


def test_reading_enqueues_nothing() -> None:
    play = Play()
    unread_in(play, 1)
    assert not play.dot(play.ben)
    assert play.view(play.ben).state == "hydrating"
    assert play.runtime.member_version(WORKSPACE, play.ben) >= 0
    assert not play.runtime.has_jobs()


def test_startup_reads_no_row() -> None:
    play = Play()
    unread_in(play, 3)
    points: list[str] = []
    play.snapshots.between = points.append
    play.begin()
    play.runtime.tick()
    assert points == []


def test_a_page_of_scopes_is_loaded_without_publishing_the_member() -> None:
    play = Play()
    scopes = unread_in(play, 3)
    play.runtime.hydrate_page(WORKSPACE, play.ben, scopes[:1])
    assert play.count(play.ben, scopes[0]) == ("snapshot_serving", 1)
    assert play.runtime.shown(WORKSPACE, play.ben, scopes[1]) is None
    assert play.view(play.ben).state == "hydrating"


def test_scopes_can_be_picked_out_of_a_view() -> None:
    play = Play()
    scopes = unread_in(play, 3)
    play.look(play.ben)
    view = play.runtime.member_unread(WORKSPACE, play.ben, scopes[:1])
    assert list(view.counts) == scopes[:1]
    assert view.has_unread


def test_jobs_that_find_no_room_are_refused_and_counted() -> None:
    play = Play(hydrate_queue_size=1)
    for member in play.facts.members:
        play.runtime.request_hydrate(WORKSPACE, member)
    assert play.metrics.counts["refused_jobs"] == 2
    play.run()
    play.look()
    assert play.runtime.stats().hydrating_entries == 0


def test_a_warm_job_that_found_no_room_is_queued_by_housekeeping() -> None:
    play = Play(hydrate_queue_size=1)
    scope = play.channel()
    play.runtime.request_hydrate(WORKSPACE, play.ben)
    play.tell(play.facts.post(play.ann, scope))
    play.run()
    assert play.count(play.ben, scope) == ("snapshot_serving", 0)
    play.runtime.tick()
    play.run()
    assert play.count(play.ben, scope) == ("ready", 1)


def test_a_row_that_makes_no_sense_is_suppressed() -> None:
    play = Play()
    (scope,) = unread_in(play, 1)
    key = (play.ben, scope)
    row = play.snapshots.rows[key]
    play.snapshots.rows[key] = type(row)(**{**_fields(row), "message_unread": -5})
    play.look(play.ben)
    assert play.count(play.ben, scope) == ("stale", 0)
    assert play.metrics.counts["suppressed_rows"] == 1


@pytest.mark.parametrize("written", ["stale", "hydrating"])
def test_suppressed_rows_come_back_suppressed(written: str) -> None:
    play = Play()
    (scope,) = unread_in(play, 1)
    key = (play.ben, scope)
    row = play.snapshots.rows[key]
    state = {"stale": 3, "hydrating": 2}[written]
    play.snapshots.rows[key] = type(row)(**{**_fields(row), "count_state": type(row.count_state)(state)})
    play.look(play.ben)
    assert play.count(play.ben, scope) == (written, 0)


def test_a_scope_that_was_archived_meanwhile_shows_nothing_when_its_rows_come() -> None:
    play = Play()
    (scope,) = unread_in(play, 1)
    play.facts.archive(scope)
    play.look(play.ben)
    assert play.view(play.ben).counts == {}


def test_a_workspace_of_somebody_else_is_unavailable() -> None:
    play = Play()
    play.runtime.request_hydrate(ELSEWHERE, play.ben)
    assert not play.runtime.has_jobs()
    assert play.runtime.member_unread(ELSEWHERE, play.ben).state == "unavailable"
    assert not play.runtime.hydrate_member(ELSEWHERE, play.ben)


def _fields(row: object) -> dict[str, object]:
    return {name: getattr(row, name) for name in type(row).__dataclass_fields__}  # type: ignore[attr-defined]
