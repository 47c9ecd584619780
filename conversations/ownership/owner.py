"""The workspaces that this process owns: profile, held leases with their epochs, and the check before any work."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from uuid import UUID

from ..errors import Misdirected
from .leases import LeaseHeld, LeaseStore, workspace_resource

logger = logging.getLogger(__name__)

Changed = Callable[[UUID, int], None]


class Owner:
    """Takes a workspace's lease at first use and keeps it until `renew` finds it lost or `release_all` gives it back.

    `profile`: "all" owns every workspace, "workspace" those in `managed`, "central" none. Listeners of `on_owned` and
    `on_lost` are called with the workspace and its epoch; they must not block nor come back here. Those of `on_owned`
    are called before anybody may use the lease.
    """

    def __init__(self, leases: LeaseStore, profile: str = "all", managed: frozenset[UUID] = frozenset()) -> None:
        self.leases, self.profile, self.managed = leases, profile, managed
        self._epochs: dict[UUID, int] = {}
        self._renewed_at: dict[UUID, float] = {}
        self._lock = threading.Lock()
        self._acquiring = threading.Lock()
        self._owned: list[Changed] = []
        self._lost: list[Changed] = []
        self._closed = False

    def on_owned(self, listener: Changed) -> None:
        self._owned.append(listener)

    def on_lost(self, listener: Changed) -> None:
        self._lost.append(listener)

    def may_own(self, workspace_id: UUID) -> bool:
        return self.profile == "all" or (self.profile == "workspace" and workspace_id in self.managed)

    def epoch(self, workspace_id: UUID) -> int | None:
        """The epoch of a lease that is held and not run out by this process's own clock; never touches the database."""
        epoch = self._epochs.get(workspace_id)
        if epoch is None or time.monotonic() - self._renewed_at.get(workspace_id, 0.0) >= self.leases.ttl_s:
            return None
        return epoch

    def require(self, workspace_id: UUID) -> int:
        """The held epoch, acquiring the lease at first use; `Misdirected` where this process is not the owner."""
        if (epoch := self.epoch(workspace_id)) is not None:
            return epoch
        if not self.may_own(workspace_id) or self._closed:
            raise Misdirected("This workspace is served by another process.", workspace_id=str(workspace_id))
        try:
            return self._acquire(workspace_id)
        except LeaseHeld as held:
            raise Misdirected(
                "Another process owns this workspace.", workspace_id=str(workspace_id), owner=held.holder
            ) from None

    def _acquire(self, workspace_id: UUID) -> int:
        """One at a time; the lock that others need is not held while the database is asked."""
        with self._acquiring:
            if (epoch := self.epoch(workspace_id)) is not None:
                return epoch
            before = time.monotonic()
            resource = workspace_resource(workspace_id)
            had = self._epochs.get(workspace_id)
            if had is not None:
                if resource not in self.leases.renew({resource: had}):
                    self._renewed_at[workspace_id] = before
                    return had
                self.drop(workspace_id, had)
            epoch = self.leases.acquire(resource)
            with self._lock:
                # Listeners first: nobody may commit under the new epoch before they are ready to hear of it.
                self._tell(self._owned, workspace_id, epoch)
                self._epochs[workspace_id], self._renewed_at[workspace_id] = epoch, before
            return epoch

    def renew(self) -> None:
        """Extend every held lease; call well within the TTL. A lease that moved is dropped and listeners are told."""
        before = time.monotonic()
        with self._lock:
            held = dict(self._epochs)
        lost = self.leases.renew({workspace_resource(w): e for w, e in held.items()})
        for workspace_id, epoch in held.items():
            if workspace_resource(workspace_id) in lost:
                self.drop(workspace_id, epoch)
            else:
                self._renewed_at[workspace_id] = before

    def drop(self, workspace_id: UUID, epoch: int) -> None:
        """Forget a lease that turned out to have moved on."""
        with self._lock:
            if self._epochs.get(workspace_id) != epoch:
                return
            del self._epochs[workspace_id]
            self._tell(self._lost, workspace_id, epoch)
        logger.warning("lost the lease of workspace %s (epoch %s)", workspace_id, epoch)

    def held(self) -> dict[UUID, int]:
        with self._lock:
            return dict(self._epochs)

    def release_all(self) -> None:
        """Give every lease back and take no more; the last step of a stop, after the final flush."""
        self._closed = True
        held = self.held()
        self.leases.release({workspace_resource(w): e for w, e in held.items()})
        with self._lock:
            self._epochs.clear()

    def release(self, workspace_id: UUID) -> None:
        with self._lock:
            epoch = self._epochs.pop(workspace_id, None)
        if epoch is not None:
            self.leases.release({workspace_resource(workspace_id): epoch})

    def _tell(self, listeners: list[Changed], workspace_id: UUID, epoch: int) -> None:
        for listener in listeners:
            listener(workspace_id, epoch)


_current: Owner | None = None


def install_owner(owner: Owner) -> Owner:
    """Make `owner` the one of this process; `loopd.bootstrap` does this at start."""
    global _current
    _current = owner
    return owner


def current_owner() -> Owner:
    if _current is None:
        raise RuntimeError("no owner installed; loopd.bootstrap builds it when Django starts")
    return _current
