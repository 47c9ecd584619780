"""The visible summary of a scope: how many messages people see there, and when the last one came.

Kept by one increment per append; the functions here are for what removes messages or changes who sees them.
"""

from __future__ import annotations

from datetime import datetime

from django.db.models import Count, Max

from ..events import Fact, MessageUpdated
from ..models import Message, Scope
from ..models.scope import ScopeType
from ..visibility import VISIBLE_TYPES, human_visible, is_human_visible


def add_to_summary(scope: Scope, message: Message) -> None:
    """One more message in a locked scope; sets the fields, the caller saves them. The last time never falls."""
    if not is_human_visible(message.message_type):
        return
    scope.visible_message_count += 1
    last = scope.visible_last_message_at
    scope.visible_last_message_at = message.created_at if last is None else max(last, message.created_at)


def take_from_summary(scope: Scope, message: Message) -> None:
    """One message less, its row already deleted; sets the fields, the caller saves them."""
    if not is_human_visible(message.message_type):
        return
    scope.visible_message_count = max(scope.visible_message_count - 1, 0)
    last = scope.visible_last_message_at
    if last is None or message.created_at >= last:
        scope.visible_last_message_at = _last_visible_at(scope)


def summary_facts(scope: Scope) -> list[Fact]:
    """A thread's summary is shown under its root: pages of the conversation around it follow its changes."""
    if scope.type != ScopeType.THREAD or scope.parent_scope_id is None or scope.root_message_id is None:
        return []
    return [MessageUpdated(scope.workspace_id, scope.parent_scope_id, scope.root_message_id)]


def recompute_visible_summary(scope: Scope) -> bool:
    """Count the one scope anew, under its lock, and save what changed; says whether anything did.

    Besides repair the only aggregate over messages: for rewinds, visibility changes and repairs.
    """
    found = Message.objects.filter(human_visible(), scope_id=scope.id).aggregate(n=Count("id"), last=Max("created_at"))
    summary = (found["n"], found["last"])
    if summary == (scope.visible_message_count, scope.visible_last_message_at):
        return False
    scope.visible_message_count, scope.visible_last_message_at = summary
    scope.save(update_fields=["visible_message_count", "visible_last_message_at", "updated_at"])
    return True


def _last_visible_at(scope: Scope) -> datetime | None:
    """One seek per visible type through `messages_visible_idx`."""
    found = (
        Message.objects.filter(scope_id=scope.id, message_type=kind)
        .order_by("-created_at")
        .values_list("created_at", flat=True)
        .first()
        for kind in VISIBLE_TYPES
    )
    return max((at for at in found if at is not None), default=None)
