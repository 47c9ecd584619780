"""What a scope has while things happen to it: frontiers, logs, queues. Made at its first event, gone when evicted."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

from .events import MessagesChanged, MessageStored, NonMessageActivityStored
from .log import Fact
from .rewinds import Rewinds
from .roster import RosterGeneration
from .stream import Stream

if TYPE_CHECKING:
    from .aspects import Aspect

ScopeEvent = MessageStored | NonMessageActivityStored | MessagesChanged
"""Events that concern every member of the scope and wait for its roster."""


class Warming(IntEnum):
    IDLE = 0
    WANTED = 1
    """To be queued as soon as the queue has room."""
    QUEUED = 2
    RUNNING = 3


@dataclass(slots=True)
class Progress:
    """An event that is being accounted in batches: rows before `position` have it, later ones do not yet."""

    aspect: Aspect
    seq: int
    old: Fact
    new: Fact
    position: int = 0


class LiveScope:
    __slots__ = (
        "activities",
        "behind",
        "busy",
        "complete",
        "dropped_activity",
        "dropped_change",
        "dropped_message",
        "messages",
        "number",
        "pending",
        "progress",
        "rewinds",
        "roster",
        "warm_since",
        "warming",
    )

    def __init__(self, number: int, log_size: int) -> None:
        self.number = number
        self.messages = Stream(log_size)
        self.activities = Stream(log_size)
        self.roster = RosterGeneration()
        self.rewinds = Rewinds()
        self.complete = False
        """A warm job has read the roster: the starting frontiers are known."""
        self.warming = Warming.IDLE
        self.warm_since = 0.0
        self.pending: deque[ScopeEvent] | None = None
        """Events that wait for the roster."""
        self.behind = False
        """Events wait: whatever is counted is not all there is."""
        self.busy = False
        """A thread is in the middle of a scope event and may let the lock go between two batches."""
        self.progress: Progress | None = None
        self.dropped_message = 0
        """Highest seq dropped for want of room before the starting frontier was known."""
        self.dropped_activity = 0
        self.dropped_change = 0

    @property
    def held(self) -> int:
        return len(self.rewinds.held or ())

    @property
    def waiting(self) -> int:
        """Events that have been taken but not applied."""
        return len(self.pending or ()) + self.held

    def pending_top(self, kind: type[MessageStored] | type[NonMessageActivityStored]) -> int:
        return max((event.seq for event in self.pending or () if isinstance(event, kind)), default=0)

    def pending_seqs(self, kind: type[MessageStored] | type[NonMessageActivityStored]) -> set[int]:
        return {event.seq for event in self.pending or () if isinstance(event, kind)}

    @property
    def nbytes(self) -> int:
        return 700 + self.messages.nbytes + self.activities.nbytes + 300 * self.waiting
