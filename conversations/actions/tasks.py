"""Tasks: created, and changed field by field, each change an activity of its type."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from .. import activity_types
from ..access import ScopeAccess, member_scope, require_posting, see_scope, workspace_member
from ..backpressure import require_capacity
from ..errors import Conflict, InvalidRequest, NotFound
from ..events import ConversationUpdated, Fact
from ..ids import new_id
from ..locking import lock_scope
from ..models import Member, NotificationSetting, Task
from ..models.scope import ScopeType, Visibility
from ..models.task import TaskStatus
from ..models.workspace import MemberStatus
from ..publish import publish_on_commit
from ..transactions import in_transaction
from .attention import MAX_WATCHERS, attend_activity
from .creation import create_scope
from .unchanged import UNCHANGED, Unchanged

MAX_TITLE_CHARS, MAX_COLUMN_CHARS = 120, 64
NO_TASK = "This task does not exist."


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskChange:
    """What is to be changed; None (of the assignee: `UNCHANGED`) leaves a field as it is."""

    title: str | None = None
    status: str | None = None
    column: str | None = None
    assignee_id: UUID | Unchanged | None = UNCHANGED
    version: int | None = None
    """The version that the caller has seen; another one is a conflict."""


def create_task(
    *,
    user: Any,
    workspace_id: UUID,
    title: str,
    assignee_id: UUID | None = None,
    watcher_ids: Sequence[UUID] = (),
) -> Task:
    """A task with its conversation. Its creator, assignee and watchers are members of it; nobody is told.

    `NotFound` for a member that is not an active one of the workspace.
    """
    caller = workspace_member(user, workspace_id)
    require_capacity(workspace_id)
    if len(watcher_ids) > MAX_WATCHERS:
        raise InvalidRequest(f"A task has at most {MAX_WATCHERS} watchers.")
    watchers = _members(workspace_id, list(dict.fromkeys(watcher_ids)))
    assignee = _members(workspace_id, [assignee_id])[0] if assignee_id else None
    return _create(caller, title, assignee, watchers)


def change_task(*, user: Any, task_id: UUID, change: TaskChange) -> Task:
    """Change some fields; each that becomes another value writes one activity, for watchers and the assignee of then.

    Any member of the workspace may. The same values again write nothing. 409 in an archived task, and where `version`
    is not the task's.
    """
    scope_id = Task.objects.filter(id=task_id).values_list("scope_id", flat=True).first()
    if scope_id is None:
        raise NotFound(NO_TASK)
    try:
        access = see_scope(user, scope_id)
    except NotFound:
        raise NotFound(NO_TASK) from None
    require_capacity(access.scope.workspace_id)
    if change.status is not None and change.status not in TaskStatus.values:
        raise InvalidRequest(f"status must be one of {', '.join(TaskStatus.values)}.", status=change.status[:40])
    if isinstance(change.assignee_id, UUID):
        _members(access.scope.workspace_id, [change.assignee_id])
    return _change(access, task_id, change)


@in_transaction
def _create(caller: Member, title: str, assignee: Member | None, watchers: list[Member]) -> Task:
    members = {member.id: member for member in (caller, *([assignee] if assignee else []), *watchers)}
    scope, facts = create_scope(
        caller, list(members.values()), type=ScopeType.TASK, name=title, visibility=Visibility.PUBLIC
    )
    task = Task.objects.create(
        id=new_id(), workspace_id=caller.workspace_id, scope=scope, title=title, assignee=assignee, created_by=caller
    )
    NotificationSetting.objects.bulk_create(
        NotificationSetting(scope=scope, member=member, watch=True, generation=1) for member in watchers
    )
    publish_on_commit(facts)
    return task


@in_transaction
def _change(seen: ScopeAccess, task_id: UUID, change: TaskChange) -> Task:
    scope = lock_scope(seen.scope.workspace_id, seen.scope.id)
    require_posting(member_scope(seen.member, scope))
    task = Task.objects.select_for_update().get(id=task_id)
    if change.version is not None and change.version != task.version:
        raise Conflict(f"This task is at version {task.version} by now.", version=task.version)
    changes = _changes(task, change)
    if not changes:
        return task
    for field, _, after in changes:
        setattr(task, field, after)
    task.version += 1
    task.save()
    if scope.name != task.title:
        scope.name = task.title
        scope.save(update_fields=["name", "updated_at"])
    facts: list[Fact] = []
    for field, before, after in changes:
        told = {"from": _json(before), "to": _json(after)}
        facts += attend_activity(scope, seen.member, _TYPES[field], ref=str(task.id), payload=told)
    publish_on_commit([*facts, ConversationUpdated(scope.workspace_id, scope.id)])
    return task


_TYPES = {
    "status": activity_types.TASK_STATUS,
    "title": activity_types.TASK_TITLE,
    "assignee_id": activity_types.TASK_ASSIGNEE,
    "column": activity_types.TASK_COLUMN,
}


def _changes(task: Task, change: TaskChange) -> list[tuple[str, Any, Any]]:
    """Field, before and after of what becomes another value."""
    wanted: dict[str, Any] = {"status": change.status, "title": change.title, "column": change.column}
    found = [
        (field, getattr(task, field), after)
        for field, after in wanted.items()
        if after is not None and after != getattr(task, field)
    ]
    if not isinstance(change.assignee_id, Unchanged) and change.assignee_id != task.assignee_id:
        found.append(("assignee_id", task.assignee_id, change.assignee_id))
    return found


def _members(workspace_id: UUID, member_ids: Sequence[UUID]) -> list[Member]:
    rows = Member.objects.filter(workspace_id=workspace_id, id__in=member_ids, status=MemberStatus.ACTIVE)
    found = {member.id: member for member in rows}
    if unknown := [str(member_id) for member_id in member_ids if member_id not in found]:
        raise NotFound("Not active members of this workspace.", member_ids=unknown[:20])
    return [found[member_id] for member_id in member_ids]


def _json(value: Any) -> Any:
    return str(value) if isinstance(value, UUID) else value
