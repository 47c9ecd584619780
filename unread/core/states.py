"""The accuracy of a count, and what is shown of an entry."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum


class CountState(IntEnum):
    """How far an entry's counts can be believed. The integer is stored in the snapshot's `count_state`."""

    READY = 0
    SNAPSHOT_SERVING = 1
    HYDRATING = 2
    STALE = 3
    UNAVAILABLE = 4
    """Only ever shown, never stored in a column: access is apart from accuracy."""

    @property
    def label(self) -> str:
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class Shown:
    """What one member sees of one scope; the one result of the one function that computes it."""

    state: CountState
    messages: int
    activities: int
    manual: bool
    mentions: int

    @property
    def lit(self) -> bool:
        return self.manual or self.messages > 0 or self.activities > 0


@dataclass(frozen=True, slots=True)
class MemberUnread:
    """A member's whole unread view at one version. `counts` holds only entries that show something."""

    state: str
    """"hydrating", "snapshot_serving", "ready" or "unavailable"."""
    has_unread: bool
    epoch: int
    version: int
    counts: dict[int, Shown]


@dataclass(frozen=True, slots=True)
class MemberDelta:
    """Changed entries since version `since`, latest state of each, those that fell to zero included."""

    since: int
    unread: MemberUnread
