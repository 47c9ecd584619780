"""Tasks: one row per task scope."""

from __future__ import annotations

from django.db import models

from ..ids import new_id
from .scope import Scope
from .workspace import Member, Workspace


class TaskStatus(models.TextChoices):
    OPEN = "open"
    IN_PROGRESS = "in_progress"
    DONE = "done"
    CANCELLED = "cancelled"


class Task(models.Model):
    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="tasks")
    scope = models.OneToOneField(Scope, on_delete=models.PROTECT, related_name="task")
    title = models.CharField(max_length=200)
    status = models.CharField(max_length=16, choices=TaskStatus.choices, default=TaskStatus.OPEN)
    column = models.CharField(max_length=64, blank=True, default="")
    assignee = models.ForeignKey(Member, on_delete=models.PROTECT, null=True, related_name="assigned_tasks")
    created_by = models.ForeignKey(Member, on_delete=models.PROTECT, related_name="+")
    version = models.BigIntegerField(default=1)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        db_table = "tasks"
        indexes = [models.Index(fields=["workspace", "status", "id"], name="tasks_status_idx")]

    def __str__(self) -> str:
        return self.title
