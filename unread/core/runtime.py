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
from .flush import FlushReport, Rest, flush_workspace, no_rest
from .housekeeping import look_at_gaps
from .job_steps import JobSteps
from .markers import level_changed, marker_cleared, marker_set
from .membership import membership_changed, scope_state_changed
from .ports import Clock, DeltaSink, Metrics, RosterStore, SnapshotStore
from .scope_events import scope_event
from .serving import Serving
from .states import CountState
from .stats import RuntimeStats, gather
from .task_steps import TaskSteps
from .tasks import hide_task, is_task
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


class UnreadRuntime(Serving, TaskSteps, JobSteps):
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
        super().__init__(
            snapshots=snapshots,
            rosters=rosters,
            sink=sink,
            metrics=metrics,
            clock=clock,
            settings=settings or RuntimeSettings(),
            budgets=budgets or Budgets(),
        )
        self._flushing = threading.Lock()
        self._workers = Workers(self, self.settings, self.budgets)

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

    def doubt(self, events: Sequence[Event]) -> None:
        """Nobody knows whether these were committed: their scopes are read again, which tells. Never raises."""
        try:
            for event in events:
                workspace = self._owned.get(event.workspace)
                if workspace is None:
                    continue
                self._metrics.count("doubtful_events")
                with workspace.lock:
                    number = workspace.scope(event.scope, event.parent)
                    if not workspace.closed and not is_task(workspace, number):
                        workspace.want_warm(workspace.turn(number))
                    left = workspace.leave()
                self._after(workspace, *left)
        except Exception:
            self._metrics.count("apply_errors")
            log.exception("doubtful unread events could not be looked at")

    def _degrade(self, workspace: Workspace, event: Event) -> None:
        """Nothing is sure about a scope whose event failed half-way: its counts are hidden until exact again."""
        try:
            number = workspace.scopes.numbers.get(event.scope)
            if number is None:
                return
            if is_task(workspace, number):
                hide_task(workspace, number)
                return
            live = workspace.turn(number)
            live.messages.own_log().raise_floor(max(live.messages.seen, live.messages.top))
            live.activities.own_log().raise_floor(max(live.activities.seen, live.activities.top))
            live.messages.own_log().distrust(live.rewinds.seen)
            with workspace.busy(live):
                demote(workspace, live, everyone, CountState.STALE)
        except Exception:
            log.exception("unread scope %x could not be degraded", event.scope)

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

    def flush_due(self, rest: Rest = no_rest) -> FlushReport:
        """As `flush`, but leave alone for a while what failed."""
        return self._flush(lambda workspace: self._clock.monotonic() >= workspace.flush_not_before, rest)

    def flush_failed(self, rest: Rest = no_rest) -> FlushReport:
        """Write what failed, where its delay has passed."""
        return self._flush(
            lambda workspace: workspace.flush_failures > 0 and self._clock.monotonic() >= workspace.flush_not_before,
            rest,
        )

    def _flush(self, which: Callable[[Workspace], bool], rest: Rest = no_rest) -> FlushReport:
        with self._flushing:
            report = FlushReport()
            for workspace in list(self._owned.values()):
                if which(workspace):
                    report += self._flush_one(workspace, rest)
            return report

    def _flush_one(self, workspace: Workspace, rest: Rest) -> FlushReport:
        started = self._clock.monotonic()
        try:
            report = flush_workspace(workspace, self._snapshots, self.settings.flush_batch_size, rest)
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
