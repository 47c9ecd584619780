"""Task events in memory: for the frozen recipients alone, in order, once, and exact wherever they can be."""

from __future__ import annotations

from dataclasses import replace

import pytest

from unread.core.events import (
    Counted,
    ManualUnreadSet,
    MessageStored,
)
from unread.core.shadow import ShadowRefused

from .task_board import ANN, BEN, CAT, HOME, TASK, Board


def warm() -> Board:
    board = Board()
    board.joins()
    board.look()
    return board


def test_only_the_frozen_recipients_count() -> None:
    board = warm()
    board.attend(board.message(BEN, mentions=(BEN,)), board.activity(BEN, CAT))
    assert board.badge(BEN) == ("ready", 1, 1, 1)
    assert board.badge(CAT) == ("ready", 0, 0, 1)
    assert board.badge(ANN) == ("ready", 0, 0, 0)


def test_the_actor_and_the_principal_never_count() -> None:
    board = warm()
    said = board.message(ANN, BEN, CAT)
    assert said.facts is not None
    board.attend(replace(said, facts=replace(said.facts, principal=BEN)), board.activity(ANN, BEN))
    assert board.badge(ANN) == ("ready", 0, 0, 0)
    assert board.badge(BEN) == ("ready", 0, 0, 1)
    assert board.badge(CAT) == ("ready", 1, 0, 0)


def test_the_activity_that_goes_with_a_message_does_not_count_again() -> None:
    board = warm()
    board.activity_seq += 1
    board.attend(replace(board.message(BEN), activity_seq=1, actor=ANN))
    assert board.badge(BEN) == ("ready", 1, 0, 0)


def test_twice_is_once() -> None:
    board = warm()
    events = [board.message(BEN, mentions=(BEN,)), board.activity(BEN), board.message(BEN)]
    events.append(board.removal(events[0]))
    board.attend(*events, *events, *reversed(events))
    assert board.badge(BEN) == ("ready", 1, 0, 1)


def test_a_hook_alone_accounts_nothing_and_takes_ready_away_until_the_worker_did() -> None:
    board = warm()
    event = board.message(BEN)
    board.hook(event)
    assert board.badge(BEN) == ("snapshot_serving", 0, 0, 0)
    board.attend(event)
    assert board.badge(BEN) == ("ready", 1, 0, 0)
    board.hook(event)  # late, or told again
    assert board.badge(BEN) == ("ready", 1, 0, 0)


def test_a_hook_for_nobody_waits_for_nothing() -> None:
    board = warm()
    board.hook(board.message())
    assert board.badge(BEN) == ("ready", 0, 0, 0)


def test_a_message_told_again_after_a_restart_waits_for_nothing() -> None:
    board = warm()
    event = board.message(BEN)
    board.attend(event)
    board.restart()
    board.reads(BEN)
    board.hook(event)
    assert board.badge(BEN) == ("ready", 0, 0, 0)


def test_an_event_for_others_leaves_ready_what_it_does_not_concern() -> None:
    board = Board()
    board.runtime.apply([board.joined(BEN)])
    board.runtime.hydrate_member(HOME, BEN)
    board.hook(board.message(CAT))
    assert board.badge(BEN) == ("ready", 0, 0, 0)


def test_a_whole_read_makes_it_ready_and_later_events_count() -> None:
    board = Board()
    board.look()
    board.attend(board.message(BEN), board.activity(BEN))
    assert board.badge(BEN) == ("snapshot_serving", 1, 0, 1)
    board.reads(BEN)
    assert board.badge(BEN) == ("ready", 0, 0, 0)
    board.attend(board.message(BEN))
    assert board.badge(BEN) == ("ready", 1, 0, 0)


def test_a_read_that_is_told_after_the_next_event_is_recounted() -> None:
    board = warm()
    board.attend(board.message(BEN), board.message(BEN), board.activity(BEN))
    read = board.read(BEN)
    board.attend(board.message(BEN, mentions=(BEN,)), board.activity(BEN))
    board.runtime.apply([read])
    assert board.badge(BEN) == ("ready", 1, 1, 1)


def test_what_was_read_before_it_is_accounted_does_not_count() -> None:
    board = warm()
    event = board.message(BEN)
    board.reads(BEN)
    board.attend(event)
    assert board.badge(BEN) == ("ready", 0, 0, 0)


def test_a_log_that_does_not_reach_back_leaves_a_hint() -> None:
    board = Board(scope_log_size=2)
    board.joins()
    board.look()
    board.attend(*[board.message(BEN) for _ in range(3)])
    read = board.read(BEN, seq=0, activity_seq=0)
    board.attend(board.message(BEN))
    board.runtime.apply([replace(read, last_read_seq=1, latest_seq=1)])
    assert board.badge(BEN) == ("snapshot_serving", 3, 0, 0)


def test_a_removal_takes_out_what_was_counted_and_nothing_else() -> None:
    board = warm()
    first, second = board.message(BEN, CAT, mentions=(BEN,)), board.message(BEN)
    board.attend(first, second)
    board.reads(CAT)
    board.attend(board.removal(first))
    assert board.badge(BEN) == ("ready", 1, 0, 0)
    assert board.badge(CAT) == ("ready", 0, 0, 0)


def test_several_removals_at_once_concern_each_whom_they_were_frozen_for() -> None:
    board = warm()
    first, second = board.message(BEN), board.message(CAT, mentions=(CAT,))
    kept = board.message(BEN, CAT)
    board.attend(first, second, kept)
    removals = [board.removal(each) for each in (first, second)]
    both = replace(
        removals[1],
        recipients=(BEN, CAT),
        changes=removals[0].changes + removals[1].changes,
        changed_for=(frozenset((BEN,)), frozenset((CAT,))),
    )
    board.attend(both)
    assert board.badge(BEN) == ("ready", 1, 0, 0)
    assert board.badge(CAT) == ("ready", 1, 0, 0)


def test_an_edit_changes_the_mentions_of_those_who_were_frozen() -> None:
    board = warm()
    said = board.message(BEN, CAT)
    board.attend(said)
    board.attend(board.removal(said, after=Counted(ANN, ANN, True, (CAT, ANN))))
    assert board.badge(CAT) == ("ready", 1, 1, 0)
    assert board.badge(BEN) == ("ready", 1, 0, 0)
    assert board.badge(ANN) == ("ready", 0, 0, 0)


def test_a_change_told_by_its_hook_alone_changes_nothing_yet() -> None:
    board = warm()
    said = board.message(BEN)
    board.attend(said)
    removal = board.removal(said)
    board.hook(removal)
    assert board.badge(BEN) == ("snapshot_serving", 1, 0, 0)
    board.attend(removal)
    assert board.badge(BEN) == ("ready", 0, 0, 0)


def test_who_may_no_longer_read_is_skipped_and_not_waited_for() -> None:
    board = warm()
    board.enrol(BEN, active=False, membership_generation=2)
    board.runtime.apply([board.joined(BEN)])
    board.attend(board.message(BEN, CAT))
    assert board.badge(BEN)[1] == 0
    assert board.badge(CAT) == ("ready", 1, 0, 0)
    assert {member for _, member, _ in board.stores.shadows} == {CAT}


def test_a_stranger_among_the_recipients_is_skipped() -> None:
    board = warm()
    board.attend(board.message(99, BEN))
    assert {member for _, member, _ in board.stores.shadows} == {BEN}


def test_a_membership_made_for_the_event_counts_from_it_on_whichever_is_told_first() -> None:
    for worker_first in (False, True):
        board = warm()
        board.attend(board.message(CAT), board.message(CAT), board.activity(CAT))
        board.enrol(BEN, active=False, membership_generation=2)
        board.runtime.apply([board.joined(BEN)])
        board.attend(board.message(BEN))
        event = board.message(BEN, mentions=(BEN,))
        board.enrol(BEN, membership_generation=3, effective_from_seq=board.seq, last_activity_read_seq=1)
        told = board.joined(BEN)
        if worker_first:
            board.attend(event)
            board.runtime.apply([told])
        else:
            board.runtime.apply([told])
            board.attend(event)
        assert board.badge(BEN) == ("ready", 1, 1, 0), worker_first


def test_a_leave_and_a_rejoin_that_are_told_late_leave_what_counts() -> None:
    board = warm()
    board.attend(board.message(BEN))
    left = replace(board.joined(BEN), active=False, begins=False, membership_generation=2)
    event = board.message(BEN)
    board.enrol(BEN, membership_generation=3, effective_from_seq=board.seq)
    board.attend(event)
    board.runtime.apply([left, board.joined(BEN)])
    assert board.badge(BEN) == ("ready", 1, 0, 0)


# Barrier and restarts


def test_the_barrier_writes_exactly_the_recipients_whole_rows() -> None:
    board = warm()
    board.runtime.apply([ManualUnreadSet(HOME, TASK, 0, BEN, 1, 1)])
    board.attend(board.message(BEN), board.message(BEN, CAT))
    shadows = {member: row for (_, member, _), (_, row) in board.stores.shadows.items()}
    assert shadows.keys() == {BEN, CAT}
    assert (shadows[BEN].message_unread, shadows[BEN].message_frontier, shadows[BEN].marker_seq) == (2, 2, 1)
    assert (shadows[CAT].message_unread, shadows[CAT].message_frontier) == (1, 2)


def test_the_barrier_covers_exactly_the_events_up_to_its_own() -> None:
    board = warm()
    first, second = board.message(BEN), board.message(BEN)
    board.hook(second)
    board.hook(first)
    board.attend(first)
    assert board.stores.shadows[HOME, BEN, TASK][1].message_frontier == 1


def test_what_was_delivered_is_there_after_a_crash_and_never_called_ready() -> None:
    board = warm()
    board.attend(board.message(BEN, mentions=(BEN,)), board.activity(BEN))
    board.crash()
    assert board.badge(BEN) == ("snapshot_serving", 1, 1, 1)


@pytest.mark.parametrize("flushed", [False, True], ids=["not flushed", "flushed"])
def test_an_event_accounted_and_not_protected_counts_once_after_a_crash(flushed: bool) -> None:
    board = warm()
    board.attend(board.message(BEN))
    event = board.message(BEN)
    board.stores.before = lambda call: (_ for _ in ()).throw(OSError(call)) if call == "protect" else None
    with pytest.raises(OSError, match="protect"):
        board.runtime.attend(event)
    board.stores.before = lambda call: None
    assert board.badge(BEN) == ("ready", 2, 0, 0)
    if flushed:
        board.runtime.flush()
    board.crash()
    assert board.badge(BEN) == ("snapshot_serving", 1, 0, 0)
    board.attend(event, event)
    assert board.badge(BEN) == ("snapshot_serving", 2, 0, 0)


def test_an_event_protected_and_not_marked_delivered_counts_once_after_a_crash() -> None:
    board = warm()
    event = board.message(BEN)
    board.attend(event)
    board.crash()
    board.attend(event)
    assert board.badge(BEN) == ("snapshot_serving", 1, 0, 0)


def test_rows_of_recipients_are_loaded_where_nobody_looked() -> None:
    board = Board()
    board.attend(board.message(BEN), board.message(CAT, BEN))
    assert board.stores.shadows[HOME, BEN, TASK][1].message_unread == 2
    board.look()
    assert board.badge(BEN) == ("snapshot_serving", 2, 0, 0)


def test_rows_that_cannot_be_loaded_leave_the_event_unaccounted() -> None:
    board = Board()
    event = board.message(BEN)
    board.stores.before = lambda call: (_ for _ in ()).throw(OSError(call)) if call == "load_members" else None
    with pytest.raises(OSError, match="load_members"):
        board.runtime.attend(event)
    board.stores.before = lambda call: None
    assert not board.stores.shadows
    board.attend(event)
    board.look()
    assert board.badge(BEN) == ("snapshot_serving", 1, 0, 0)


def test_a_workspace_that_is_not_owned_is_not_attended() -> None:
    board = warm()
    event = board.message(BEN)
    board.runtime.disown(HOME)
    assert board.runtime.attend(event) is False
    assert not board.stores.shadows


def test_a_restart_after_a_read_shows_nothing() -> None:
    board = warm()
    board.attend(board.message(BEN), board.activity(BEN))
    board.reads(BEN)
    board.restart()
    assert board.badge(BEN) == ("snapshot_serving", 0, 0, 0)
    board.attend(board.message(BEN))
    assert board.badge(BEN) == ("snapshot_serving", 1, 0, 0)
    board.reads(BEN)
    assert board.badge(BEN) == ("ready", 0, 0, 0)


def test_a_flush_of_a_task_entry_leaves_its_shadow_alone() -> None:
    board = warm()
    board.attend(board.message(BEN))
    before = board.stores.shadows[HOME, BEN, TASK]
    board.reads(BEN)
    board.runtime.flush()
    assert board.stores.shadows[HOME, BEN, TASK] == before
    assert board.stores.rows[HOME, BEN, TASK][1].message_unread == 0


def test_a_shadow_that_stands_against_it_is_refused() -> None:
    board = warm()
    board.attend(board.message(BEN))
    epoch, shadow = board.stores.shadows[HOME, BEN, TASK]
    board.stores.shadows[HOME, BEN, TASK] = (epoch, replace(shadow, message_frontier=50))
    with pytest.raises(ShadowRefused):
        board.runtime.attend(board.message(BEN))


def test_a_partial_read_does_not_hold_up_what_comes_after_it() -> None:
    board = warm()
    board.attend(board.message(BEN), board.message(BEN))
    read = board.read(BEN)
    board.attend(board.message(BEN))
    board.runtime.apply([read])
    assert board.badge(BEN) == ("ready", 1, 0, 0)
    board.attend(board.message(BEN))
    assert board.badge(BEN) == ("ready", 2, 0, 0)
    board.restart()
    assert board.badge(BEN) == ("snapshot_serving", 2, 0, 0)


def test_after_a_rejoin_in_a_cold_process_the_barrier_goes_on() -> None:
    board = warm()
    board.attend(board.message(BEN), board.activity(BEN))
    board.begin()
    event = board.message(BEN)
    board.enrol(BEN, membership_generation=3, effective_from_seq=board.seq, last_activity_read_seq=1)
    board.runtime.apply([board.joined(BEN)])
    board.attend(event)
    shadow = board.stores.shadows[HOME, BEN, TASK][1]
    assert (shadow.message_unread, shadow.activity_unread, shadow.activity_frontier) == (1, 0, 1)
    board.look()
    assert board.badge(BEN) == ("ready", 1, 0, 0)


def test_an_event_that_is_given_up_leaves_hints() -> None:
    board = warm()
    lost = board.message(BEN)
    board.hook(lost)
    board.runtime.give_up(HOME, TASK)
    assert board.badge(BEN) == ("snapshot_serving", 0, 0, 0)
    board.attend(board.message(BEN))
    assert board.badge(BEN) == ("snapshot_serving", 1, 0, 0)
    board.reads(BEN)
    assert board.badge(BEN) == ("ready", 0, 0, 0)
    assert board.metrics.counts["lost_events"] == 1


def test_eviction_waits_for_what_was_announced_and_loses_nothing() -> None:
    board = warm()
    first, second = board.message(BEN), board.message(BEN)
    board.attend(first)
    board.hook(second)
    board.runtime.flush()
    board.clock.advance(3600)
    assert not board.runtime.evict(HOME, TASK)
    board.attend(second)
    board.runtime.flush()
    board.clock.advance(3600)
    assert board.runtime.evict(HOME, TASK)
    board.attend(first, second, board.message(BEN))
    board.look()
    assert board.badge(BEN) == ("snapshot_serving", 3, 0, 0)


def test_doubts_about_a_task_read_no_roster() -> None:
    board = warm()
    event = board.message(BEN)
    board.hook(event)
    assert event.facts is not None
    board.runtime.doubt([MessageStored(HOME, TASK, 0, 1, event.facts, 1, 0, (BEN,))])
    assert not board.runtime.has_jobs()


def test_watchers_are_told_when_a_task_falls_behind_and_when_it_has_caught_up() -> None:
    board = warm()
    board.attend(board.message(BEN, CAT))
    board.runtime.watch(HOME, CAT)
    board.sink.told.clear()
    event = board.message(BEN)
    board.hook(event)
    board.attend(event)
    assert board.sink.told == [(HOME, (CAT,)), (HOME, (CAT,))]
