"""Unread as one would first write it: one object for each entry, and a loop over them for each message.

The baseline of the benchmarks. It follows the same rules and gives the same answers as the runtime for a workspace
whose whole life it has seen: it keeps every fact for ever, so anything can be counted again and any order of events
will do. What the runtime has beyond that (snapshots, rosters read later, bounds, locks, sockets) costs nothing here,
which is in the baseline's favour.
"""

from __future__ import annotations

from collections.abc import Sequence

from unread.core.events import (
    Counted,
    CursorEvent,
    Event,
    Level,
    ManualUnreadCleared,
    ManualUnreadSet,
    MembershipChanged,
    MessagesChanged,
    MessageStored,
    NonMessageActivityStored,
    NotificationPolicyChanged,
    ScopeStateChanged,
)
from unread.core.states import CountState, Shown

UNKNOWN = -1
GONE = Counted(author=0, principal=0, counts=False)


class Entry:
    """One member in one scope."""

    __slots__ = (
        "active",
        "activities",
        "dirty",
        "effective_from",
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
        "scope",
        "version",
        "visible",
    )

    def __init__(self, member: Member, scope: Scope) -> None:
        self.member, self.scope = member, scope
        self.active = self.visible = self.dirty = self.lit = False
        self.level: int = Level.ALL
        self.effective_from = 1
        self.last_read = self.last_activity_read = 0
        self.messages = self.mentions = self.activities = self.marker = self.version = 0
        self.membership_generation = self.read_generation = UNKNOWN
        self.policy_generation = self.marker_generation = UNKNOWN

    def shown(self) -> Shown:
        if not (self.active and self.visible and self.scope.is_open()):
            return Shown(CountState.UNAVAILABLE, 0, 0, False, 0)
        if self.level == Level.ALL:
            return Shown(CountState.READY, self.messages, self.activities, self.marker > 0, self.mentions)
        mentions = self.mentions if self.level == Level.MENTIONS else 0
        return Shown(CountState.READY, mentions, 0, self.marker > 0, mentions)


class Member:
    __slots__ = ("entries", "id", "lit")

    def __init__(self, member: int) -> None:
        self.id = member
        self.lit = 0
        """Scopes that show something."""
        self.entries: dict[int, Entry] = {}


class Scope:
    """`facts` and `activities` hold what is known of each seq for ever, with the generation it is known from."""

    __slots__ = ("active", "activities", "children", "entries", "facts", "generation", "parent")

    def __init__(self, parent: Scope | None) -> None:
        self.parent = parent
        self.children: list[Scope] = []
        self.active = True
        self.generation = UNKNOWN
        self.entries: dict[int, Entry] = {}
        self.facts: dict[int, tuple[int, Counted]] = {}
        self.activities: dict[int, tuple[int, bool]] = {}

    def is_open(self) -> bool:
        return self.active and (self.parent is None or self.parent.active)


class ReferenceRuntime:
    """One workspace; not for more than one thread."""

    def __init__(self) -> None:
        self.members: dict[int, Member] = {}
        self.scopes: dict[int, Scope] = {}
        self.dirty: list[Entry] = []
        self.version = 0

    # Answers

    def has_unread(self, member: int) -> bool:
        known = self.members.get(member)
        return known is not None and known.lit > 0

    def shown(self, member: int, scope: int) -> Shown | None:
        known = self.scopes.get(scope)
        entry = None if known is None else known.entries.get(member)
        return None if entry is None else entry.shown()

    def member_unread(self, member: int) -> dict[int, Shown]:
        known = self.members.get(member)
        if known is None:
            return {}
        shown = ((scope, entry.shown()) for scope, entry in known.entries.items() if entry.lit)
        return {scope: each for scope, each in shown if each.lit}

    # Events

    def apply(self, events: Sequence[Event]) -> None:
        """Committed facts, in any order and as often as they come."""
        for event in events:
            match event:
                case MessageStored():
                    self._message(self._scope(event), event.seq, event.facts, event.rewind_generation)
                case NonMessageActivityStored():
                    self._activity(self._scope(event), event)
                case MessagesChanged():
                    for change in event.changes:
                        self._message(self._scope(event), change.seq, change.after or GONE, event.rewind_generation)
                case CursorEvent():
                    cursors = (event.last_read_seq, event.last_activity_read_seq)
                    self._read(self._entry(event, event.member), *cursors, event.read_generation)
                case MembershipChanged():
                    self._membership(event)
                case ScopeStateChanged():
                    self._open_or_close(self._scope(event), event)
                case ManualUnreadSet():
                    self._mark(event)
                case ManualUnreadCleared():
                    self._set_marker(self._entry(event, event.member), 0, event.marker_generation)
                case NotificationPolicyChanged():
                    self._set_level(self._entry(event, event.member), event.level, event.policy_generation)

    def flushed(self) -> None:
        """What is dirty has been written."""
        for entry in self.dirty:
            entry.dirty = False
        self.dirty.clear()

    def _message(self, scope: Scope, seq: int, fact: Counted, generation: int) -> None:
        """A message as of a rewind generation: the newest one known is what counts."""
        known = scope.facts.get(seq)
        if known is not None and known[0] >= generation:
            return
        scope.facts[seq] = (generation, fact)
        if known is None or not known[1].counts:
            if fact.counts:
                self._count_in(scope, seq, fact)
        elif fact != known[1]:
            self._replace(scope, seq, known[1], fact)

    def _count_in(self, scope: Scope, seq: int, fact: Counted) -> None:
        """The loop that everything here is about."""
        speakers, mentions = (fact.author, fact.principal), fact.mentions
        self.version = version = self.version + 1
        dirty = self.dirty
        is_open = scope.is_open()
        for member, entry in scope.entries.items():
            if seq <= entry.last_read or seq < entry.effective_from or member in speakers:
                continue
            entry.messages += 1
            if mentions and member in mentions:
                entry.mentions += 1
            entry.version = version
            if not entry.dirty:
                entry.dirty = True
                dirty.append(entry)
            if not entry.lit and is_open and entry.shown().lit:
                entry.lit = True
                entry.member.lit += 1

    def _replace(self, scope: Scope, seq: int, old: Counted, new: Counted) -> None:
        for member, entry in scope.entries.items():
            if seq <= entry.last_read or seq < entry.effective_from:
                continue
            lost, gained = _counts_for(old, member), _counts_for(new, member)
            messages = gained - lost
            mentions = (gained and member in new.mentions) - (lost and member in old.mentions)
            if messages or mentions:
                entry.messages += messages
                entry.mentions += mentions
                self._changed(entry)

    def _activity(self, scope: Scope, event: NonMessageActivityStored) -> None:
        if event.seq in scope.activities:
            return
        scope.activities[event.seq] = (event.actor, event.counts)
        if not event.counts:
            return
        for member, entry in scope.entries.items():
            if event.seq > entry.last_activity_read and member != event.actor:
                entry.activities += 1
                self._changed(entry)

    def _read(self, entry: Entry, last_read: int, last_activity_read: int, generation: int) -> None:
        if generation > entry.read_generation:
            entry.last_read, entry.last_activity_read = last_read, last_activity_read
            entry.read_generation = generation
            self._recount(entry)

    def _membership(self, event: MembershipChanged) -> None:
        entry = self._entry(event, event.member)
        if event.membership_generation > entry.membership_generation:
            entry.active, entry.visible = event.active, event.visible
            entry.membership_generation = event.membership_generation
            entry.effective_from = event.effective_from_seq
            self._recount(entry)
        self._read(entry, event.last_read_seq, event.last_activity_read_seq, event.read_generation)
        self._set_level(entry, event.level, event.policy_generation)
        self._set_marker(entry, event.marker_seq, event.marker_generation)

    def _open_or_close(self, scope: Scope, event: ScopeStateChanged) -> None:
        if event.roster_generation <= scope.generation:
            return
        scope.generation, scope.active = event.roster_generation, event.active
        for each in (scope, *scope.children):
            for entry in each.entries.values():
                self._changed(entry)

    def _mark(self, event: ManualUnreadSet) -> None:
        entry = self._entry(event, event.member)
        if event.unread_from is not None:
            cursors = (event.unread_from.last_read_seq, event.unread_from.last_activity_read_seq)
            self._read(entry, *cursors, event.unread_from.read_generation)
        self._set_marker(entry, event.marker_seq, event.marker_generation)

    def _set_marker(self, entry: Entry, seq: int, generation: int) -> None:
        if generation > entry.marker_generation:
            entry.marker, entry.marker_generation = seq, generation
            self._changed(entry)

    def _set_level(self, entry: Entry, level: Level, generation: int) -> None:
        if generation > entry.policy_generation:
            entry.level, entry.policy_generation = level, generation
            self._changed(entry)

    # Entries

    def _recount(self, entry: Entry) -> None:
        """From the facts kept: what lies past the cursors and after the membership's beginning."""
        member, scope = entry.member.id, entry.scope
        entry.messages = entry.mentions = 0
        for seq, (_, fact) in scope.facts.items():
            if seq > entry.last_read and seq >= entry.effective_from and _counts_for(fact, member):
                entry.messages += 1
                entry.mentions += member in fact.mentions
        entry.activities = sum(
            counts and actor != member and seq > entry.last_activity_read
            for seq, (actor, counts) in scope.activities.items()
        )
        self._changed(entry)

    def _changed(self, entry: Entry) -> None:
        self.version = entry.version = self.version + 1
        if not entry.dirty:
            entry.dirty = True
            self.dirty.append(entry)
        lit = entry.shown().lit
        if lit != entry.lit:
            entry.lit = lit
            entry.member.lit += 1 if lit else -1

    def _entry(self, event: Event, member: int) -> Entry:
        scope = self._scope(event)
        entry = scope.entries.get(member)
        if entry is None:
            known = self.members.get(member)
            if known is None:
                known = self.members[member] = Member(member)
            entry = scope.entries[member] = known.entries[event.scope] = Entry(known, scope)
        return entry

    def _scope(self, event: Event) -> Scope:
        scope = self.scopes.get(event.scope)
        if scope is None:
            parent = self._parent(event.parent)
            scope = self.scopes[event.scope] = Scope(parent)
            if parent is not None:
                parent.children.append(scope)
        return scope

    def _parent(self, parent: int) -> Scope | None:
        if not parent:
            return None
        known = self.scopes.get(parent)
        if known is None:
            known = self.scopes[parent] = Scope(None)
        return known


def _counts_for(fact: Counted, member: int) -> bool:
    return fact.counts and member != fact.author and member != fact.principal
