"""Rows of the task outbox that are due."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from django.db.models import Exists, OuterRef, Q

from ..models import TaskAttentionOutbox
from ..models.attention import OutboxStatus


def due_events(workspace_ids: Sequence[UUID], now: datetime, limit: int) -> list[TaskAttentionOutbox]:
    """The first undelivered event of each task, where it is due; those that wait the longest first. One statement."""
    pending = TaskAttentionOutbox.objects.filter(status=OutboxStatus.PENDING)
    earlier = pending.filter(scope_id=OuterRef("scope_id"), order__lt=OuterRef("order"))
    due = pending.filter(Q(not_before=None) | Q(not_before__lte=now), workspace_id__in=workspace_ids)
    return list(due.filter(~Exists(earlier)).order_by("id")[:limit])


def next_event(scope_id: UUID, now: datetime) -> TaskAttentionOutbox | None:
    """The first undelivered event of a task, where it is due. One statement."""
    first = TaskAttentionOutbox.objects.filter(scope_id=scope_id, status=OutboxStatus.PENDING).order_by("order").first()
    return first if first is not None and (first.not_before is None or first.not_before <= now) else None
