"""The process's queue of hydrate and warm jobs: bounded, one per member or scope, failed ones again after a while."""

from __future__ import annotations

import heapq
import threading
from collections import deque
from dataclasses import dataclass
from enum import IntEnum

from .budgets import Budgets


class JobKind(IntEnum):
    HYDRATE = 0
    WARM = 1


@dataclass(frozen=True, slots=True, order=True)
class Job:
    workspace: int
    kind: JobKind
    subject: int
    """A member, or a scope."""


class JobQueue:
    """Bounded for the process and for each workspace. A job that does not fit is refused and counted by the caller."""

    def __init__(self, budgets: Budgets) -> None:
        self._budgets = budgets
        self._lock = threading.Lock()
        self._arrived = threading.Condition(self._lock)
        self._queued: deque[Job] = deque()
        self._since: dict[Job, float] = {}
        """Queued and waiting for another try."""
        self._running: dict[Job, float] = {}
        self._of_workspace: dict[int, int] = {}
        self._retries: list[tuple[float, Job]] = []
        self._closed = False

    def put(self, job: Job, now: float) -> bool:
        """Queue a job unless it is queued already; False where there is no room."""
        with self._lock:
            if job in self._since:
                return True
            budgets = self._budgets
            in_workspace = self._of_workspace.get(job.workspace, 0)
            if len(self._since) >= budgets.hydrate_queue_size or in_workspace >= budgets.workspace_hydrate_queue_size:
                return False
            self._add(job, now)
            self._queued.append(job)
            self._arrived.notify()
            return True

    def take(self, timeout_s: float | None = None) -> Job | None:
        """The next job, now running; None where there is none within the timeout (none given: at once)."""
        with self._lock:
            if not self._queued and timeout_s is not None and not self._closed:
                self._arrived.wait(timeout_s)
            if not self._queued:
                return None
            job = self._queued.popleft()
            since = self._since.pop(job)
            self._leave(job)
            self._running[job] = since
            return job

    def done(self, job: Job) -> None:
        with self._lock:
            self._running.pop(job, None)

    def failed(self, job: Job, retry_at: float) -> None:
        """Try again later. A retry has a place in the queue's bound like any other job."""
        with self._lock:
            since = self._running.pop(job, retry_at)
            if job not in self._since:
                self._add(job, since)
                heapq.heappush(self._retries, (retry_at, job))

    def retry(self, now: float) -> None:
        """Queue the failed jobs whose time has come."""
        with self._lock:
            while self._retries and self._retries[0][0] <= now:
                _, job = heapq.heappop(self._retries)
                if job in self._since:
                    self._queued.append(job)
                    self._arrived.notify()

    def forget(self, workspace: int) -> None:
        """The workspace is no longer owned."""
        with self._lock:
            gone = {job for job in self._since if job.workspace == workspace}
            self._queued = deque(job for job in self._queued if job not in gone)
            self._retries = [item for item in self._retries if item[1] not in gone]
            heapq.heapify(self._retries)
            for job in gone:
                del self._since[job]
            self._of_workspace.pop(workspace, None)

    def close(self) -> None:
        """Wake every taker; nothing waits any more."""
        with self._lock:
            self._closed = True
            self._arrived.notify_all()

    def __len__(self) -> int:
        return len(self._queued)

    @property
    def running(self) -> int:
        return len(self._running)

    @property
    def waiting(self) -> int:
        """Failed jobs that will be tried again."""
        return len(self._retries)

    def oldest(self) -> float | None:
        with self._lock:
            return min((*self._since.values(), *self._running.values()), default=None)

    def _add(self, job: Job, since: float) -> None:
        self._since[job] = since
        self._of_workspace[job.workspace] = self._of_workspace.get(job.workspace, 0) + 1

    def _leave(self, job: Job) -> None:
        left = self._of_workspace[job.workspace] - 1
        if left:
            self._of_workspace[job.workspace] = left
        else:
            del self._of_workspace[job.workspace]
