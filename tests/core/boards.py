"""The runtime, and the baseline of the benchmarks, behind one face: facts go in, what a member is shown comes out."""

from __future__ import annotations

from typing import Protocol

from bench.reference import ReferenceRuntime
from bench.reference.snapshots import dirty_rows, load
from unread.core.states import CountState, Shown

from .fact_stores import FactRosterStore, FactSnapshotStore
from .facts import WORKSPACE, Batch, Facts
from .oracle import NOTHING, Truth
from .runtimes import Config
from .stage import Stage


class Board(Protocol):
    facts: Facts

    def tell(self, events: Batch) -> None:
        """Deliver the events of one commit, or some of them again."""
        ...

    def shows(self, member: int, scope: int) -> Truth:
        """Once everything that was told has had its effect."""
        ...

    def is_ready(self, member: int, scope: int) -> bool:
        """What is shown is called exact."""
        ...

    def has_unread(self, member: int) -> bool: ...

    def restart(self) -> None:
        """Write everything and begin anew from what was written, after everything that was told has had its effect."""
        ...


class RuntimeBoard:
    def __init__(self, config: Config) -> None:
        self.stage = Stage(config)
        self.facts = self.stage.facts

    def tell(self, events: Batch) -> None:
        self.stage.runtime.apply(events)

    def shows(self, member: int, scope: int) -> Truth:
        self.stage.settle()
        return _truth(self.stage.runtime.member_unread(WORKSPACE, member).counts.get(scope))

    def is_ready(self, member: int, scope: int) -> bool:
        self.stage.settle()
        shown = self.stage.runtime.shown(WORKSPACE, member, scope)
        return shown is not None and shown.state is CountState.READY

    def has_unread(self, member: int) -> bool:
        self.stage.settle()
        return self.stage.runtime.has_unread(WORKSPACE, member)

    def restart(self) -> None:
        self.stage.restart()


class BaselineBoard:
    def __init__(self, config: Config) -> None:
        self.facts = Facts(config.members, join_moves_cursor=config.join_moves_cursor)
        self.snapshots = FactSnapshotStore(self.facts)
        self.rosters = FactRosterStore(self.facts, self.snapshots)
        self.baseline, self.epoch = ReferenceRuntime(), 1

    def tell(self, events: Batch) -> None:
        self.baseline.apply(events)

    def shows(self, member: int, scope: int) -> Truth:
        return _truth(self.baseline.member_unread(member).get(scope))

    def is_ready(self, member: int, scope: int) -> bool:
        known = self.baseline.scopes[scope].entries.get(member)
        return known is not None and known.shown().state is CountState.READY

    def has_unread(self, member: int) -> bool:
        return self.baseline.has_unread(member)

    def restart(self) -> None:
        self.snapshots.upsert(WORKSPACE, self.epoch, dirty_rows(self.baseline))
        self.baseline, self.epoch = ReferenceRuntime(), self.epoch + 1
        for scope in self.facts.tables.scopes:
            header = self.rosters.load_header(WORKSPACE, scope)
            assert header is not None
            load(self.baseline, header, self.rosters.load_page(WORKSPACE, scope, 0, len(self.facts.members)))


BOARDS = {"runtime": RuntimeBoard, "baseline": BaselineBoard}


def _truth(shown: Shown | None) -> Truth:
    return NOTHING if shown is None else Truth(shown.messages, shown.mentions, shown.activities, shown.manual)
