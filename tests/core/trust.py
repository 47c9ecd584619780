"""What a test may demand of each entry at a point of a history: readiness, an exact number, a bound, or only honesty.

The runtime's promise depends on what happened: a graceful restart keeps numbers until an operation needs a recount
that the log no longer gives; a crash excuses what changed since the last flush; a lost event excuses its scope. This
module follows commits, deliveries, flushes and ends of life, and grants no excuse beyond those.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from unread.core.events import (
    ActivityReadCursorAdvanced,
    CursorEvent,
    Event,
    ManualUnreadSet,
    MembershipChanged,
    MessagesChanged,
    MessageStored,
    NonMessageActivityStored,
    ReadCursorAdvanced,
    ScopeStateChanged,
)

from .tables import Scope, Tables

Key = tuple[int, int]
"""`(member, scope)`."""

NEVER = -1


@dataclass(slots=True)
class Entry:
    begun: bool = False
    """The events of this life include the beginning of the current membership."""
    changed_at: int = 0
    """Number of the last commit that concerned the entry."""
    messages_bounded_since: int = NEVER
    """Read generation of the newest partial read that may have left the message counts an upper bound."""
    activities_bounded_since: int = NEVER
    loose: bool = False
    """Anything but a wrong `ready` goes, until the runtime calls the entry ready (and is held to it)."""
    activity_cursor: int = 0
    """As the event delivered last had it; tells whether a read moved it."""


@dataclass(slots=True)
class Known:
    """How far each stream of a scope has been revealed by the events delivered in this life."""

    message: int = 0
    activity: int = 0
    message_end: int = 0
    """Ends of the scope as reads have seen them since a warm job knew where it starts."""
    activity_end: int = 0
    roster: int = 0
    required_roster: int = 0
    rewind: int = 0
    frontier: tuple[int, int] | None = None
    """The highest latest seqs that a header read in this life: an upper bound of the starting frontier."""
    late: bool = False
    """The grace ran out while an event of the scope was missing."""


@dataclass(slots=True)
class Trust:
    tables: Tables
    long_log: bool
    tight: bool
    """Some budget is exceeded at any time: a weaker state is always excused."""
    entries: dict[Key, Entry] = field(default_factory=dict)
    known: dict[int, Known] = field(default_factory=dict)
    missing: list[Event] = field(default_factory=list)
    """Events of this life whose hook never ran, so far."""

    def entry(self, member: int, scope: int) -> Entry:
        return self.entries.setdefault((member, scope), Entry())

    def scope(self, scope: int) -> Known:
        return self.known.setdefault(scope, Known())

    # What happens

    def committed(self, events: tuple[Event, ...], number: int) -> None:
        for event in events:
            for member in self._members(event):
                entry = self.entry(member, event.scope)
                entry.changed_at = number
                if isinstance(event, MembershipChanged) and event.begins:
                    entry.begun = False

    def delivered(self, event: Event, first: bool) -> None:
        """Called just before the runtime applies the event; `first` in this life, or again."""
        self._reveal(event)
        if not first:
            return
        scope = self.tables.scopes[event.scope]
        if isinstance(event, MembershipChanged) and event.begins:
            self._begin(event, scope)
        elif isinstance(event, CursorEvent):
            self._move(event, scope)
        elif isinstance(event, ManualUnreadSet) and event.unread_from is not None:
            entry = self.entry(event.member, event.scope)
            here = (event.unread_from.latest_seq, event.unread_from.rewind_generation)
            if not self.long_log and here != (scope.latest_seq, scope.rewind_generation):
                entry.messages_bounded_since = max(entry.messages_bounded_since, event.unread_from.read_generation)

    def header_read(self, scope: int, latest_seq: int, latest_activity_seq: int) -> None:
        known = self.scope(scope)
        seqs = known.frontier or (0, 0)
        known.frontier = (max(seqs[0], latest_seq), max(seqs[1], latest_activity_seq))

    def ready_and_right(self, member: int, scope: int) -> None:
        """The runtime called the entry ready and it equals the oracle: from here it has to stay exact."""
        entry = self.entry(member, scope)
        entry.loose = False
        entry.messages_bounded_since = entry.activities_bounded_since = NEVER

    def forgotten(self, scope: int, *, in_flight: bool) -> None:
        """The scope was evicted: its log is gone, its rows remain; what was in flight may have no effect any more."""
        self.known.pop(scope, None)
        self.scope(scope).late = in_flight
        for (_, each), entry in self.entries.items():
            if each == scope:
                entry.begun = False
                entry.loose = entry.loose or in_flight

    def haunted(self) -> None:
        """Rows of an earlier life were written late, newer than what this life may have loaded."""
        for entry in self.entries.values():
            entry.loose = True

    def life_ended(self, flushed_at: int | None) -> None:
        """`flushed_at` is the last commit covered by a flush, None after a graceful stop."""
        for (member, scope), entry in self.entries.items():
            entry.begun = False
            entry.loose = self.loose(member, scope) or (flushed_at is not None and entry.changed_at > flushed_at)
            entry.activity_cursor = self.tables.scopes[scope].membership(member).last_activity_read_seq
        self.known.clear()
        self.missing.clear()

    # What may be demanded at rest

    def must_be_ready(self, member: int, scope_id: int) -> bool:
        """The log reaches back to the entry's beginning, or to where both its cursors stand."""
        entry, known = self.entry(member, scope_id), self.scope(scope_id)
        row = self.tables.scopes[scope_id].membership(member)
        if not self.long_log or known.late or self.loose(member, scope_id) or not row.active:
            return False
        if entry.begun:
            return True
        if known.frontier is None:
            return False
        return row.last_read_seq >= known.frontier[0] and row.last_activity_read_seq >= known.frontier[1]

    def loose(self, member: int, scope: int) -> bool:
        return (
            self.tight
            or self.entry(member, scope).loose
            or any(e.scope == scope and self._concerns(e, member) for e in self.missing)
        )

    def may_err_ready(self, member: int, scope: int) -> bool:
        """A loss that no event has revealed: nobody can know."""
        places = (scope, self.tables.scopes[scope].parent)
        return any(e.scope in places and self._concerns(e, member) and not self._revealed(e) for e in self.missing)

    def noticeable(self, events: tuple[Event, ...]) -> bool:
        return any(isinstance(event, _SEQUENCED) for event in events)

    def bounded(self, member: int, scope: int) -> tuple[bool, bool]:
        """Whether a partial read, which a scope at work need not have recounted yet, left the messages and the
        activities as upper bounds."""
        entry = self.entry(member, scope)
        return entry.messages_bounded_since != NEVER, entry.activities_bounded_since != NEVER

    def messages_exact(self, member: int, scope: int) -> bool:
        return self.entry(member, scope).messages_bounded_since == NEVER or self.must_be_ready(member, scope)

    def activities_exact(self, member: int, scope: int) -> bool:
        return self.entry(member, scope).activities_bounded_since == NEVER or self.must_be_ready(member, scope)

    def _revealed(self, event: Event) -> bool:
        """Whether what was delivered shows that this lost event exists."""
        known = self.scope(event.scope)
        if isinstance(event, MessageStored):
            return known.message > event.seq or known.message_end >= event.seq
        if isinstance(event, NonMessageActivityStored):
            return known.activity > event.seq or known.activity_end >= event.seq
        if isinstance(event, MessagesChanged):
            return known.rewind > event.rewind_generation
        if isinstance(event, (MembershipChanged, ScopeStateChanged)):
            seen = known.roster - 1 if known.frontier is not None else 0  # a cold scope knows of no gap in its roster
            return max(seen, known.required_roster) >= event.roster_generation
        return False

    # Details

    def _concerns(self, event: Event, member: int) -> bool:
        return isinstance(event, _SEQUENCED) or getattr(event, "member", member) == member

    def _members(self, event: Event) -> list[int]:
        member = getattr(event, "member", 0)
        return [member] if member else list(self.tables.scopes[event.scope].memberships)

    def _begin(self, event: MembershipChanged, scope: Scope) -> None:
        if event.membership_generation != scope.membership(event.member).begun_generation:
            return
        entry = self.entry(event.member, event.scope)
        entry.begun, entry.loose = True, False
        if entry.messages_bounded_since <= event.read_generation:
            entry.messages_bounded_since = NEVER
        if entry.activities_bounded_since <= event.read_generation:
            entry.activities_bounded_since = NEVER
        if entry.activity_cursor < event.last_activity_read_seq:
            entry.activity_cursor = event.last_activity_read_seq

    def _move(self, event: CursorEvent, scope: Scope) -> None:
        entry = self.entry(event.member, event.scope)
        if isinstance(event, ReadCursorAdvanced) and event.last_read_seq < scope.latest_seq:
            entry.messages_bounded_since = max(entry.messages_bounded_since, event.read_generation)
        moved = event.last_activity_read_seq != entry.activity_cursor or isinstance(event, ActivityReadCursorAdvanced)
        if moved and event.last_activity_read_seq < scope.latest_activity_seq:
            entry.activities_bounded_since = max(entry.activities_bounded_since, event.read_generation)
        entry.activity_cursor = event.last_activity_read_seq

    def _reveal(self, event: Event) -> None:
        known = self.scope(event.scope)
        if isinstance(event, MessageStored):
            known.message = max(known.message, event.seq)
            known.required_roster = max(known.required_roster, event.roster_generation)
        elif isinstance(event, NonMessageActivityStored):
            known.activity = max(known.activity, event.seq)
            known.required_roster = max(known.required_roster, event.roster_generation)
        elif isinstance(event, MessagesChanged):
            known.rewind = max(known.rewind, event.rewind_generation)
        elif isinstance(event, (MembershipChanged, ScopeStateChanged)):
            known.roster = max(known.roster, event.roster_generation)
        elif isinstance(event, CursorEvent) and known.frontier is not None:
            known.message_end = max(known.message_end, event.latest_seq)
            known.activity_end = max(known.activity_end, event.latest_activity_seq)


_SEQUENCED = (MessageStored, NonMessageActivityStored, MessagesChanged, MembershipChanged, ScopeStateChanged)
