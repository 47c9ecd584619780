"""Who hears live news of a scope: those who may see it, as the access gate decides for each of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from uuid import UUID

from ..models import Membership, Scope
from ..models.membership import MembershipStatus
from ..models.scope import ScopeType, Visibility

Audience = frozenset[UUID] | None
"""Member ids; None stands for every member of the workspace."""

_CHUNK = 500


def audiences(workspace_id: UUID, scope_ids: Collection[UUID], among: Collection[UUID]) -> dict[UUID, Audience]:
    """The audience of each scope that exists, of the members `among`.

    Two statements for any number of scopes of a few hundred members; one more for each further 500 members.
    """
    scopes = Scope.objects.filter(id__in=list(scope_ids), workspace_id=workspace_id).select_related("parent_scope")
    decided_by = {scope.id: scope.parent_scope or scope for scope in scopes}
    closed = {scope.id for scope in decided_by.values() if not _open_to_all(scope)}
    members: dict[UUID, set[UUID]] = defaultdict(set)
    people = sorted(among)
    if closed:
        for start in range(0, len(people), _CHUNK):
            rows = Membership.objects.filter(
                scope_id__in=closed,
                member_id__in=people[start : start + _CHUNK],
                status=MembershipStatus.ACTIVE,
                visible=True,
            )
            for scope_id, member_id in rows.values_list("scope_id", "member_id"):
                members[scope_id].add(member_id)
    return {
        scope_id: frozenset(members[place.id]) if place.id in closed else None for scope_id, place in decided_by.items()
    }


def _open_to_all(scope: Scope) -> bool:
    """A scope without a parent that every member of the workspace sees."""
    return scope.type == ScopeType.TASK or (scope.type == ScopeType.CHANNEL and scope.visibility == Visibility.PUBLIC)
