"""The runtime's threads: each named, watched and ended. What they do is the runtime's own single steps."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from .budgets import Budgets, RuntimeSettings

if TYPE_CHECKING:
    from .runtime import UnreadRuntime

log = logging.getLogger(__name__)


class Workers:
    def __init__(self, runtime: UnreadRuntime, settings: RuntimeSettings, budgets: Budgets) -> None:
        self._runtime = runtime
        self._settings = settings
        self._budgets = budgets
        self._stopping = threading.Event()
        self._threads: list[threading.Thread] = []

    def start(self) -> None:
        """Start every worker; does nothing when they run already."""
        if self._threads:
            return
        self._stopping.clear()
        tick, flush = self._budgets.tick_s, min(self._settings.flush_interval, self._budgets.flush_retry_s)
        self._threads = [
            self._thread("unread-housekeeping", lambda: self._every(tick, self._runtime.tick)),
            self._thread("unread-flusher", lambda: self._flusher(flush)),
            *(
                self._thread(f"unread-jobs-{number}", lambda: self._jobs(tick))
                for number in range(1, self._settings.hydrate_max_concurrency + 1)
            ),
        ]
        for thread in self._threads:
            thread.start()

    def stop(self, deadline_s: float) -> None:
        """End every worker after what it is doing; waits at most that long in all."""
        self._stopping.set()
        until = time.monotonic() + deadline_s
        for thread in self._threads:
            thread.join(max(0.0, until - time.monotonic()))
            if thread.is_alive():
                log.error("%s did not end in time", thread.name)
        self._threads = []

    def pause(self, seconds: float) -> None:
        """Wait between two tries while stopping."""
        threading.Event().wait(seconds)

    def dead(self) -> list[str]:
        return [thread.name for thread in self._threads if not thread.is_alive()]

    def _thread(self, name: str, work: Callable[[], None]) -> threading.Thread:
        return threading.Thread(target=work, name=name, daemon=True)

    def _every(self, seconds: float, step: Callable[[], object]) -> None:
        while not self._stopping.wait(seconds):
            self._guarded(step)

    def _flusher(self, retry_s: float) -> None:
        """Flush at every interval, and sooner when the backlog fills or what failed has waited for its delay."""
        next_flush = time.monotonic() + self._settings.flush_interval
        while not self._stopping.wait(retry_s):
            if time.monotonic() >= next_flush or self._runtime.filling():
                next_flush = time.monotonic() + self._settings.flush_interval
                self._guarded(lambda: self._runtime.flush_due(self._rest))
            else:
                self._guarded(lambda: self._runtime.flush_failed(self._rest))

    def _rest(self, spent_s: float) -> None:
        """Between two batches: as long again as the last one took, but not while the backlog fills or at the end."""
        if not self._runtime.filling():
            self._stopping.wait(min(spent_s, self._budgets.flush_rest_max_s))

    def _jobs(self, wait_s: float) -> None:
        while not self._stopping.is_set():
            self._guarded(lambda: self._runtime.run_one_job(wait_s))

    def _guarded(self, step: Callable[[], object]) -> None:
        """An error ends neither the worker nor its work; what it was doing is tried again in its turn."""
        try:
            step()
        except Exception:
            log.exception("%s failed", threading.current_thread().name)
