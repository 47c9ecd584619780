"""Keeps the leases of a serving process: renews what is held, takes what it was told to manage or asked for."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from uuid import UUID

from ..errors import Misdirected
from ..periodic import Periodic
from .owner import Owner

logger = logging.getLogger(__name__)

RENEWALS_PER_TTL = 4
MAX_WANTED = 1_000


class LeaseKeeper:
    """A worker. Its stop gives every lease back, so it stops last."""

    name = "lease-keeper"

    def __init__(self, owner: Owner) -> None:
        self._owner = owner
        self._wanted: dict[UUID, Callable[[], None] | None] = {}
        self._lock = threading.Lock()
        every_s = owner.leases.ttl_s / RENEWALS_PER_TTL
        self._turns = Periodic(self.name, every_s, self._turn, patience_s=max(60.0, 4 * owner.leases.ttl_s))

    def start(self) -> None:
        self._turns.start()

    def stop(self, deadline_s: float) -> None:
        self._turns.stop(deadline_s)
        self._owner.release_all()

    def healthy(self) -> bool:
        return self._turns.healthy()

    def want(self, workspace_id: UUID, then: Callable[[], None]) -> None:
        """Take this workspace's lease soon, where this process may, and call `then`. Over the bound it is forgotten."""
        if not self._owner.may_own(workspace_id):
            return
        with self._lock:
            if len(self._wanted) >= MAX_WANTED:
                return
            self._wanted[workspace_id] = then
        self._turns.wake()

    def _turn(self) -> None:
        self._owner.renew()
        with self._lock:
            wanted, self._wanted = self._wanted, {}
        if self._owner.profile == "workspace":
            for managed in self._owner.managed:
                wanted.setdefault(managed, None)
        for workspace_id, then in wanted.items():
            if self._owner.epoch(workspace_id) is not None and then is None:
                continue
            try:
                self._owner.require(workspace_id)
            except Misdirected as held:
                logger.debug("workspace %s stays with %s", workspace_id, held.fields.get("owner"))
                continue
            if then is not None:
                then()
