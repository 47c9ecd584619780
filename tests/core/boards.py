"""The runtime, and the baseline of the benchmarks, behind one face: facts go in, what a member is shown comes out."""

from __future__ import annotations

from typing import Protocol

from bench.reference import ReferenceRuntime
from unread.core.states import Shown

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

    def has_unread(self, member: int) -> bool: ...


class RuntimeBoard:
    def __init__(self, config: Config) -> None:
        self.stage = Stage(config)
        self.facts = self.stage.facts

    def tell(self, events: Batch) -> None:
        self.stage.runtime.apply(events)

    def shows(self, member: int, scope: int) -> Truth:
        self.stage.settle()
        return _truth(self.stage.runtime.member_unread(WORKSPACE, member).counts.get(scope))

    def has_unread(self, member: int) -> bool:
        self.stage.settle()
        return self.stage.runtime.has_unread(WORKSPACE, member)


class BaselineBoard:
    def __init__(self, config: Config) -> None:
        self.facts = Facts(config.members, join_moves_cursor=config.join_moves_cursor)
        self.baseline = ReferenceRuntime()

    def tell(self, events: Batch) -> None:
        self.baseline.apply(events)

    def shows(self, member: int, scope: int) -> Truth:
        return _truth(self.baseline.member_unread(member).get(scope))

    def has_unread(self, member: int) -> bool:
        return self.baseline.has_unread(member)


BOARDS = {"runtime": RuntimeBoard, "baseline": BaselineBoard}


def _truth(shown: Shown | None) -> Truth:
    return NOTHING if shown is None else Truth(shown.messages, shown.mentions, shown.activities, shown.manual)
