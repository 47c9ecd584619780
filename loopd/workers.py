"""What runs beside requests in a serving process: started together, watched by `/readyz`, stopped in reverse order."""

from __future__ import annotations

import logging
import time
from typing import Protocol

logger = logging.getLogger(__name__)


class Worker(Protocol):
    """Something with threads or tasks of its own. `stop` never raises for being late; it says so in the log."""

    name: str

    def start(self) -> None: ...

    def stop(self, deadline_s: float) -> None:
        """End within `deadline_s` seconds, leaving nothing undone that can be done in that time."""
        ...

    def healthy(self) -> bool:
        """False once a thread or task of it died or is stuck."""
        ...


class Workers:
    """Workers in the order in which they start; each may use those before it, also while it stops."""

    def __init__(self) -> None:
        self._all: list[Worker] = []
        self._started: list[Worker] = []

    def add(self, worker: Worker) -> None:
        self._all.append(worker)

    def start(self) -> None:
        """Start all; where one fails, stop those that started and raise what it raised."""
        for worker in self._all:
            try:
                worker.start()
            except BaseException:
                logger.exception("%s did not start", worker.name)
                self.stop(5.0)
                raise
            self._started.append(worker)

    def stop(self, deadline_s: float) -> None:
        """Stop all within `deadline_s` seconds altogether; each gets what the ones before it left over."""
        ends = time.monotonic() + deadline_s
        while self._started:
            worker = self._started.pop()
            try:
                worker.stop(max(0.5, ends - time.monotonic()))
            except Exception:
                logger.exception("%s did not stop cleanly", worker.name)

    def dead(self) -> list[str]:
        """Names of the workers that should run and do not."""
        return [worker.name for worker in self._started if not worker.healthy()]
