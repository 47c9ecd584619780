"""Tasks as a member of their workspace sees them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from ..models import Member, NotificationSetting, Task
from ..models.scope import ScopeStatus
from .conversations import moment


def listed_tasks(
    member: Member, *, status: str | None = None, assignee_id: UUID | None = None, column: str | None = None
) -> QuerySet[Task]:
    """Those that are not archived. One statement."""
    tasks = Task.objects.filter(workspace=member.workspace_id, scope__status=ScopeStatus.ACTIVE)
    if status is not None:
        tasks = tasks.filter(status=status)
    if assignee_id is not None:
        tasks = tasks.filter(assignee_id=assignee_id)
    return tasks.filter(column=column) if column is not None else tasks


def render_tasks(member: Member, tasks: Sequence[Task]) -> list[dict[str, Any]]:
    """The API's tasks, in the order given. One statement."""
    watching = dict(
        NotificationSetting.objects.filter(
            member=member, scope_id__in=[task.scope_id for task in tasks], watch__isnull=False
        ).values_list("scope_id", "watch")
    )
    return [
        {
            "id": str(task.id),
            "workspace_id": str(task.workspace_id),
            "conversation_id": str(task.scope_id),
            "title": task.title,
            "status": task.status,
            "column": task.column,
            "assignee_id": task.assignee_id and str(task.assignee_id),
            "created_by": str(task.created_by_id),
            "watch": watching.get(task.scope_id),
            "version": task.version,
            "created_at": moment(task.created_at),
            "updated_at": moment(task.updated_at),
        }
        for task in tasks
    ]
