"""Work that a thread of its own does again and again: named, watched and ended."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from .connections import database_unit

logger = logging.getLogger(__name__)


class Periodic:
    """Runs `work` every `every_s` seconds, and at once after `wake`, each time as one database unit.

    An exception is logged and work goes on at the next turn. `stop` ends the thread after the running turn; `healthy`
    is false once the thread is gone or one turn has taken longer than `patience_s`.
    """

    def __init__(self, name: str, every_s: float, work: Callable[[], None], patience_s: float = 120.0) -> None:
        self.name, self.every_s, self.patience_s = name, every_s, patience_s
        self._work = work
        self._due = threading.Event()
        self._ending = threading.Event()
        self._thread: threading.Thread | None = None
        self._turn_began: float | None = None

    def start(self) -> None:
        if self._thread is not None:
            return
        self._thread = threading.Thread(target=self._run, name=self.name, daemon=True)
        self._thread.start()

    def wake(self) -> None:
        self._due.set()

    def stop(self, deadline_s: float) -> None:
        """Wait at most `deadline_s` seconds for the running turn."""
        self._ending.set()
        self._due.set()
        if self._thread is not None:
            self._thread.join(max(0.0, deadline_s))
            if self._thread.is_alive():
                logger.error("%s did not end within %.1f s", self.name, deadline_s)

    def healthy(self) -> bool:
        began = self._turn_began
        stuck = began is not None and time.monotonic() - began > self.patience_s
        return self._thread is not None and self._thread.is_alive() and not stuck

    def _run(self) -> None:
        while not self._ending.is_set():
            self._due.clear()
            self._turn_began = time.monotonic()
            try:
                with database_unit():
                    self._work()
            except Exception:
                logger.exception("%s failed; the next turn tries again", self.name)
            self._turn_began = None
            self._due.wait(self.every_s)
