"""A task in memory: its members, its outbox as the test writes it, and what a reader of its rows finds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from unread.core.budgets import Budgets
from unread.core.events import (
    Counted,
    Level,
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
from unread.core.testing import CountingMetrics, ManualClock, MemoryStores, RecordingSink

HOME, TASK, ANN, BEN, CAT = 1, 100, 11, 12, 13


class Board:
    """One task with ann, ben and cat in it from the start, and its outbox as the test writes it."""

    def __init__(self, **budgets: Any) -> None:
        self.stores = MemoryStores()
        self.budgets = Budgets(**budgets)
        self.seq = self.activity_seq = self.rewinds = self.roster = 0
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
        self.roster += 1
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
            roster_generation=self.roster,
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
            roster_generation=self.roster,
            rewind_generation=self.rewinds,
            latest_seq=self.seq,
            latest_activity_seq=self.activity_seq,
            task=True,
        )
