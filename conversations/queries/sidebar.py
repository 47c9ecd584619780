"""What a member has joined, with the cursors and ends of each scope: the first paint, and evidence for unread."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Case, IntegerField, Value, When
from django.db.models.functions import Coalesce

from ..models import Member, Membership, Scope
from ..models.membership import MembershipStatus
from ..models.scope import ScopeStatus

LIMIT = 500


@dataclass(frozen=True, slots=True)
class JoinedScope:
    """The scope (its parent loaded) with the member's row: cursors and generations, `latest_seq`s, both statuses."""

    scope: Scope
    membership: Membership


@dataclass(frozen=True, slots=True)
class Sidebar:
    joined: list[JoinedScope]
    complete: bool
    """Every live membership is listed, threads and archived scopes included: what is missing is not joined."""


def joined_conversations(member: Member, limit: int = LIMIT, first: Collection[UUID] = ()) -> Sidebar:
    """At most `limit` live memberships: scopes in `first` (those that show unread), then open ones by last message.

    One statement.
    """
    rank = Case(
        When(scope_id__in=list(first), then=Value(0)),
        When(scope__status=ScopeStatus.ACTIVE, then=Value(1)),
        default=Value(2),
        output_field=IntegerField(),
    )
    rows = (
        Membership.objects.select_related("scope", "scope__parent_scope")
        .filter(member=member, status=MembershipStatus.ACTIVE, visible=True)
        .annotate(rank=rank, moved_at=Coalesce("scope__visible_last_message_at", "scope__created_at"))
        .order_by("rank", "-moved_at", "-scope_id")[: limit + 1]
    )
    found = [JoinedScope(row.scope, row) for row in rows]
    return Sidebar(found[:limit], complete=len(found) <= limit)
