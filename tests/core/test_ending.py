"""A graceful stop loses nothing; what it cannot manage within its deadline stays honest."""

from __future__ import annotations

from .cast import Play
from .fact_stores import StoreDown


def test_stopping_writes_everything() -> None:
    play = Play()
    scope = play.warm_channel()
    play.tell(play.facts.post(play.ann, scope))
    play.runtime.stop(10.0)
    assert play.snapshots.rows[play.ben, scope].message_unread == 1
    assert play.runtime.stats().dirty_entries == 0


def test_stopping_works_without_ever_having_started() -> None:
    assert Play().runtime.stop(1.0).failures == 0


def test_rosters_that_events_wait_for_are_read_first() -> None:
    play = Play()
    scope = play.channel()
    play.tell(*(play.facts.post(play.ann, scope) for _ in range(2)))
    play.restart()
    play.look(play.ben)
    assert play.count(play.ben, scope) == ("snapshot_serving", 2)


def test_entries_that_keep_events_get_their_rows_before_the_last_flush() -> None:
    play = Play()
    scope = play.channel()
    play.tell(*(play.facts.post(play.ann, scope) for _ in range(3)))
    play.run()
    play.restart()
    play.tell(play.facts.set_level(play.ben, scope, "mentions"), play.facts.read_to(play.ben, scope, 2))
    play.restart()
    play.look(play.ben)
    play.tell(play.facts.set_level(play.ben, scope, "all"))
    assert play.count(play.ben, scope) == ("snapshot_serving", 1)


def test_a_marker_on_an_entry_without_a_row_survives() -> None:
    play = Play()
    scope = play.channel()
    play.crash()
    play.look(play.ben)
    play.tell(play.facts.mark_unread(play.ben, scope))
    play.restart()
    play.look(play.ben)
    assert play.dot(play.ben)


def test_gaps_are_given_up_so_that_early_messages_are_written() -> None:
    play = Play()
    scope = play.warm_channel()
    play.facts.post(play.ann, scope)  # its hook never runs
    play.tell(play.facts.post(play.ann, scope))
    play.restart()
    play.look(play.ben)
    assert play.count(play.ben, scope) == ("snapshot_serving", 1)


def test_a_database_that_is_gone_ends_the_stop_at_its_deadline() -> None:
    play = Play(flush_retry_s=0.001)
    scope = play.channel()
    play.tell(play.facts.post(play.ann, scope))

    def fail(point: str) -> None:
        raise StoreDown(point)

    play.rosters.between = play.snapshots.between = fail
    assert play.runtime.stop(0.04).failures == 1
    assert play.runtime.stats().dirty_entries > 0


def test_a_database_that_comes_back_within_the_deadline_loses_nothing() -> None:
    play = Play(flush_retry_s=0.001)
    scope = play.warm_channel()
    play.tell(play.facts.post(play.ann, scope))
    failures = iter([True, True, False])

    def fail(point: str) -> None:
        if point == "upsert" and next(failures, False):
            raise StoreDown(point)

    play.snapshots.between = fail
    assert play.runtime.stop(10.0).failures == 0
    assert play.snapshots.rows[play.ben, scope].message_unread == 1
