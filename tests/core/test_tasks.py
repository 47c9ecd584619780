"""Task events in memory: for the frozen recipients alone, in order, once, and exact wherever they can be."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from unread.core.budgets import Budgets
from unread.core.events import (
    Counted,
    Level,
    ManualUnreadSet,
    MembershipChanged,
    MessageChange,
    MessageRewound,
    MessageStored,
    NonMessageActivityStored,
    ReadCursorAdvanced,
    TaskAttention,
)
from unread.core.ports import RosterRow, ScopeHeader
from unread.core.runtime import UnreadRuntime
from unread.core.shadow import ShadowRefused
from unread.core.testing import CountingMetrics, ManualClock, MemoryStores, RecordingSink

HOME, TASK, ANN, BEN, CAT = 1, 100, 11, 12, 13


class Board:
    """One task with ann, ben and cat in it from the start, and its outbox as the test writes it."""

    def __init__(self, **budgets: Any) -> None:
        self.stores = MemoryStores()
        self.budgets = Budgets(**budgets)
        self.seq = self.activity_seq = self.rewinds = 0
        self.generation = dict.fromkeys((ANN, BEN, CAT), 0)
        self.epoch = 0
        self.stores.rosters[HOME, TASK] = {}
        for member in (ANN, BEN, CAT):
            self.enrol(member)
        self.begin()

    def begin(self) -> None:
        self.epoch += 1
        self.metrics, self.clock, self.sink = CountingMetrics(), ManualClock(), RecordingSink()
        self._header()
        self.runtime = UnreadRuntime(
            snapshots=self.stores,
            rosters=self.stores,
            sink=self.sink,
            metrics=self.metrics,
            clock=self.clock,
            budgets=self.budgets,
        )
        self.runtime.own(HOME, self.epoch)

    def restart(self) -> None:
        self.runtime.stop(4.0)
        self.begin()
        self.look()

    def crash(self) -> None:
        self.begin()
        self.look()

    def look(self) -> None:
        for member in (ANN, BEN, CAT):
            self.runtime.request_hydrate(HOME, member)
        while self.runtime.run_one_job():
            pass

    def enrol(self, member: int, **changed: Any) -> RosterRow:
        row = RosterRow(
            member=member,
            active=True,
            visible=True,
            effective_from_seq=1,
            last_read_seq=0,
            last_activity_read_seq=0,
            membership_generation=1,
            read_generation=0,
            level=Level.ALL,
            policy_generation=0,
            marker_seq=0,
            marker_generation=0,
            snapshot=None,
        )
        row = self.stores.rosters[HOME, TASK][member] = replace(row, **changed)
        return row

    def joins(self) -> None:
        for member in (ANN, BEN, CAT):
            self.runtime.apply([self.joined(member)])

    def joined(self, member: int) -> MembershipChanged:
        row = self.stores.rosters[HOME, TASK][member]
        return MembershipChanged(
            workspace=HOME,
            scope=TASK,
            parent=0,
            member=member,
            active=row.active,
            visible=row.visible,
            begins=row.active,
            effective_from_seq=row.effective_from_seq,
            last_read_seq=row.last_read_seq,
            last_activity_read_seq=row.last_activity_read_seq,
            membership_generation=row.membership_generation,
            read_generation=row.read_generation,
            level=row.level,
            policy_generation=row.policy_generation,
            marker_seq=0,
            marker_generation=0,
            roster_generation=1,
        )

    def message(self, *recipients: int, author: int = ANN, mentions: tuple[int, ...] = ()) -> TaskAttention:
        self.seq += 1
        facts = Counted(author, author, True, mentions)
        self._header()
        return TaskAttention(
            HOME, TASK, 0, recipients, message_seq=self.seq, facts=facts, rewind_generation=self.rewinds
        )

    def activity(self, *recipients: int, actor: int = ANN, counts: bool = True) -> TaskAttention:
        self.activity_seq += 1
        self._header()
        return TaskAttention(
            HOME, TASK, 0, recipients, activity_seq=self.activity_seq, actor=actor, activity_counts=counts
        )

    def removal(self, of: TaskAttention, after: Counted | None = None) -> TaskAttention:
        self.rewinds += 1
        self._header()
        change = MessageChange(of.message_seq, of.facts, after)
        return TaskAttention(HOME, TASK, 0, of.recipients, changes=(change,), rewind_generation=self.rewinds)

    def hook(self, event: TaskAttention) -> None:
        """What the commit of an outbox row tells."""
        if event.changes:
            told: Any = MessageRewound(HOME, TASK, 0, event.changes, event.rewind_generation, 1, event.recipients)
        elif event.message_seq:
            assert event.facts is not None
            told = MessageStored(HOME, TASK, 0, event.message_seq, event.facts, 1, 0, event.recipients)
        else:
            told = NonMessageActivityStored(HOME, TASK, 0, event.activity_seq, event.actor, True, 1, event.recipients)
        self.runtime.apply([told])

    def attend(self, *events: TaskAttention) -> None:
        for event in events:
            assert self.runtime.attend(event)

    def read(self, member: int, seq: int | None = None, activity_seq: int | None = None) -> ReadCursorAdvanced:
        """Durable at once; the caller tells the runtime, or does not."""
        self.generation[member] += 1
        ends = (self.seq if seq is None else seq, self.activity_seq if activity_seq is None else activity_seq)
        row = self.stores.rosters[HOME, TASK][member]
        self.stores.rosters[HOME, TASK][member] = replace(
            row,
            last_read_seq=ends[0],
            last_activity_read_seq=ends[1],
            read_generation=self.generation[member],
        )
        return ReadCursorAdvanced(HOME, TASK, 0, member, *ends, self.generation[member], *ends)

    def reads(self, member: int) -> None:
        self.runtime.apply([self.read(member)])

    def badge(self, member: int) -> tuple[str, int, int, int]:
        shown = self.runtime.shown(HOME, member, TASK)
        assert shown is not None
        return shown.state.label, shown.messages, shown.mentions, shown.activities

    def _header(self) -> None:
        self.stores.headers[HOME, TASK] = ScopeHeader(
            scope=TASK,
            parent=0,
            active=True,
            parent_active=True,
            parent_roster_generation=0,
            roster_generation=1,
            rewind_generation=self.rewinds,
            latest_seq=self.seq,
            latest_activity_seq=self.activity_seq,
            task=True,
        )


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
