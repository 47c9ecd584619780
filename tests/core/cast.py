"""A named cast on a small stage for tests of single rules: facts are committed by their actions, the test delivers."""

from __future__ import annotations

from typing import Any

from unread.core.budgets import Budgets, RuntimeSettings
from unread.core.events import Event
from unread.core.runtime import UnreadRuntime
from unread.core.states import CountState, MemberUnread, Shown
from unread.core.testing import CountingMetrics, ManualClock, RecordingSink

from .fact_stores import FactRosterStore, FactSnapshotStore
from .facts import WORKSPACE, Batch, Facts

GRACE_S = 5.0
ELSEWHERE = WORKSPACE + 1
"""A workspace that nobody owns here."""


class Play:
    """Ann, Ben and Cat; a runtime without threads; and the database that survives it."""

    def __init__(self, *, flush_batch: int = 1000, page: int = 100, **budgets: Any) -> None:
        self.facts = Facts(3)
        self.ann, self.ben, self.cat = self.facts.members
        self.snapshots = FactSnapshotStore(self.facts)
        self.rosters = FactRosterStore(self.facts, self.snapshots)
        self.clock = ManualClock()
        self.settings = RuntimeSettings(flush_batch_size=flush_batch, hydrate_batch_size=page)
        self.budgets = Budgets(gap_grace_s=GRACE_S, **budgets)
        self.epoch = 0
        self.begin()

    # Lives

    def begin(self) -> None:
        """A new process that owns the workspace and has nothing in memory."""
        self.epoch += 1
        self.sink = RecordingSink()
        self.metrics = CountingMetrics()
        self.runtime = UnreadRuntime(
            snapshots=self.snapshots,
            rosters=self.rosters,
            sink=self.sink,
            metrics=self.metrics,
            clock=self.clock,
            settings=self.settings,
            budgets=self.budgets,
        )
        self.runtime.own(WORKSPACE, self.epoch)

    crash = begin

    def restart(self) -> None:
        self.runtime.stop(10.0)
        self.begin()

    # Scopes

    def channel(self, *members: int) -> int:
        """A channel whose members are known; cold until something happens in it."""
        scope, events = self.facts.create_channel(members or self.facts.members)
        self.tell(events)
        return scope

    def warm_channel(self, *members: int) -> int:
        """A channel with one message, read by everybody, and its roster in memory."""
        scope = self.channel(*members)
        author = (members or self.facts.members)[0]
        self.tell(self.facts.post(author, scope))
        self.run()
        for member in members or self.facts.members:
            self.tell(self.facts.read_all(member, (scope,)))
        self.look()
        return scope

    # What happens to the runtime

    def tell(self, *batches: Batch) -> None:
        for batch in batches:
            self.runtime.apply(batch)

    def run(self) -> None:
        """Run every queued job."""
        for _ in range(200):
            if not self.runtime.run_one_job():
                return
        raise AssertionError("the jobs never end")

    def look(self, *members: int) -> None:
        """Members open a page: their rows are loaded."""
        for member in members or self.facts.members:
            self.runtime.request_hydrate(WORKSPACE, member)
        self.run()

    def wait(self, seconds: float) -> None:
        self.clock.advance(seconds)
        self.runtime.tick()

    def grace_ends(self) -> None:
        """Whatever has been missing until now counts as lost."""
        self.runtime.tick()
        self.wait(GRACE_S)

    # What is shown

    def shows(self, member: int, scope: int) -> Shown:
        shown = self.runtime.shown(WORKSPACE, member, scope)
        assert shown is not None, "there is no such entry"
        return shown

    def count(self, member: int, scope: int) -> tuple[str, int]:
        """The count state and the number of messages of one entry."""
        shown = self.shows(member, scope)
        return shown.state.label, shown.messages

    def state(self, member: int, scope: int) -> CountState:
        return self.shows(member, scope).state

    def view(self, member: int) -> MemberUnread:
        return self.runtime.member_unread(WORKSPACE, member)

    def dot(self, member: int) -> bool:
        return self.runtime.has_unread(WORKSPACE, member)


def of(kind: type[Event], batch: Batch) -> Batch:
    """The events of one kind in a batch."""
    return tuple(event for event in batch if isinstance(event, kind))
