"""Members as the API shows them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet

from ..models import Member, Membership, Scope
from ..models.membership import MembershipStatus


def render_members(members: Iterable[Member]) -> list[dict[str, Any]]:
    """`user` is loaded with each, else one statement per member."""
    return [
        {
            "id": str(member.id),
            "username": member.user.get_username(),
            "actor": {"kind": member.actor_kind, "key": member.actor_key},
            "display_name": member.display_name,
            "role": member.role,
            "status": member.status,
        }
        for member in members
    ]


def members_of_workspace(workspace_id: UUID, q: str = "") -> QuerySet[Member]:
    """All of them, deactivated ones too; `q` is part of a display name or username. One statement."""
    members = Member.objects.select_related("user").filter(workspace_id=workspace_id)
    return members.filter(named_like(q)) if q else members


def named_like(q: str) -> Q:
    return Q(display_name__icontains=q) | Q(user__username__icontains=q)


def places_in(scope: Scope) -> QuerySet[Membership]:
    """The live memberships of a scope with their members and users. One statement."""
    return Membership.objects.select_related("member", "member__user").filter(
        scope=scope, status=MembershipStatus.ACTIVE, visible=True
    )
