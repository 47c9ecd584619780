"""What all workspaces of the process hold together, so that budgets of the process need no look at each workspace."""

from __future__ import annotations

import threading


class Totals:
    """Sums that each workspace changes under its own lock; read without one."""

    __slots__ = ("_lock", "backlog", "entries", "waiting")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.waiting = 0
        """Pending and held events."""
        self.backlog = 0
        """Dirty entries, and those whose rows are being written."""
        self.entries = 0

    def add(self, *, waiting: int = 0, backlog: int = 0, entries: int = 0) -> None:
        with self._lock:
            self.waiting += waiting
            self.backlog += backlog
            self.entries += entries
