"""The inbox: one row for each member and conversation, for a marker or for attention. The scope is locked."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from uuid import UUID

from django.utils import timezone

from ..ids import new_id
from ..models import InboxRow, Scope

MANUAL, TASK = "manual", "task"
"""Kinds: a row that stands for nothing but a marker, and one for attention."""


def enter_inbox(scope: Scope, member_id: UUID) -> None:
    """The conversation was marked unread. A row that is there for attention goes on standing for that."""
    row = InboxRow.objects.filter(scope_id=scope.id, member_id=member_id).first()
    if row is None:
        row = InboxRow(workspace_id=scope.workspace_id, scope_id=scope.id, member_id=member_id, kind=MANUAL)
    elif not row.active:
        row.kind, row.reason = MANUAL, ""
    row.active, row.sort_id, row.updated_at = True, new_id(), timezone.now()
    row.save()


def enter_inboxes(task: Scope, reasons: Sequence[tuple[UUID, str]]) -> None:
    """A task wants the attention of these members, the latest on top: two statements and one for each reason.

    New rows are stored in batches of the database's size.
    """
    if not reasons:
        return
    now, latest = timezone.now(), new_id()
    there = InboxRow.objects.filter(scope=task, member_id__in=dict(reasons))
    known = dict(there.values_list("member_id", "id"))
    again: dict[str, list[UUID]] = {}
    fresh = []
    for member_id, reason in reasons:
        if member_id in known:
            again.setdefault(reason, []).append(known[member_id])
        else:
            fresh.append(
                InboxRow(
                    workspace_id=task.workspace_id,
                    scope=task,
                    member_id=member_id,
                    kind=TASK,
                    reason=reason,
                    sort_id=latest,
                    updated_at=now,
                )
            )
    for reason, ids in again.items():
        InboxRow.objects.filter(id__in=ids).update(
            kind=TASK, reason=reason, sort_id=latest, active=True, updated_at=now
        )
    InboxRow.objects.bulk_create(fresh)


def leave_inbox(scope_id: UUID, member_id: UUID) -> None:
    """The marker is gone: so is an inbox row that stood for nothing else."""
    _leave(scope_id, member_id, [MANUAL])


def settle_inbox(scope_id: UUID, member_id: UUID) -> None:
    """Everything was read, or the member has left: the row goes, whatever it stood for."""
    _leave(scope_id, member_id, [MANUAL, TASK])


def _leave(scope_id: UUID, member_id: UUID, kinds: Collection[str]) -> None:
    InboxRow.objects.filter(scope_id=scope_id, member_id=member_id, kind__in=kinds, active=True).update(
        active=False, updated_at=timezone.now()
    )
