"""The inbox: what wants one member's attention, one row for each conversation, the latest on top."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef, Q

from ..models import InboxRow, Member, Membership
from ..models.membership import MembershipStatus
from ..models.scope import ScopeStatus
from ..unread_port import unread_reader
from .conversations import moment, render_conversations


def inbox_rows(member: Member, before: UUID | None, limit: int) -> list[InboxRow]:
    """At most `limit` rows older than the cursor, of conversations that the member is in and that are not archived.

    One statement.
    """
    live = Membership.objects.filter(
        scope=OuterRef("scope_id"), member=member, status=MembershipStatus.ACTIVE, visible=True
    )
    above = Q(scope__parent_scope=None) | Q(scope__parent_scope__status=ScopeStatus.ACTIVE)
    rows = (
        InboxRow.objects.select_related("scope", "scope__parent_scope")
        .filter(Exists(live), above, workspace=member.workspace_id, member=member, active=True)
        .filter(scope__status=ScopeStatus.ACTIVE)
    )
    if before is not None:
        rows = rows.filter(sort_id__lt=before)
    return list(rows.order_by("-sort_id")[:limit])


def render_inbox(member: Member, rows: Sequence[InboxRow]) -> list[dict[str, Any]]:
    """With the conversation, and its unread from memory. As many statements as `render_conversations`."""
    shown = render_conversations(member, [row.scope for row in rows])
    return [
        {
            "id": str(row.sort_id),
            "kind": row.kind,
            "reason": row.reason,
            "conversation": conversation,
            "unread": unread_reader().scope_unread(member.workspace_id, member.id, row.scope_id),
            "updated_at": moment(row.updated_at),
        }
        for row, conversation in zip(rows, shown, strict=True)
    ]
