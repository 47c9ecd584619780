"""What live pages are told of a batch of facts: each kind read once for all of them, in few statements."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any
from uuid import UUID

from ..models import Activity, Member, Scope
from ..visibility import is_human_visible
from .activities import render_activities
from .conversations import topology
from .members import render_members
from .messages import messages_by_id, reactions_of, render_messages

Rendered = dict[str, Any]


def messages_now(message_ids: Collection[UUID]) -> dict[UUID, Rendered]:
    """Those that still exist and that people see: seven statements at most."""
    if not message_ids:
        return {}
    found = [message for message in messages_by_id(message_ids) if is_human_visible(message.message_type)]
    return {UUID(item["id"]): item for item in render_messages(found)}


def reactions_now(message_ids: Collection[UUID]) -> dict[UUID, dict[str, list[str]]]:
    """One statement; a message without reactions has an empty dict."""
    if not message_ids:
        return {}
    found = reactions_of(message_ids)
    return {message_id: found.get(message_id, {}) for message_id in message_ids}


def activities_now(activity_ids: Collection[UUID]) -> dict[UUID, Rendered]:
    """One statement."""
    if not activity_ids:
        return {}
    rows = list(Activity.objects.filter(id__in=list(activity_ids)))
    return {row.id: item for row, item in zip(rows, render_activities(rows), strict=True)}


def conversations_now(scope_ids: Collection[UUID]) -> dict[UUID, Rendered]:
    """What is the same for everybody who sees them: one statement."""
    if not scope_ids:
        return {}
    rows = Scope.objects.select_related("parent_scope").filter(id__in=list(scope_ids))
    return {scope.id: topology(scope, scope.parent_scope) for scope in rows}


def members_now(member_ids: Collection[UUID]) -> dict[UUID, Rendered]:
    """One statement."""
    if not member_ids:
        return {}
    rows = list(Member.objects.select_related("user").filter(id__in=list(member_ids)))
    return {row.id: item for row, item in zip(rows, render_members(rows), strict=True)}
