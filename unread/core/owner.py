"""Who owns what: the workspaces of this process, and what follows once the lock of one is let go."""

from __future__ import annotations

import logging
import threading

from .budgets import Budgets, RuntimeSettings
from .jobs import Job, JobKind, JobQueue
from .live import Warming
from .ports import Clock, DeltaSink, Metrics, RosterStore, SnapshotStore
from .totals import Totals
from .workspace import Workspace

log = logging.getLogger(__name__)


class Owner:
    """The workspaces that this process owns, each under the epoch of its lease."""

    def __init__(
        self,
        *,
        snapshots: SnapshotStore,
        rosters: RosterStore,
        sink: DeltaSink,
        metrics: Metrics,
        clock: Clock,
        settings: RuntimeSettings,
        budgets: Budgets,
    ) -> None:
        self.settings = settings
        self.budgets = budgets
        self._snapshots = snapshots
        self._rosters = rosters
        self._sink = sink
        self._metrics = metrics
        self._clock = clock
        self._totals = Totals()
        self._owned: dict[int, Workspace] = {}
        self._owning = threading.Lock()
        self._jobs = JobQueue(self.budgets)

    def own(self, workspace: int, epoch: int) -> None:
        """This process owns the workspace under a lease of that epoch; under a new epoch it starts from nothing."""
        with self._owning:
            known = self._owned.get(workspace)
            if known is not None and known.epoch == epoch:
                return
            self._owned[workspace] = Workspace(workspace, epoch, self.budgets, self._clock, self._metrics, self._totals)
        if known is not None:
            self._close(known)

    def disown(self, workspace: int) -> None:
        """The workspace is shown as unavailable from here on; what is not flushed is dropped."""
        with self._owning:
            known = self._owned.pop(workspace, None)
        if known is not None:
            self._jobs.forget(workspace)
            self._close(known)

    def owns(self, workspace: int) -> bool:
        return workspace in self._owned

    def _close(self, workspace: Workspace) -> None:
        with workspace.lock:
            workspace.close()

    def _finish(self, workspace: Workspace) -> None:
        with workspace.lock:
            workspace.cool()
            left = workspace.leave()
        self._after(workspace, *left)

    def _after(self, workspace: Workspace, changed: list[int], wanted: list[int]) -> None:
        """What follows once the lock is let go."""
        for scope in wanted:
            self._queue_warm(workspace, scope)
        if changed:
            try:
                self._sink.changed(workspace.id, changed)
            except Exception:
                self._metrics.count("sink_errors")
                log.exception("unread changes could not be announced")

    def _queue_warm(self, workspace: Workspace, scope: int) -> None:
        live = workspace.live.get(scope)
        if live is None or live.warming is not Warming.WANTED:
            return
        # Queued before the job is: a worker may run it at once, and what it notes then must stand.
        live.warming = Warming.QUEUED
        if not self._jobs.put(Job(workspace.id, JobKind.WARM, workspace.scopes.ids[scope]), self._clock.monotonic()):
            live.warming = Warming.WANTED
            self._metrics.count("refused_jobs")
