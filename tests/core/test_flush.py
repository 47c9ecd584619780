"""Flushing: only what is dirty, once, in batches, and never at the cost of readers, writers or other workspaces."""

from __future__ import annotations

from .cast import ELSEWHERE, GRACE_S, Play
from .fact_stores import StoreDown
from .facts import WORKSPACE


def failing(play: Play) -> None:
    def fail(point: str) -> None:
        if point == "upsert":
            raise StoreDown(point)

    play.snapshots.between = fail


def test_only_dirty_entries_are_written() -> None:
    play = Play()
    scope, _ = play.warm_channel(), play.warm_channel()
    play.runtime.flush()
    play.snapshots.written.clear()
    play.tell(play.facts.read_all(play.ben, (scope,)), play.facts.post(play.ann, scope))
    report = play.runtime.flush()
    assert {row.scope for row in play.snapshots.written} == {scope}
    assert report.rows == len(play.snapshots.written) == 3
    assert play.runtime.flush().rows == 0


def test_many_changes_of_an_entry_are_one_row() -> None:
    play = Play()
    scope = play.warm_channel(play.ann, play.ben)
    play.runtime.flush()
    for _ in range(5):
        play.tell(play.facts.post(play.ann, scope))
    assert play.runtime.flush().rows == 2


def test_reading_and_connecting_make_nothing_dirty() -> None:
    play = Play()
    play.warm_channel()
    play.runtime.flush()
    play.view(play.ben)
    play.dot(play.ben)
    play.look()
    play.runtime.watch(WORKSPACE, play.ben)
    play.runtime.snapshot(WORKSPACE, play.ben)
    play.runtime.take_delta(WORKSPACE, play.ben)
    play.runtime.unwatch(WORKSPACE, play.ben)
    play.wait(60.0)
    assert play.runtime.flush().rows == 0


def test_rows_are_written_in_batches_outside_the_lock() -> None:
    play = Play(flush_batch=2)
    scope = play.warm_channel()
    points: list[str] = []

    def meanwhile(point: str) -> None:
        points.append(point)
        play.view(play.ben)
        if point == "upsert" and len(points) == 1:
            play.tell(play.facts.post(play.ann, scope))

    play.snapshots.between = meanwhile
    assert play.runtime.flush().batches == 2
    assert points.count("upsert") == 2


def test_an_entry_that_changes_while_its_row_is_written_is_written_again() -> None:
    play = Play()
    scope = play.warm_channel()

    def meanwhile(point: str) -> None:
        if point == "upsert":
            play.snapshots.between = lambda point: None
            play.tell(play.facts.post(play.ann, scope))

    play.snapshots.between = meanwhile
    play.runtime.flush()
    assert play.runtime.stats().dirty_entries == 3
    play.runtime.flush()
    assert play.snapshots.rows[play.ben, scope].message_unread == 1


def test_a_failed_flush_keeps_its_rows_dirty_and_is_retried_with_backoff() -> None:
    play = Play()
    play.warm_channel()
    failing(play)
    before = play.runtime.stats().dirty_entries
    assert play.runtime.flush().failures == 1
    assert play.runtime.stats().dirty_entries == before
    assert play.metrics.counts["flush_failures"] == 1
    play.snapshots.between = lambda point: None
    assert play.runtime.flush_failed().rows == 0
    play.clock.advance(play.budgets.flush_retry_s)
    assert play.runtime.flush_failed().rows == before
    assert play.runtime.stats().dirty_entries == 0


def test_the_backoff_doubles_up_to_its_bound() -> None:
    play = Play(flush_retry_s=1.0, flush_retry_max_s=4.0)
    play.warm_channel()
    failing(play)
    waits = []
    for _ in range(4):
        play.runtime.flush()
        waited = 0.0
        while not play.runtime.flush_failed().failures:
            play.clock.advance(0.5)
            waited += 0.5
        waits.append(waited)
    assert waits == sorted(waits)
    assert waits[-1] == 4.0


def test_a_failing_workspace_delays_no_other() -> None:
    play = Play()
    scope = play.warm_channel()
    play.runtime.own(ELSEWHERE, 1)
    upserted: list[int] = []
    upsert = play.snapshots.upsert

    def fail_for_one(workspace: int, epoch: int, rows: object) -> None:
        upserted.append(workspace)
        if workspace == WORKSPACE:
            raise StoreDown("upsert")
        upsert(workspace, epoch, rows)  # type: ignore[arg-type]

    play.snapshots.upsert = fail_for_one  # type: ignore[method-assign]
    (joined,) = play.facts.create_channel((play.cat,))[1]
    play.tell((type(joined)(**{**_fields(joined), "workspace": ELSEWHERE}),))
    report = play.runtime.flush()
    assert (report.failures, report.rows) == (1, 1)
    assert play.shows(play.ben, scope).state.label == "ready"


def test_a_row_covers_exactly_the_seqs_up_to_its_frontier() -> None:
    play = Play()
    scope = play.warm_channel()
    slow = play.facts.post(play.ann, scope)
    play.tell(play.facts.post(play.ann, scope, (play.ben,)))
    play.runtime.flush()
    row = play.snapshots.rows[play.ben, scope]
    assert (row.message_frontier, row.message_unread, row.mention_unread) == (1, 0, 0)
    assert play.runtime.stats().dirty_entries == 2  # Ben and Cat, who have an early message
    play.tell(slow)
    play.runtime.flush()
    row = play.snapshots.rows[play.ben, scope]
    assert (row.message_frontier, row.message_unread, row.mention_unread) == (3, 2, 1)
    assert play.runtime.stats().dirty_entries == 0


def test_an_entry_with_early_seqs_stays_dirty_until_the_gap_is_given_up() -> None:
    play = Play()
    scope = play.warm_channel()
    play.facts.post(play.ann, scope)  # its hook never runs
    play.tell(play.facts.post(play.ann, scope))
    play.runtime.flush()
    play.grace_ends()
    play.runtime.flush()
    assert play.snapshots.rows[play.ben, scope].message_unread == 1
    assert play.runtime.stats().dirty_entries == 0


def test_hidden_counts_are_written_as_rows_that_readers_suppress() -> None:
    play = Play()
    scope = play.channel()
    play.tell(*(play.facts.post(play.ann, scope) for _ in range(4)))
    play.tell(play.facts.read_all(play.ben, (scope,)))
    play.run()
    play.restart()
    play.tell(play.facts.mark_unread_from(play.ben, scope, 2), play.facts.read_to(play.ben, scope, 3))
    play.look(play.ben)
    play.restart()
    play.look(play.ben)
    shown = play.shows(play.ben, scope)
    assert (shown.state.label, shown.messages, shown.manual) == ("stale", 0, False)


def test_an_entry_found_without_a_row_is_written_once() -> None:
    play = Play()
    scope = play.channel()
    play.tell(play.facts.post(play.ann, scope))
    play.run()
    play.crash()
    play.tell(play.facts.post(play.ann, scope))
    play.run()
    assert play.runtime.flush().rows == 3
    assert play.runtime.flush().rows == 0


def test_row_versions_come_from_one_counter() -> None:
    play = Play()
    first, second = play.warm_channel(), play.warm_channel()
    play.runtime.flush()
    play.tell(play.facts.post(play.ann, first), play.facts.post(play.ann, second))
    play.runtime.flush()
    versions = [row.row_version for row in play.snapshots.written]
    assert versions == sorted(versions)
    assert len(set(versions)) == len(versions)


def test_past_the_backlog_budget_writers_are_pushed_back() -> None:
    play = Play(max_dirty_entries=4)
    scope = play.warm_channel()
    play.runtime.flush()
    assert not play.runtime.overloaded(WORKSPACE)
    failing(play)
    other = play.warm_channel()
    play.tell(play.facts.post(play.ann, scope))
    play.runtime.flush()
    assert play.runtime.overloaded(WORKSPACE)
    assert play.count(play.ben, scope) == ("ready", 1)
    play.snapshots.between = lambda point: None
    play.runtime.flush()
    assert not play.runtime.overloaded(WORKSPACE)
    assert play.snapshots.rows[play.ben, scope].message_unread == 1
    assert play.snapshots.rows[play.ben, other].message_unread == 0


def test_the_age_of_the_backlog_is_told() -> None:
    play = Play()
    play.warm_channel()
    play.runtime.flush()
    assert play.runtime.stats().dirty_age_s == 0.0
    play.tell(play.facts.post(play.ann, play.warm_channel()))
    play.clock.advance(GRACE_S)
    assert play.runtime.stats().dirty_age_s == GRACE_S


def _fields(row: object) -> dict[str, object]:
    return {name: getattr(row, name) for name in type(row).__dataclass_fields__}  # type: ignore[attr-defined]


def test_a_due_flush_rests_after_each_batch_for_as_long_as_it_took_and_the_last_one_of_a_stop_does_not() -> None:
    play = Play(flush_batch=2)
    play.warm_channel()
    play.snapshots.between = lambda point: play.clock.advance(0.25 if point == "upsert" else 0.0)
    rests: list[float] = []
    assert play.runtime.flush_due(rests.append).rows == 3
    assert rests == [0.25, 0.25]
    play.tell(play.facts.post(play.ann, play.warm_channel()))
    assert play.runtime.flush().rows > 2
    assert len(rests) == 2
