"""What a listener knows of rosters: facts folded by their generations, and the same taken freshly from the rows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from conversations.events import Fact, Level, MembershipChanged, NonMessageActivityStored, ScopeStateChanged
from conversations.models import Activity, Membership, MemberState, NotificationSetting, Scope


@dataclass
class Rosters:
    """`places` by (scope, member): everything a membership fact says but its roster generation."""

    places: dict[tuple[UUID, UUID], tuple[Any, ...]] = field(default_factory=dict)
    open: dict[UUID, bool] = field(default_factory=dict)
    activity_ends: dict[UUID, int] = field(default_factory=dict)
    generations: defaultdict[UUID, set[int]] = field(default_factory=lambda: defaultdict(set))
    """Every roster generation seen, by scope."""
    opened_by: dict[UUID, int] = field(default_factory=dict)

    @classmethod
    def fresh(cls, workspace_id: UUID) -> Rosters:
        found = cls()
        levels = {
            (s.scope_id, s.member_id): s for s in NotificationSetting.objects.filter(scope__workspace=workspace_id)
        }
        markers = {(m.scope_id, m.member_id): m for m in MemberState.objects.filter(scope__workspace=workspace_id)}
        for row in Membership.objects.filter(scope__workspace=workspace_id):
            key = (row.scope_id, row.member_id)
            level, marker = levels.get(key), markers.get(key)
            found.places[key] = (
                row.active,
                row.visible,
                row.effective_from_seq,
                row.last_read_seq,
                row.last_activity_read_seq,
                row.membership_generation,
                row.read_generation,
                Level[level.level.upper()] if level else Level.ALL,
                level.generation if level else 0,
                marker.manual_unread_seq if marker and marker.manual_unread else 0,
                marker.generation if marker else 0,
            )
        for scope in Scope.objects.filter(workspace=workspace_id):
            found.open[scope.id] = scope.active
            found.activity_ends[scope.id] = Activity.objects.filter(scope=scope).count()
            assert scope.latest_activity_seq == found.activity_ends[scope.id]
            found.generations[scope.id] = set(range(1, scope.roster_generation + 1))
        return found

    def apply(self, facts: Iterable[Fact]) -> Rosters:
        """In any order and with duplicates: a later generation wins."""
        for fact in facts:
            match fact:
                case MembershipChanged():
                    self._place(fact)
                case ScopeStateChanged(scope_id=scope, active=active, roster_generation=generation):
                    self.generations[scope].add(generation)
                    if generation > self.opened_by.get(scope, 0):
                        self.opened_by[scope], self.open[scope] = generation, active
                case NonMessageActivityStored(scope_id=scope, seq=seq):
                    self.activity_ends[scope] = max(seq, self.activity_ends.get(scope, 0))
        return self

    def _place(self, fact: MembershipChanged) -> None:
        self.generations[fact.scope_id].add(fact.roster_generation)
        self.open.setdefault(fact.scope_id, True)
        self.activity_ends.setdefault(fact.scope_id, 0)
        key, known = (fact.scope_id, fact.member_id), self.places.get((fact.scope_id, fact.member_id))
        if known is None or fact.membership_generation > known[5]:
            self.places[key] = (
                fact.active,
                fact.visible,
                fact.effective_from_seq,
                fact.last_read_seq,
                fact.last_activity_read_seq,
                fact.membership_generation,
                fact.read_generation,
                fact.level,
                fact.policy_generation,
                fact.marker_seq,
                fact.marker_generation,
            )

    def same_as(self, other: Rosters) -> bool:
        assert self.places == other.places
        assert self.open == other.open
        assert self.activity_ends == other.activity_ends
        assert dict(self.generations) == {k: v for k, v in other.generations.items() if k in self.generations or v}
        return True
