"""The gate before a version that knows nothing of task shadows: every shadow becomes the row that such a one reads.

Each row is made what this version's reader takes of it: the shadow, under the controls that are provably newer. One
shadow that cannot be read, or that something covers in part, closes the gate, and then nothing is written at all.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from conversations.models import RepairRun, ResourceLock, TaskAttentionOutbox
from conversations.models.attention import OutboxStatus
from conversations.ownership.leases import WORKSPACE_PREFIX, workspace_resource

from ..core.ports import SnapshotRow
from ..core.shadow import ShadowError, overlaid, read_shadow
from ..core.states import CountState
from ..models import MemberScopeUnreadRuntimeSnapshot as Stored
from ..row_columns import READ_COLUMNS, facts_of, regular_row
from ..shadows import as_json
from ..store import FORMAT_VERSION

PAGE = 500
NAMED = 20
"""Refusals that are told one by one."""


@dataclass(slots=True)
class Reconciliation:
    shadows: int = 0
    differing: int = 0
    """Rows that a version without shadows would read otherwise."""
    written: int = 0
    refused: int = 0
    refusals: list[str] = field(default_factory=list)

    def refuse(self, why: str) -> None:
        self.refused += 1
        if len(self.refusals) < NAMED:
            self.refusals.append(why)


def reconcile_task_shadows(*, check: bool, username: str, workspace_id: UUID | None = None) -> Reconciliation:
    """Look at every shadow; unless this is a check or the gate is closed, write what differs. Recorded as a run."""
    run = RepairRun.objects.create(
        action="reconcile_task_shadows",
        username=username,
        workspace_id=workspace_id,
        target={"check": check},
        status="running",
    )
    found = Reconciliation()
    _look_around(found, workspace_id)
    for _ in _materialised(found, workspace_id):
        pass
    if not check and not found.refused:
        with transaction.atomic():
            again = Reconciliation()
            for row, epoch in _materialised(again, workspace_id):
                found.written += _write(row, epoch)
            if again.refused or found.written != again.differing:
                transaction.set_rollback(True)
                found.written = 0
                found.refuse("rows changed meanwhile: is a server still running?")
    run.status = "failed" if found.refused else "done"
    run.error = "; ".join(found.refusals)[:500]
    run.after = {
        "shadows": found.shadows,
        "differing": found.differing,
        "written": found.written,
        "refused": found.refused,
    }
    run.finished_at = timezone.now()
    run.save(update_fields=["status", "error", "after", "finished_at"])
    return found


def _look_around(found: Reconciliation, workspace_id: UUID | None) -> None:
    """Writers have to be stopped, and everything that was committed has to be delivered."""
    prefix = WORKSPACE_PREFIX if workspace_id is None else workspace_resource(workspace_id)
    leases = ResourceLock.objects.filter(resource__startswith=prefix, expires_at__gt=timezone.now())
    for lease in leases[:NAMED]:
        found.refuse(f"{lease.resource} is served by {lease.locker_id}")
    waiting = TaskAttentionOutbox.objects.filter(status=OutboxStatus.PENDING).order_by("id")
    if workspace_id is not None:
        waiting = waiting.filter(workspace_id=workspace_id)
    for event in waiting[:NAMED]:
        found.refuse(f"task event {event.id} is not delivered")


def _materialised(found: Reconciliation, workspace_id: UUID | None) -> Iterator[tuple[SnapshotRow, tuple[UUID, int]]]:
    """Rows as they have to be, where they are not yet, with workspace and epoch; counts and refusals go to `found`."""
    for where, values in _rows(workspace_id):
        *columns, version, value = values
        regular = regular_row(columns)
        name = f"member {UUID(int=regular.member)} in {UUID(int=regular.scope)}"
        found.shadows += 1
        try:
            shadow = read_shadow(regular, version, as_json(value))
        except ShadowError as error:
            found.refuse(f"{name}: {error}")
            continue
        if shadow is None:
            continue
        row = overlaid(shadow, regular)
        if row.count_state is CountState.STALE and shadow.count_state is not CountState.STALE:
            found.refuse(f"{name}: what was read covers a part of what is protected")
        elif row != regular:
            found.differing += 1
            yield row, where


def _rows(workspace_id: UUID | None) -> Iterator[tuple[tuple[UUID, int], list[Any]]]:
    """Every row with a shadow, in pages by key."""
    shadows = Stored.objects.filter(
        Q(task_snapshot_format_version__isnull=False) | Q(task_snapshot_json__isnull=False),
        format_version=FORMAT_VERSION,
    ).order_by("workspace_id", "member_id", "scope_id")
    if workspace_id is not None:
        shadows = shadows.filter(workspace_id=workspace_id)
    after = Q()
    while True:
        page = list(shadows.filter(after).values_list("workspace_id", "owner_epoch", *READ_COLUMNS)[:PAGE])
        for workspace, epoch, *values in page:
            yield (workspace, epoch), values
        if len(page) < PAGE:
            return
        workspace, _, member, scope = page[-1][:4]
        after = (
            Q(workspace_id__gt=workspace)
            | Q(workspace_id=workspace, member_id__gt=member)
            | Q(workspace_id=workspace, member_id=member, scope_id__gt=scope)
        )


def _write(row: SnapshotRow, where: tuple[UUID, int]) -> int:
    """One row, unless it was written since it was read."""
    workspace, epoch = where
    standing = Stored.objects.filter(
        workspace_id=workspace,
        member_id=UUID(int=row.member),
        scope_id=UUID(int=row.scope),
        owner_epoch=epoch,
        row_version=row.row_version,
    )
    later = replace(row, row_version=row.row_version + 1)
    return standing.update(**facts_of(later), row_version=later.row_version, updated_at=timezone.now())
