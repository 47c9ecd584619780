"""The rows that unread depends on, loaded afresh, and the same rows carried forward by facts alone.

`State.load(world)` reads every row; `state.apply(batch)` moves an older state on, and insists that each fact follows
from what was there: generations rise by exactly one, seqs by exactly one, and what a change says was before was so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from uuid import UUID

from conversations.activity_types import is_high_signal
from conversations.events import (
    Counted,
    CursorFact,
    Fact,
    Level,
    ManualUnreadCleared,
    ManualUnreadSet,
    MembershipChanged,
    MessagesChanged,
    MessageStored,
    NonMessageActivityStored,
    NotificationPolicyChanged,
    ReadCursorAdvanced,
    ScopeStateChanged,
)
from conversations.models import (
    Activity,
    Membership,
    MemberState,
    Message,
    MessageMention,
    NotificationSetting,
    Scope,
)
from conversations.visibility import is_human_visible
from tests.world import World

Place = tuple[UUID, UUID]


@dataclass
class ScopeRow:
    parent_id: UUID | None
    active: bool = True
    latest_seq: int = 0
    latest_activity_seq: int = 0
    roster_generation: int = 0
    rewind_generation: int = 0
    messages: dict[int, tuple[UUID, Counted]] = field(default_factory=dict)
    activities: dict[int, tuple[UUID, UUID, bool]] = field(default_factory=dict)


@dataclass
class PlaceRow:
    active: bool
    visible: bool
    effective_from_seq: int
    last_read_seq: int
    last_activity_read_seq: int
    read_generation: int
    membership_generation: int


@dataclass
class State:
    scopes: dict[UUID, ScopeRow] = field(default_factory=dict)
    places: dict[Place, PlaceRow] = field(default_factory=dict)
    levels: dict[Place, tuple[Level, int]] = field(default_factory=dict)
    markers: dict[Place, tuple[int, int]] = field(default_factory=dict)

    @staticmethod
    def load(world: World) -> State:
        state = State()
        for scope in Scope.objects.filter(workspace=world.workspace):
            state.scopes[scope.id] = ScopeRow(
                scope.parent_scope_id,
                scope.active,
                scope.latest_seq,
                scope.latest_activity_seq,
                scope.roster_generation,
                scope.rewind_generation,
                _messages(scope),
                _activities(scope),
            )
        for row in Membership.objects.filter(scope__workspace=world.workspace):
            state.places[row.scope_id, row.member_id] = PlaceRow(
                row.active,
                row.visible,
                row.effective_from_seq,
                row.last_read_seq,
                row.last_activity_read_seq,
                row.read_generation,
                row.membership_generation,
            )
        for setting in NotificationSetting.objects.filter(scope__workspace=world.workspace):
            level = Level[setting.level.upper()]
            state.levels[setting.scope_id, setting.member_id] = (level, setting.generation)
        for marker in MemberState.objects.filter(scope__workspace=world.workspace):
            assert marker.manual_unread == (marker.manual_unread_seq > 0)
            state.markers[marker.scope_id, marker.member_id] = (marker.manual_unread_seq, marker.generation)
        return state

    def apply(self, batch: Sequence[Fact]) -> None:
        for fact in batch:
            match fact:
                case MessageStored():
                    self._message_stored(fact)
                case NonMessageActivityStored():
                    self._activity_stored(fact)
                case CursorFact():
                    self._cursor_moved(fact)
                case ManualUnreadSet():
                    self._marked(fact)
                case ManualUnreadCleared():
                    seq, generation = self.markers[fact.scope_id, fact.member_id]
                    assert seq > 0
                    assert fact.marker_generation == generation + 1
                    self.markers[fact.scope_id, fact.member_id] = (0, fact.marker_generation)
                case NotificationPolicyChanged():
                    _, generation = self.levels.get((fact.scope_id, fact.member_id), (Level.ALL, 0))
                    assert fact.policy_generation == generation + 1
                    self.levels[fact.scope_id, fact.member_id] = (fact.level, fact.policy_generation)
                case MembershipChanged():
                    self._membership_changed(fact)
                case ScopeStateChanged():
                    scope = self._scope(fact.scope_id, fact.parent_id)
                    assert fact.roster_generation == scope.roster_generation + 1
                    scope.active, scope.roster_generation = fact.active, fact.roster_generation
                case MessagesChanged():
                    self._messages_changed(fact)

    def _scope(self, scope_id: UUID, parent_id: UUID | None) -> ScopeRow:
        scope = self.scopes.setdefault(scope_id, ScopeRow(parent_id))
        assert scope.parent_id == parent_id
        return scope

    def _message_stored(self, fact: MessageStored) -> None:
        scope = self._scope(fact.scope_id, fact.parent_id)
        assert fact.roster_generation == scope.roster_generation
        assert fact.rewind_generation == scope.rewind_generation
        if fact.replayed:
            assert scope.messages[fact.seq] == (fact.message_id, fact.facts)
            return
        assert fact.seq == scope.latest_seq + 1
        scope.latest_seq = fact.seq
        scope.messages[fact.seq] = (fact.message_id, fact.facts)

    def _activity_stored(self, fact: NonMessageActivityStored) -> None:
        scope = self._scope(fact.scope_id, fact.parent_id)
        assert fact.seq == scope.latest_activity_seq + 1
        assert fact.roster_generation <= scope.roster_generation + 1
        scope.latest_activity_seq = fact.seq
        scope.activities[fact.seq] = (fact.activity_id, fact.actor_id, fact.counts)

    def _cursor_moved(self, fact: CursorFact) -> None:
        scope = self._scope(fact.scope_id, fact.parent_id)
        row = self.places[fact.scope_id, fact.member_id]
        assert fact.read_generation == row.read_generation + 1
        assert (fact.latest_seq, fact.latest_activity_seq) == (scope.latest_seq, scope.latest_activity_seq)
        assert fact.last_read_seq >= row.last_read_seq
        assert fact.last_activity_read_seq >= row.last_activity_read_seq
        assert isinstance(fact, ReadCursorAdvanced) == (fact.last_read_seq > row.last_read_seq)
        row.last_read_seq, row.last_activity_read_seq = fact.last_read_seq, fact.last_activity_read_seq
        row.read_generation = fact.read_generation

    def _marked(self, fact: ManualUnreadSet) -> None:
        scope = self._scope(fact.scope_id, fact.parent_id)
        seq, generation = self.markers.get((fact.scope_id, fact.member_id), (0, 0))
        assert fact.marker_generation - generation == int(fact.marker_seq != seq)
        self.markers[fact.scope_id, fact.member_id] = (fact.marker_seq, fact.marker_generation)
        since = fact.unread_from
        if since is None:
            return
        row = self.places[fact.scope_id, fact.member_id]
        assert since.last_read_seq == fact.marker_seq - 1
        assert since.read_generation - row.read_generation == int(since.last_read_seq != row.last_read_seq)
        assert since.last_activity_read_seq == row.last_activity_read_seq
        assert (since.latest_seq, since.rewind_generation) == (scope.latest_seq, scope.rewind_generation)
        after = {s: counted for s, (_, counted) in scope.messages.items() if s > since.last_read_seq}
        assert dict(since.rows) == after
        row.last_read_seq, row.read_generation = since.last_read_seq, since.read_generation

    def _membership_changed(self, fact: MembershipChanged) -> None:
        scope, place = self._scope(fact.scope_id, fact.parent_id), (fact.scope_id, fact.member_id)
        old = self.places.get(place)
        assert fact.roster_generation == scope.roster_generation + 1
        assert fact.membership_generation == (old.membership_generation if old else 0) + 1
        if fact.begins:
            assert old is None or not old.active or not old.visible
            assert fact.read_generation == (old.read_generation if old else 0) + 1
        elif old is not None:
            assert fact.read_generation == old.read_generation
        assert self.levels.get(place, (Level.ALL, 0)) == (fact.level, fact.policy_generation)
        scope.roster_generation = fact.roster_generation
        if place in self.markers or fact.marker_generation:
            assert not fact.begins or fact.marker_seq == 0
            self.markers[place] = (fact.marker_seq, fact.marker_generation)
        self.places[place] = PlaceRow(
            fact.active,
            fact.visible,
            fact.effective_from_seq,
            fact.last_read_seq,
            fact.last_activity_read_seq,
            fact.read_generation,
            fact.membership_generation,
        )

    def _messages_changed(self, fact: MessagesChanged) -> None:
        scope = self._scope(fact.scope_id, fact.parent_id)
        assert fact.changes
        assert fact.rewind_generation == scope.rewind_generation + 1
        assert fact.roster_generation <= scope.roster_generation + 1
        scope.rewind_generation = fact.rewind_generation
        for change in fact.changes:
            assert scope.messages[change.seq] == (change.message_id, change.before)
            assert change.before != change.after
            if change.after is None:
                del scope.messages[change.seq]
            else:
                scope.messages[change.seq] = (change.message_id, change.after)


def _messages(scope: Scope) -> dict[int, tuple[UUID, Counted]]:
    mentions: dict[UUID, list[UUID]] = {}
    for row in MessageMention.objects.filter(message__scope=scope):
        mentions.setdefault(row.message_id, []).append(row.member_id)
    return {
        message.seq: (
            message.id,
            Counted(
                message.author_id,
                message.notify_principal_id,
                is_human_visible(message.message_type) and not message.silent,
                tuple(sorted(mentions.get(message.id, ()))),
            ),
        )
        for message in Message.objects.filter(scope=scope)
    }


def _activities(scope: Scope) -> dict[int, tuple[UUID, UUID, bool]]:
    rows = Activity.objects.filter(scope=scope)
    return {row.seq: (row.id, row.actor_id, is_high_signal(row.type)) for row in rows}
