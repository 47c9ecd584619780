"""Durable activities: what happened in a scope besides messages."""

from __future__ import annotations

from typing import Any

from django.utils import timezone

from ..activity_types import is_high_signal
from ..events import NonMessageActivityStored
from ..ids import new_id
from ..models import Activity, Member, Scope
from ..models.scope import ScopeType


def append_activity(
    scope: Scope,
    actor: Member,
    activity_type: str,
    *,
    ref_type: str = "",
    ref: str = "",
    payload: dict[str, Any] | None = None,
) -> NonMessageActivityStored:
    """Store one activity of a locked scope under its next seq; the caller publishes the returned fact.

    In a task it counts for nobody here: whom it was frozen for is told by the task's outbox. `KeyError` for an unknown
    type.
    """
    counts = is_high_signal(activity_type)
    scope.latest_activity_seq += 1
    stored = Activity.objects.create(
        id=new_id(),
        scope=scope,
        seq=scope.latest_activity_seq,
        type=activity_type,
        ref_type=ref_type,
        ref=ref,
        actor=actor,
        payload=payload or {},
        created_at=timezone.now(),
    )
    Scope.objects.filter(pk=scope.pk).update(latest_activity_seq=scope.latest_activity_seq)
    return NonMessageActivityStored(
        workspace_id=scope.workspace_id,
        scope_id=scope.id,
        parent_id=scope.parent_scope_id,
        activity_id=stored.id,
        type=activity_type,
        seq=stored.seq,
        actor_id=actor.id,
        counts=counts,
        roster_generation=scope.roster_generation,
        recipients=() if scope.type == ScopeType.TASK else None,
    )
