"""The lease row of a resource: acquired, renewed and released by conditional updates only.

A holder is named `host|boot|pid|start|label`. A holder of the same host whose process is gone (or of an earlier boot)
is dead, and its lease is taken over at once; anybody else's is waited out.
"""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils import timezone

from ..ids import new_id
from ..models import ResourceLock

RENEW_BATCH = 500


class LeaseHeld(Exception):
    """Another live process holds the lease."""

    def __init__(self, resource: str, holder: str, expires_at: datetime) -> None:
        super().__init__(f"{resource} is held by {holder} until {expires_at.isoformat()}")
        self.resource, self.holder, self.expires_at = resource, holder, expires_at


WORKSPACE_PREFIX = "workspace-owner/"


def workspace_resource(workspace_id: UUID) -> str:
    return f"{WORKSPACE_PREFIX}{workspace_id}"


def locker_id(label: str) -> str:
    """The name of this process as a lease holder; `label` tells people what it is (server, import_slack)."""
    return f"{socket.gethostname()}|{_boot_id()}|{os.getpid()}|{_started(os.getpid())}|{label}"[:200]


def _boot_id() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return "-"


def _started(pid: int) -> str:
    """The process's start time in clock ticks, so that a reused pid is not taken for its predecessor."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return "-"


def is_dead(holder: str) -> bool:
    """True only where this host can prove that the holder's process is gone."""
    fields = holder.split("|")
    if len(fields) < 5 or fields[0] != socket.gethostname() or sys.platform != "linux" or fields[1] == "-":
        return False
    if fields[1] != _boot_id():
        return True
    return not fields[2].isdigit() or _started(int(fields[2])) != fields[3]


@dataclass(frozen=True, slots=True)
class LeaseStore:
    """Leases of one holder. `ttl_s`: seconds until an unrenewed lease is free for others."""

    holder: str
    ttl_s: float

    def acquire(self, resource: str) -> int:
        """Take the lease and return its new epoch; `LeaseHeld` where somebody else's is alive."""
        now = timezone.now()
        row = ResourceLock.objects.filter(resource=resource).first()
        if row is None:
            try:
                with transaction.atomic():
                    ResourceLock.objects.create(
                        id=new_id(), resource=resource, locker_id=self.holder, epoch=1, expires_at=self._until(now)
                    )
                return 1
            except IntegrityError:
                row = ResourceLock.objects.get(resource=resource)
        free = not row.locker_id or row.expires_at <= now or row.locker_id == self.holder or is_dead(row.locker_id)
        if free:
            taken = ResourceLock.objects.filter(pk=row.pk, epoch=row.epoch, locker_id=row.locker_id)
            if row.expires_at > now:
                taken = taken.filter(expires_at=row.expires_at)
            else:
                taken = taken.filter(expires_at__lte=now)
            if taken.update(locker_id=self.holder, epoch=row.epoch + 1, expires_at=self._until(now), updated_at=now):
                return row.epoch + 1
            row.refresh_from_db()
        raise LeaseHeld(resource, row.locker_id, row.expires_at)

    def renew(self, held: dict[str, int]) -> set[str]:
        """Extend leases `{resource: epoch}` in batches; returns the resources that are no longer ours.

        One that ran out and that nobody has taken since is extended as well: its epoch still stands, so nobody wrote
        under another one.
        """
        lost: set[str] = set()
        items = sorted(held.items())
        for start in range(0, len(items), RENEW_BATCH):
            batch = dict(items[start : start + RENEW_BATCH])
            now = timezone.now()
            mine = ResourceLock.objects.filter(resource__in=batch, locker_id=self.holder)
            if mine.update(expires_at=self._until(now), updated_at=now) == len(batch) and self._same(batch):
                continue
            kept = dict(mine.values_list("resource", "epoch"))
            lost |= {resource for resource, epoch in batch.items() if kept.get(resource) != epoch}
        return lost

    def release(self, held: dict[str, int]) -> None:
        """Give leases back at once; those that moved on are left alone."""
        for chunk in _chunks(sorted(held.items())):
            mine = Q()
            for resource, epoch in chunk:
                mine |= Q(resource=resource, epoch=epoch)
            ResourceLock.objects.filter(mine, locker_id=self.holder).update(locker_id="", expires_at=timezone.now())

    def _same(self, batch: dict[str, int]) -> bool:
        rows = ResourceLock.objects.filter(resource__in=batch, locker_id=self.holder)
        return dict(rows.values_list("resource", "epoch")) == batch

    def _until(self, now: datetime) -> datetime:
        return now + timedelta(seconds=self.ttl_s)


def _chunks(items: list[tuple[str, int]], size: int = 100) -> Iterable[list[tuple[str, int]]]:
    return (items[start : start + size] for start in range(0, len(items), size))
