"""The baseline's answers and what events do to its entries."""

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

from .entries import Entry, Member, Scope

GONE = Counted(author=0, principal=0, counts=False)


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

    def member_unread(self, member: int) -> dict[int, Shown]:
        known = self.members.get(member)
        if known is None:
            return {}
        return {scope: entry.shown() for scope, entry in known.entries.items() if entry.lit}

    def flushed(self) -> None:
        """What is dirty has been written."""
        for entry in self.dirty:
            entry.dirty = False
        self.dirty.clear()

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
                    self._messages_changed(self._scope(event), event)
                case CursorEvent():
                    cursors = (event.last_read_seq, event.last_activity_read_seq)
                    self._read(self.entry(event, event.member), *cursors, event.read_generation)
                case MembershipChanged():
                    self._membership(event)
                case ScopeStateChanged():
                    self._open_or_close(self._scope(event), event)
                case ManualUnreadSet():
                    self._mark(event)
                case ManualUnreadCleared():
                    self._set_marker(self.entry(event, event.member), 0, event.marker_generation)
                case NotificationPolicyChanged():
                    self._set_level(self.entry(event, event.member), event.level, event.policy_generation)

    def _message(self, scope: Scope, seq: int, fact: Counted, generation: int) -> None:
        """A message as of a rewind generation: of what was told of it, the newest counts."""
        known = scope.facts.get(seq)
        if known is not None and known[0] >= generation:
            return
        scope.facts[seq] = (generation, fact)
        scope.top = max(scope.top, seq)
        if known is None or not known[1].counts:
            if fact.counts:
                self._count_in(scope, seq, fact)
        elif fact != known[1]:
            self._replace(scope, seq, known[1], fact)

    def _count_in(self, scope: Scope, seq: int, fact: Counted) -> None:
        """The loop that everything here is about."""
        speakers, mentions = (fact.author, fact.principal), fact.mentions
        self.version = version = self.version + 1
        dirty, hydrating = self.dirty, CountState.HYDRATING
        for member, entry in scope.entries.items():
            if seq <= entry.frontier or seq <= entry.last_read or seq < entry.effective_from or member in speakers:
                continue
            entry.messages += 1
            if mentions and member in mentions:
                entry.mentions += 1
            if entry.state is hydrating:
                entry.state = CountState.SNAPSHOT_SERVING
            entry.version = version
            if not entry.dirty:
                entry.dirty = True
                dirty.append(entry)
            if not entry.lit and entry.lights():
                entry.lit = True
                entry.member.lit += 1

    def _messages_changed(self, scope: Scope, event: MessagesChanged) -> None:
        """Where an entry's base contains the message, the change is made there; else it is made of what was told."""
        generation = event.rewind_generation
        if generation in scope.changes:
            return
        scope.changes.add(generation)
        for change in event.changes:
            after = change.after or GONE
            self._replace(scope, change.seq, change.before or GONE, after, within=generation)
            if change.seq > scope.start or change.seq in scope.facts:
                self._message(scope, change.seq, after, generation)

    def _replace(self, scope: Scope, seq: int, old: Counted, new: Counted, within: int | None = None) -> None:
        """For entries whose base has not got the message; `within` a generation, whose base has it as before that."""
        for member, entry in scope.entries.items():
            if seq <= entry.last_read or seq < entry.effective_from:
                continue
            based = seq <= entry.frontier
            if based != (within is not None) or (within is not None and within <= entry.rewind):
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
        scope.activity_top = max(scope.activity_top, event.seq)
        if not event.counts:
            return
        for member, entry in scope.entries.items():
            if event.seq > max(entry.last_activity_read, entry.activity_frontier) and member != event.actor:
                entry.activities += 1
                self._changed(entry)

    def _read(self, entry: Entry, last_read: int, last_activity_read: int, generation: int) -> None:
        if generation > entry.read_generation:
            entry.last_read, entry.last_activity_read = last_read, last_activity_read
            entry.read_generation = generation
            self.recount(entry)

    def _membership(self, event: MembershipChanged) -> None:
        entry = self.entry(event, event.member)
        if event.membership_generation > entry.membership_generation:
            entry.active, entry.visible = event.active, event.visible
            entry.membership_generation = event.membership_generation
            entry.effective_from = event.effective_from_seq
            self.recount(entry)
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
        """The rows that "mark unread from here" has read are a base that is exact."""
        entry, unread = self.entry(event, event.member), event.unread_from
        if unread is not None and unread.read_generation > entry.read_generation:
            entry.last_read, entry.last_activity_read = unread.last_read_seq, unread.last_activity_read_seq
            entry.read_generation = unread.read_generation
            if not self.recount(entry):
                counting = [fact for _, fact in unread.rows if _counts_for(fact, event.member)]
                entry.messages = len(counting)
                entry.mentions = sum(event.member in fact.mentions for fact in counting)
                entry.frontier, entry.rewind = unread.latest_seq, unread.rewind_generation
                self._changed(entry)
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

    def recount(self, entry: Entry) -> bool:
        """Count again what was told of, where that reaches back to the cursors; else the counts are bounded by them."""
        member, scope = entry.member.id, entry.scope
        point = max(entry.last_read, entry.effective_from - 1)
        exact = point >= scope.start and entry.last_activity_read >= scope.activity_start
        if exact:
            told = [fact for seq, (_, fact) in scope.facts.items() if seq > point and _counts_for(fact, member)]
            entry.messages, entry.mentions = len(told), sum(member in fact.mentions for fact in told)
            entry.activities = sum(
                counts and actor != member and seq > entry.last_activity_read
                for seq, (actor, counts) in scope.activities.items()
            )
            entry.frontier = entry.activity_frontier = entry.rewind = 0
            entry.state = CountState.READY
        else:
            left = max(0, max(scope.top, entry.frontier) - point)
            entry.messages, entry.mentions = min(entry.messages, left), min(entry.mentions, left)
            activities_left = max(scope.activity_top, entry.activity_frontier) - entry.last_activity_read
            entry.activities = min(entry.activities, max(0, activities_left))
            entry.state = CountState.SNAPSHOT_SERVING
        self._changed(entry)
        return exact

    def entry(self, event: Event, member: int) -> Entry:
        """The member's entry in the event's scope, a new one at first sight."""
        scope = self._scope(event)
        entry = scope.entries.get(member)
        return self.add(scope, member) if entry is None else entry

    def add(self, scope: Scope, member: int) -> Entry:
        known = self.members.get(member)
        if known is None:
            known = self.members[member] = Member(member)
        entry = scope.entries[member] = known.entries[scope.id] = Entry(known, scope)
        return entry

    def scope(self, scope: int, parent: int) -> Scope:
        known = self.scopes.get(scope)
        if known is None:
            known = self.scopes[scope] = Scope(scope, self.scope(parent, 0) if parent else None)
        return known

    def _scope(self, event: Event) -> Scope:
        return self.scope(event.scope, event.parent)

    def _changed(self, entry: Entry) -> None:
        self.version = entry.version = self.version + 1
        if not entry.dirty:
            entry.dirty = True
            self.dirty.append(entry)
        lit = entry.lights()
        if lit != entry.lit:
            entry.lit = lit
            entry.member.lit += 1 if lit else -1


def _counts_for(fact: Counted, member: int) -> bool:
    return fact.counts and member != fact.author and member != fact.principal
