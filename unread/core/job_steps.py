"""Jobs, one at a time: rows of a member, rosters of a scope. Workers, tests and the last steps of a stop call them."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from . import hydrate, warm
from .jobs import Job, JobKind
from .live import Warming
from .owner import Owner

log = logging.getLogger(__name__)


class JobSteps(Owner):
    """The only steps that read the database."""

    def request_hydrate(self, workspace: int, member: int) -> None:
        """Have the member's pages loaded, once however many ask; nothing where they are in."""
        owned = self._owned.get(workspace)
        if owned is None:
            return
        number = owned.members.numbers.get(member)
        if number is not None and owned.members.is_loaded(number):
            return
        if not self._jobs.put(Job(workspace, JobKind.HYDRATE, member), self._clock.monotonic()):
            self._metrics.count("refused_jobs")

    def request_hydrate_page(self, workspace: int, member: int, scopes: Sequence[int]) -> None:
        """Have the rows of a page of scopes loaded. They are part of the member's pages, so those are requested."""
        del scopes
        self.request_hydrate(workspace, member)

    def hydrate_member(self, workspace: int, member: int) -> bool:
        """Load and publish the member's pages now; False if that is under way or the workspace is not owned.

        Raises what the store raises.
        """
        owned = self._owned.get(workspace)
        if owned is None:
            return False
        started = self._clock.monotonic()
        done = hydrate.hydrate_member(owned, member, self._snapshots, self.settings.hydrate_batch_size)
        self._metrics.observe("hydrate_seconds", self._clock.monotonic() - started)
        self._finish(owned)
        return done

    def hydrate_page(self, workspace: int, member: int, scopes: Sequence[int]) -> None:
        """Load the rows of these scopes now, without publishing the member. Raises what the store raises."""
        owned = self._owned.get(workspace)
        if owned is not None:
            hydrate.hydrate_page(owned, member, scopes, self._snapshots, self.settings.hydrate_batch_size)
            self._finish(owned)

    def warm_scope(self, workspace: int, scope: int) -> None:
        """Run the scope's warm job now, if one is wanted. Raises what the store raises."""
        owned = self._owned.get(workspace)
        if owned is None:
            return
        number = owned.scopes.numbers.get(scope)
        if number is not None:
            started = self._clock.monotonic()
            warm.warm_scope(owned, number, self._rosters, self.settings.hydrate_batch_size)
            self._metrics.observe("warm_seconds", self._clock.monotonic() - started)
            self._finish(owned)

    def has_jobs(self) -> bool:
        """Whether a hydrate or warm job is queued (not those that failed and wait for their next try)."""
        return len(self._jobs) > 0

    def run_one_job(self, timeout_s: float | None = None) -> bool:
        """Run the next job, waiting for one at most that long; False where there was none."""
        job = self._jobs.take(timeout_s)
        if job is None:
            return False
        try:
            if job.kind is JobKind.HYDRATE:
                self.hydrate_member(job.workspace, job.subject)
            else:
                self.warm_scope(job.workspace, job.subject)
        except Exception:
            self._metrics.count("job_failures")
            log.exception("unread job of %s failed and will be tried again", job.kind.name.lower())
            self._note_failure(job)
            self._jobs.failed(job, self._clock.monotonic() + self.budgets.hydrate_retry_s)
        else:
            self._jobs.done(job)
        return True

    def _note_failure(self, job: Job) -> None:
        """A failed warm job counts as queued until its next try."""
        owned = self._owned.get(job.workspace)
        if owned is None or job.kind is not JobKind.WARM:
            return
        with owned.lock:
            number = owned.scopes.numbers.get(job.subject)
            live = None if number is None else owned.live.get(number)
            if live is not None and live.warming is Warming.IDLE:
                live.warming = Warming.QUEUED
