"""The unread runtime: committed facts in, red dots and badges out, from memory alone.

Why the simple way fails. Counting in the database makes every refresh, heartbeat and reconnect pay for all unread
messages of all scopes; a table of counters moves the same cost to every write and adds one more thing to keep right.
Counting in memory with one object per member and scope makes a message to a large channel a loop over a hundred
thousand objects, and the collector walks ten million of them. And events do not come as they were committed: hooks
of two transactions race, retries publish again, a process starts in the middle of history.

The algorithm. Entries (member, scope) are rows of numpy columns; a scope owns a contiguous slice (`columns`), so that
one event is a handful of vectorised steps (`accounting`). Each scope has two streams of seqs (`stream`): a contiguous
frontier, which says that nothing before it is missing, and small sets around it, which make accounting idempotent in
any order. Each entry has a base, counts that contain every seq up to its own frontier: a snapshot row, rows read in
one transaction, or nothing at all. An entry counts its base and what was accounted here past it. Everything about a
member (membership, cursors, marker, level) is ordered by the generation of its own row, and a log per stream
(`log`) makes counts exact again after any read that it reaches back to (`recount`).

The races, and how each is closed:

- *A message overtakes the join it must count for.* It carries the roster generation of its commit and waits until the
  roster is complete up to there (`roster`, `scope_events`).
- *Two messages, two hooks, the wrong way round.* Early seqs are accounted at once and remembered until the gap closes.
- *A hook runs after the warm job has read the scope as history.* Seqs at or below the starting frontier are accounted
  all the same, for each entry only past its own base.
- *A removal overtakes its message, or another change of it.* Changes are applied in the order of rewind generations;
  what a message was changed into is kept until it comes; the log knows which facts were counted.
- *A row is read before an event and arrives after it.* Rows and events meet by generation, counts by frontier
  (`loading`). Events for entries whose rows are not in are kept in the entry itself.
- *A read arrives before the messages that it read.* The cursor decides when they are accounted.
- *A page reads evidence while events run.* The member's version is noted first; what changed since is left alone.
- *A row is flushed while its entry moves on.* It is dirty again; rows replace one another only upwards.
- *A scope is evicted while a job reads its old rows.* The job reads that page again.
- *An event is accounted in batches and a recount comes between.* The scope knows how far the event has got.

The inaccuracies accepted, all of them labelled: after a restart counts are hints until something makes them exact; a
partial read that the log does not reach bounds the count from above; a lost event, or one over a budget, makes hints
of the entries it could concern; a change that nothing can bound hides the count. No path ever counts in the database.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from . import hydrate, views, warm
from .accounting import demote, everyone
from .budgets import Budgets, RuntimeSettings
from .cursors import cursor_moved
from .ending import finish_entries, finish_rosters
from .events import (
    ActivityReadCursorAdvanced,
    Event,
    ManualUnreadCleared,
    ManualUnreadSet,
    MembershipChanged,
    MessageMentionsChanged,
    MessageRewound,
    MessagesChanged,
    MessageStored,
    MessageVisibilityChanged,
    NonMessageActivityStored,
    NotificationPolicyChanged,
    ReadCursorAdvanced,
    ScopeStateChanged,
)
from .eviction import evict_idle, evict_scope
from .evidence import observe
from .flush import FlushReport, flush_workspace
from .housekeeping import look_at_gaps
from .jobs import Job, JobKind, JobQueue
from .live import Warming
from .markers import level_changed, marker_cleared, marker_set
from .membership import membership_changed, scope_state_changed
from .ports import Clock, DeltaSink, Metrics, RosterStore, ScopeEvidence, SnapshotStore
from .scope_events import scope_event
from .states import CountState, MemberDelta, MemberUnread, Shown
from .stats import RuntimeStats, gather
from .totals import Totals
from .watching import unwatch, watch
from .workers import Workers
from .workspace import Workspace

log = logging.getLogger(__name__)

_HANDLERS: dict[type[Event], Callable[[Workspace, Any], None]] = {
    MessageStored: scope_event,
    NonMessageActivityStored: scope_event,
    MessagesChanged: scope_event,
    MessageRewound: scope_event,
    MessageVisibilityChanged: scope_event,
    MessageMentionsChanged: scope_event,
    ReadCursorAdvanced: cursor_moved,
    ActivityReadCursorAdvanced: cursor_moved,
    ManualUnreadSet: marker_set,
    ManualUnreadCleared: marker_cleared,
    NotificationPolicyChanged: level_changed,
    MembershipChanged: membership_changed,
    ScopeStateChanged: scope_state_changed,
}


class UnreadRuntime:
    """One for the process. Every method may be called from any thread; none reads the database but the job steps."""

    def __init__(
        self,
        *,
        snapshots: SnapshotStore,
        rosters: RosterStore,
        sink: DeltaSink,
        metrics: Metrics,
        clock: Clock,
        settings: RuntimeSettings | None = None,
        budgets: Budgets | None = None,
    ) -> None:
        self.settings = settings or RuntimeSettings()
        self.budgets = budgets or Budgets()
        self._snapshots = snapshots
        self._rosters = rosters
        self._sink = sink
        self._metrics = metrics
        self._clock = clock
        self._totals = Totals()
        self._owned: dict[int, Workspace] = {}
        self._owning = threading.Lock()
        self._jobs = JobQueue(self.budgets)
        self._flushing = threading.Lock()
        self._workers = Workers(self, self.settings, self.budgets)

    # Ownership

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

    # Events

    def apply(self, events: Sequence[Event]) -> None:
        """Apply a batch of committed facts, together where they are of one workspace. Never raises."""
        try:
            first = 0
            while first < len(events):
                last = first + 1
                while last < len(events) and events[last].workspace == events[first].workspace:
                    last += 1
                self._apply_to(events[first].workspace, events[first:last])
                first = last
        except Exception:
            self._metrics.count("apply_errors")
            log.exception("unread events could not be applied")

    def _apply_to(self, identity: int, events: Sequence[Event]) -> None:
        workspace = self._owned.get(identity)
        if workspace is None:
            self._metrics.count("unowned_events", len(events))
            return
        with workspace.lock:
            for event in events:
                if workspace.closed:
                    break
                try:
                    _HANDLERS[type(event)](workspace, event)
                except Exception:
                    self._metrics.count("apply_errors")
                    log.exception("unread event of scope %x could not be applied", event.scope)
                    self._degrade(workspace, event)
            workspace.cool()
            left = workspace.leave()
        self._after(workspace, *left)

    def _degrade(self, workspace: Workspace, event: Event) -> None:
        """Nothing is sure about a scope whose event failed half-way: its counts are hidden until exact again."""
        try:
            number = workspace.scopes.numbers.get(event.scope)
            if number is None:
                return
            live = workspace.turn(number)
            live.messages.own_log().raise_floor(max(live.messages.seen, live.messages.top))
            live.activities.own_log().raise_floor(max(live.activities.seen, live.activities.top))
            live.messages.own_log().distrust(live.rewinds.seen)
            with workspace.busy(live):
                demote(workspace, live, everyone, CountState.STALE)
        except Exception:
            log.exception("unread scope %x could not be degraded", event.scope)

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
        if self._jobs.put(Job(workspace.id, JobKind.WARM, workspace.scopes.ids[scope]), self._clock.monotonic()):
            live.warming = Warming.QUEUED
        else:
            self._metrics.count("refused_jobs")

    # Reads

    def has_unread(self, workspace: int, member: int) -> bool:
        """The red dot. Takes no lock and enqueues nothing; False while the member's pages are not in."""
        owned = self._owned.get(workspace)
        if owned is None:
            return False
        members = owned.members
        number = members.numbers.get(member)
        return number is not None and members.lit_view[number] > 0

    def member_unread(self, workspace: int, member: int, scopes: Sequence[int] | None = None) -> MemberUnread:
        """What a member is shown, from memory; with `scopes` only their counts. Enqueues nothing."""
        owned = self._owned.get(workspace)
        if owned is None:
            return views.UNAVAILABLE
        with owned.lock:
            view = views.UNAVAILABLE if owned.closed else views.member_unread(owned, member, scopes)
        if view.state == "hydrating":
            self._metrics.count("suppressed_responses")
        return view

    def shown(self, workspace: int, member: int, scope: int) -> Shown | None:
        """One entry with its state, also where it shows nothing; None where memory has no such entry."""
        owned = self._owned.get(workspace)
        if owned is None:
            return None
        with owned.lock:
            return views.shown_of(owned, member, scope)

    def member_version(self, workspace: int, member: int) -> int:
        """To be noted before a query whose result goes to `observe`."""
        owned = self._owned.get(workspace)
        return 0 if owned is None else owned.version

    def observe(
        self, workspace: int, member: int, noted_version: int, evidence: Sequence[ScopeEvidence], complete: bool
    ) -> None:
        """What a page read of the member's scopes for its own purpose; it may only lower or hide."""
        owned = self._owned.get(workspace)
        if owned is None:
            return
        with owned.lock:
            number = owned.members.numbers.get(member)
            if owned.closed or number is None:
                return
            observe(owned, number, noted_version, evidence, complete=complete)
            left = owned.leave()
        self._after(owned, *left)

    # Sockets

    def watch(self, workspace: int, member: int) -> None:
        """A socket of the member opened; while any is open, changes are collected for it."""
        owned = self._owned.get(workspace)
        if owned is not None:
            with owned.lock:
                watch(owned, member)

    def unwatch(self, workspace: int, member: int) -> None:
        owned = self._owned.get(workspace)
        if owned is not None:
            with owned.lock:
                unwatch(owned, member)

    def take_delta(self, workspace: int, member: int) -> MemberDelta | None:
        """The latest state of what changed since the last delta or snapshot; None if there is nothing to tell.

        Where more changed than fits one delta, the sink is told that there is more.
        """
        owned = self._owned.get(workspace)
        if owned is None:
            return None
        with owned.lock:
            number = owned.members.numbers.get(member)
            watched = None if number is None else owned.watches.get(number)
            if watched is None or owned.closed:
                return None
            delta = views.take_delta(owned, member, watched)
            more = delta is not None and delta.unread.version < owned.version and views.has_more(owned, member, watched)
        if more:
            self._after(owned, [member], [])
        return delta

    def snapshot(self, workspace: int, member: int) -> MemberUnread:
        """The whole view, after which deltas go on from its version."""
        owned = self._owned.get(workspace)
        if owned is None:
            return views.UNAVAILABLE
        with owned.lock:
            if owned.closed:
                return views.UNAVAILABLE
            number = owned.members.numbers.get(member)
            return views.snapshot(owned, member, None if number is None else owned.watches.get(number))

    # Hydration

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
            self._jobs.failed(job, self._clock.monotonic() + self.budgets.hydrate_retry_s)
            self._job_failed(job)
        else:
            self._jobs.done(job)
        return True

    def _job_failed(self, job: Job) -> None:
        owned = self._owned.get(job.workspace)
        if owned is None or job.kind is not JobKind.WARM:
            return
        with owned.lock:
            number = owned.scopes.numbers.get(job.subject)
            live = None if number is None else owned.live.get(number)
            if live is not None and live.warming is Warming.IDLE:
                live.warming = Warming.QUEUED

    def _finish(self, workspace: Workspace) -> None:
        with workspace.lock:
            workspace.cool()
            left = workspace.leave()
        self._after(workspace, *left)

    # Housekeeping and flushing

    def tick(self) -> None:
        """One round: retries whose time has come, gaps past their grace, eviction over the memory budget."""
        self._jobs.retry(self._clock.monotonic())
        for workspace in list(self._owned.values()):
            with workspace.lock:
                if not workspace.closed:
                    look_at_gaps(workspace)
                left = workspace.leave()
            self._after(workspace, *left)
        self._evict()

    def evict(self, workspace: int, scope: int) -> bool:
        """Evict one scope if it is inactive and nothing of it would be lost; answers whether it went."""
        owned = self._owned.get(workspace)
        if owned is None:
            return False
        with owned.lock:
            number = owned.scopes.numbers.get(scope)
            return number is not None and not owned.closed and evict_scope(owned, number)

    def _evict(self) -> None:
        over = self._totals.entries - self.budgets.max_resident_entries
        for workspace in list(self._owned.values()):
            if over <= 0:
                return
            over -= evict_idle(workspace, self.budgets.evict_batch_size)

    def overloaded(self, workspace: int) -> bool:
        """Whether writers of the workspace are to be pushed back (503): rows pile up faster than they are written."""
        return workspace in self._owned and self._totals.backlog > self.budgets.max_dirty_entries

    def filling(self) -> bool:
        """Whether half of the backlog budget is used: time for a flush between two intervals."""
        return self._totals.backlog * 2 > self.budgets.max_dirty_entries

    def flush(self) -> FlushReport:
        """Write what is dirty, of every workspace. One that fails keeps its rows dirty and delays nobody else."""
        return self._flush(lambda workspace: True)

    def flush_due(self) -> FlushReport:
        """As `flush`, but leave alone for a while what failed."""
        return self._flush(lambda workspace: self._clock.monotonic() >= workspace.flush_not_before)

    def flush_failed(self) -> FlushReport:
        """Write what failed, where its delay has passed."""
        return self._flush(
            lambda workspace: workspace.flush_failures > 0 and self._clock.monotonic() >= workspace.flush_not_before
        )

    def _flush(self, which: Callable[[Workspace], bool]) -> FlushReport:
        with self._flushing:
            report = FlushReport()
            for workspace in list(self._owned.values()):
                if which(workspace):
                    report += self._flush_one(workspace)
            return report

    def _flush_one(self, workspace: Workspace) -> FlushReport:
        started = self._clock.monotonic()
        try:
            report = flush_workspace(workspace, self._snapshots, self.settings.flush_batch_size)
        except Exception:
            self._metrics.count("flush_failures")
            log.exception("unread rows of workspace %x could not be written and stay dirty", workspace.id)
            delay = min(self.budgets.flush_retry_s * 2**workspace.flush_failures, self.budgets.flush_retry_max_s)
            workspace.flush_failures = min(workspace.flush_failures + 1, 30)
            workspace.flush_not_before = self._clock.monotonic() + delay
            return FlushReport(failures=1)
        workspace.flush_failures, workspace.flush_not_before = 0, 0.0
        self._metrics.observe("flush_seconds", self._clock.monotonic() - started)
        self._metrics.count("flushed_rows", report.rows)
        return report

    # Life

    def start(self) -> None:
        """Start the workers: flusher, housekeeping, jobs. The runtime also works without them, step by step."""
        self._workers.start()

    def stop(self, deadline_s: float) -> FlushReport:
        """End gracefully; each step has a quarter of the deadline. No event may come any more.

        Rosters that events wait for are read, entries that keep events get their rows, what is missing is given up, the
        workers end, and everything is written. What a step does not manage stays as honest as a crash would leave it.
        """
        step = deadline_s / 4
        self._workers.stop(step)
        owned = list(self._owned.values())
        finish_rosters(owned, self.warm_scope, step)
        finish_entries(owned, self.hydrate_page, step)
        for workspace in owned:
            with workspace.lock:
                look_at_gaps(workspace, grace_s=0.0)
        return self._flush_all(step)

    def healthy(self) -> list[str]:
        """Names of the workers that should run and do not."""
        return self._workers.dead()

    def stats(self) -> RuntimeStats:
        return gather(list(self._owned.values()), self._jobs, self._clock.monotonic())

    def _flush_all(self, deadline_s: float) -> FlushReport:
        until = time.monotonic() + deadline_s
        report = self.flush()
        while report.failures and time.monotonic() < until:
            self._workers.pause(min(self.budgets.flush_retry_s, max(until - time.monotonic(), 0.0)))
            again = self.flush()
            report = FlushReport(report.rows + again.rows, report.batches + again.batches, again.failures)
        return report
