"""What a member wants to hear of a conversation: the level, and in a task an explicit watch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from ..access import ScopeAccess, member_scope, require_joined, see_scope
from ..backpressure import require_capacity
from ..errors import Conflict, InvalidRequest
from ..events import Level, NotificationPolicyChanged
from ..locking import lock_scope
from ..models import NotificationSetting, Scope
from ..models.membership import NotificationLevel
from ..models.scope import ScopeType
from ..publish import publish_on_commit
from ..transactions import in_transaction
from .attention import MAX_WATCHERS
from .unchanged import UNCHANGED, Unchanged


@dataclass(frozen=True, slots=True)
class Policy:
    level: str
    watch: bool | None


def set_notifications(
    *, user: Any, scope_id: UUID, level: str | None = None, watch: bool | Unchanged | None = UNCHANGED
) -> Policy:
    """Change the caller's level (None: leave it) and watch; the same again writes nothing.

    409 for whoever has not joined; 400 for a watch of anything but a task; 503 while too
    much is unsaved.
    """
    access = see_scope(user, scope_id)
    require_capacity(access.scope.workspace_id)
    require_joined(access)
    if level is not None and level not in NotificationLevel.values:
        raise InvalidRequest(f"level must be one of {', '.join(NotificationLevel.values)}.", level=level)
    if not isinstance(watch, Unchanged) and watch is not None and access.scope.type != ScopeType.TASK:
        raise InvalidRequest("Only tasks can be watched; elsewhere use the level.")
    return _set(access, level, watch)


def _require_room(task: Scope) -> None:
    if NotificationSetting.objects.filter(scope=task, watch=True).count() >= MAX_WATCHERS:
        raise Conflict(f"A task has at most {MAX_WATCHERS} watchers.")


@in_transaction
def _set(seen: ScopeAccess, level: str | None, watch: bool | Unchanged | None) -> Policy:
    scope = lock_scope(seen.scope.workspace_id, seen.scope.id)
    require_joined(member_scope(seen.member, scope))
    setting = NotificationSetting.objects.filter(scope=scope, member=seen.member).first()
    if setting is None:
        setting = NotificationSetting(scope=scope, member=seen.member, generation=0)
    before = (setting.level, setting.watch)
    if watch is True and not setting.watch:
        _require_room(scope)
    setting.level = setting.level if level is None else level
    setting.watch = setting.watch if isinstance(watch, Unchanged) else watch
    if (setting.level, setting.watch) != before:
        setting.generation += 1
        setting.save()
        publish_on_commit(
            [
                NotificationPolicyChanged(
                    workspace_id=scope.workspace_id,
                    scope_id=scope.id,
                    parent_id=scope.parent_scope_id,
                    member_id=seen.member.id,
                    level=Level[setting.level.upper()],
                    policy_generation=setting.generation,
                )
            ]
        )
    return Policy(setting.level, setting.watch)
