"""Members and conversations by name, for the switcher and for completion."""

from __future__ import annotations

from typing import Any

from django.db.models import Q

from ..models import Member, Membership, Scope
from ..models.scope import ScopeStatus, ScopeType
from ..models.workspace import MemberStatus
from .conversations import render_conversations, visible_scopes
from .members import members_of_workspace, named_like, render_members

MEMBERS, CONVERSATIONS = 20, 20
"""How many of each are answered at most: completion, not a list."""


def find_by_name(member: Member, q: str) -> dict[str, list[dict[str, Any]]]:
    """Active members, and open conversations that the member may see: by name, a DM by those in it.

    Names that begin with `q` come before those that contain it. Fourteen statements at most.
    """
    people = members_of_workspace(member.workspace_id, q).filter(status=MemberStatus.ACTIVE)
    scopes = visible_scopes(member).filter(status=ScopeStatus.ACTIVE)
    if q:
        scopes = scopes.filter(~Q(type=ScopeType.DM) & Q(name__icontains=q) | Q(id__in=_dms_with(member, q)))
    return {
        "members": render_members(_best(people, "display_name", q, MEMBERS)),
        "conversations": render_conversations(member, _best(scopes, "name", q, CONVERSATIONS)),
    }


def _dms_with(member: Member, q: str) -> Any:
    """The member's DMs in which somebody else is named like `q`."""
    named = Member.objects.filter(named_like(q), workspace=member.workspace_id).exclude(id=member.id)
    own = Scope.objects.filter(type=ScopeType.DM, memberships__member=member)
    return Membership.objects.filter(scope__in=own, member__in=named).values("scope_id")


def _best(rows: Any, field: str, q: str, limit: int) -> list[Any]:
    if not q:
        return list(rows.order_by(field, "id")[:limit])
    begins = Q(**{f"{field}__istartswith": q})
    found = list(rows.filter(begins).order_by(field, "id")[:limit])
    if len(found) < limit:
        found += rows.exclude(begins).order_by(field, "id")[: limit - len(found)]
    return found
