"""The objects of the baseline: members, scopes, and an entry for each member of each scope."""

from __future__ import annotations

from unread.core.events import Counted, Level
from unread.core.states import CountState, Shown

UNKNOWN = -1


class Entry:
    """One member in one scope."""

    __slots__ = (
        "active",
        "activities",
        "activity_frontier",
        "dirty",
        "effective_from",
        "frontier",
        "last_activity_read",
        "last_read",
        "level",
        "lit",
        "marker",
        "marker_generation",
        "member",
        "membership_generation",
        "mentions",
        "messages",
        "policy_generation",
        "read_generation",
        "rewind",
        "scope",
        "state",
        "version",
        "visible",
    )

    def __init__(self, member: Member, scope: Scope) -> None:
        self.member, self.scope = member, scope
        self.active = self.visible = self.dirty = self.lit = False
        self.level: int = Level.ALL
        self.state = CountState.READY
        self.effective_from = 1
        self.last_read = self.last_activity_read = 0
        self.messages = self.mentions = self.activities = self.marker = self.version = 0
        self.frontier = self.activity_frontier = self.rewind = 0
        self.membership_generation = self.read_generation = UNKNOWN
        self.policy_generation = self.marker_generation = UNKNOWN

    def shown(self) -> Shown:
        if not (self.active and self.visible and self.scope.is_open()):
            return Shown(CountState.UNAVAILABLE, 0, 0, False, 0)
        if self.level == Level.ALL:
            return Shown(self.state, self.messages, self.activities, self.marker > 0, self.mentions)
        mentions = self.mentions if self.level == Level.MENTIONS else 0
        return Shown(self.state, mentions, 0, self.marker > 0, mentions)

    def lights(self) -> bool:
        """Whether it shows anything."""
        if not (self.active and self.visible and self.scope.is_open()):
            return False
        if self.marker or (self.level == Level.ALL and (self.messages or self.activities)):
            return True
        return self.level == Level.MENTIONS and self.mentions > 0


class Member:
    __slots__ = ("entries", "id", "lit")

    def __init__(self, member: int) -> None:
        self.id = member
        self.lit = 0
        """Scopes that show something."""
        self.entries: dict[int, Entry] = {}


class Scope:
    """`facts` and `activities` hold what was told of each seq for ever, facts with their generation.

    Seqs up to `start` and `activity_start` were there when the scope was loaded; nothing need have been told of them.
    """

    __slots__ = (
        "active",
        "activities",
        "activity_start",
        "activity_top",
        "changes",
        "children",
        "entries",
        "facts",
        "generation",
        "id",
        "parent",
        "start",
        "top",
    )

    def __init__(self, scope: int, parent: Scope | None) -> None:
        self.id, self.parent = scope, parent
        self.children: list[Scope] = []
        if parent is not None:
            parent.children.append(self)
        self.active = True
        self.generation = UNKNOWN
        self.entries: dict[int, Entry] = {}
        self.facts: dict[int, tuple[int, Counted]] = {}
        self.activities: dict[int, tuple[int, bool]] = {}
        self.changes: set[int] = set()
        """Rewind generations told of."""
        self.start = self.activity_start = 0
        self.top = self.activity_top = 0
        """Highest seqs known."""

    def is_open(self) -> bool:
        return self.active and (self.parent is None or self.parent.active)
