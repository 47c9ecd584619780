"""The process's one unread runtime: built when Django starts, without a thread and without SQL."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from uuid import UUID

from django.conf import settings

from conversations.ownership import Owner

from . import feed
from .core.budgets import Budgets, RuntimeSettings
from .core.runtime import UnreadRuntime
from .metrics import PrometheusMetrics
from .rosters import RosterTable
from .store import SnapshotTable

logger = logging.getLogger(__name__)


class MonotonicClock:
    def monotonic(self) -> float:
        return time.monotonic()


class DeltaRelay:
    """The runtime's sink before anybody listens, and a way to whoever listens then."""

    def __init__(self) -> None:
        self._listener: Callable[[int, Sequence[int]], None] | None = None

    def listen(self, listener: Callable[[int, Sequence[int]], None]) -> None:
        self._listener = listener

    def changed(self, workspace: int, members: Sequence[int]) -> None:
        if self._listener is not None:
            self._listener(workspace, members)


class UnreadApp:
    """The runtime with what surrounds it in this process."""

    def __init__(self) -> None:
        self.metrics = PrometheusMetrics()
        self.deltas = DeltaRelay()
        self.runtime = UnreadRuntime(
            snapshots=SnapshotTable(),
            rosters=RosterTable(),
            sink=self.deltas,
            metrics=self.metrics,
            clock=MonotonicClock(),
            settings=RuntimeSettings(
                flush_interval=settings.LOOPD_UNREAD_RUNTIME_SNAPSHOT_FLUSH_INTERVAL_S,
                flush_batch_size=settings.LOOPD_UNREAD_RUNTIME_SNAPSHOT_FLUSH_BATCH_SIZE,
                hydrate_max_concurrency=settings.LOOPD_UNREAD_RUNTIME_HYDRATE_MAX_CONCURRENCY,
                hydrate_batch_size=settings.LOOPD_UNREAD_RUNTIME_HYDRATE_BATCH_SIZE,
            ),
            budgets=Budgets(),
        )
        self.metrics.watch(self.runtime.stats)


class UnreadWorker:
    """The runtime's life in a serving process: it hears facts and owns what `owner` owns, from start to stop."""

    name = "unread-runtime"

    def __init__(self, app: UnreadApp, owner: Owner) -> None:
        self._runtime, self._owner = app.runtime, owner
        self._disconnect: Callable[[], None] | None = None

    def start(self) -> None:
        self._owner.on_owned(lambda workspace_id, epoch: self._runtime.own(workspace_id.int, epoch))
        self._owner.on_lost(lambda workspace_id, epoch: self._runtime.disown(workspace_id.int))
        for workspace_id, epoch in self._owner.held().items():
            self._runtime.own(workspace_id.int, epoch)
        self._disconnect = feed.connect(self._runtime)
        self._runtime.start()

    def stop(self, deadline_s: float) -> None:
        """Finish the warm jobs that events wait for, flush what is dirty, end the threads."""
        report = self._runtime.stop(deadline_s)
        if self._disconnect is not None:
            self._disconnect()
        level = logging.ERROR if report.failures else logging.INFO
        logger.log(level, "flushed %d rows at the end, with %d failures", report.rows, report.failures)

    def healthy(self) -> bool:
        return not self._runtime.healthy()


_app: UnreadApp | None = None
_building = threading.Lock()


def unread_app() -> UnreadApp:
    """The process's own; `UnreadConfig.ready` builds it."""
    global _app
    with _building:
        if _app is None:
            _app = UnreadApp()
        return _app


def runtime() -> UnreadRuntime:
    return unread_app().runtime


def hydrate(workspace_id: UUID, member_id: UUID) -> None:
    """Ask for a member's rows to be loaded; O(1), coalesced, and nothing where they are in or not ours."""
    runtime().request_hydrate(workspace_id.int, member_id.int)
