"""Archive and restore: one flag of one scope. Threads under it are hidden by derivation, without a write."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.utils import timezone

from .. import activity_types
from ..access import ScopeAccess, require_managing, see_scope
from ..backpressure import require_capacity
from ..events import ConversationUpdated, Fact, ScopeStateChanged
from ..locking import lock_scope
from ..models import Member, Scope
from ..models.scope import ScopeStatus
from ..publish import publish_on_commit
from ..transactions import in_transaction
from .activity import append_activity


def archive(*, user: Any, scope_id: UUID) -> Scope:
    """An archived scope refuses messages, activities, reactions and joins; everything in it stays readable."""
    return _change(user, scope_id, archived=True)


def restore(*, user: Any, scope_id: UUID) -> Scope:
    """What was unread when the scope was archived is unread again."""
    return _change(user, scope_id, archived=False)


def set_archived(scope: Scope, actor: Member, *, archived: bool) -> list[Fact]:
    """The change on a locked scope; nothing where it is so already. The caller publishes."""
    if scope.active != archived:
        return []
    scope.status = ScopeStatus.ARCHIVED if archived else ScopeStatus.ACTIVE
    scope.archived_at = timezone.now() if archived else None
    told = append_activity(scope, actor, activity_types.ARCHIVED if archived else activity_types.RESTORED)
    scope.roster_generation += 1
    scope.save(update_fields=["status", "archived_at", "roster_generation", "updated_at"])
    return [
        ScopeStateChanged(scope.workspace_id, scope.id, scope.parent_scope_id, scope.active, scope.roster_generation),
        told,
    ]


def _change(user: Any, scope_id: UUID, *, archived: bool) -> Scope:
    access = see_scope(user, scope_id)
    require_managing(access)
    require_capacity(access.scope.workspace_id)
    return _change_locked(access, archived)


@in_transaction
def _change_locked(access: ScopeAccess, archived: bool) -> Scope:
    scope = lock_scope(access.scope.workspace_id, access.scope.id)
    if facts := set_archived(scope, access.member, archived=archived):
        publish_on_commit([*facts, ConversationUpdated(scope.workspace_id, scope.id)])
    return scope
