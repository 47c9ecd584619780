"""One workspace on a stage: durable facts, a runtime, and everything that may come between a commit and its effect.

A commit puts its events into a parcel; when, how often and in which order parcels reach the runtime is the history's
choice. Jobs, flushes and reads run one at a time on the caller's thread, and `between` lets a history slip its own
steps into the middle of a store call, where other threads would run.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field

from unread.core.ports import ScopeHeader
from unread.core.runtime import UnreadRuntime
from unread.core.testing import CountingMetrics, ManualClock, RecordingSink

from .fact_stores import FactRosterStore, FactSnapshotStore, StoreDown
from .facts import WORKSPACE, Batch, Facts
from .runtimes import GRACE_S, RETRY_S, Config, build_runtime, call_between_batches, would_wait
from .trust import Trust

REPEATABLE_PARCELS = 40
JOBS_BOUND = 400


@dataclass(slots=True)
class Parcel:
    number: int
    events: Batch


@dataclass(slots=True)
class Stage:
    config: Config
    facts: Facts = field(init=False)
    snapshots: FactSnapshotStore = field(init=False)
    rosters: FactRosterStore = field(init=False)
    trust: Trust = field(init=False)
    runtime: UnreadRuntime = field(init=False)
    clock: ManualClock = field(default_factory=ManualClock)
    sink: RecordingSink = field(default_factory=RecordingSink)
    metrics: CountingMetrics = field(default_factory=CountingMetrics)
    epoch: int = 0
    waiting: list[Parcel] = field(default_factory=list)
    missing: list[Parcel] = field(default_factory=list)
    """Parcels whose hook never ran, so far."""
    repeatable: list[Parcel] = field(default_factory=list)
    flushed_at: int = 0
    """The last commit that a flush has covered with everything delivered before it."""
    upserts_to_fail: int = 0
    loads_to_fail: int = 0
    asides: list[tuple[int, Callable[[], None]]] = field(default_factory=list)
    """Steps to slip in: after so many more points in store calls, what to do."""
    flushing: bool = False
    ghost: UnreadRuntime | None = None
    """The runtime of a life that crashed, which may not have noticed."""
    unsettled: set[int] = field(default_factory=set)
    """Scopes that events were in flight of when the last flush began, or came to be since."""
    in_batches: int = 0
    """Events under way that have let the lock go."""
    busy: int = 0
    """How many jobs and flushes are under way; what ends a life has to wait for them."""
    _numbers: itertools.count[int] = field(default_factory=lambda: itertools.count(1))
    last_commit: int = 0

    def __post_init__(self) -> None:
        config = self.config
        self.facts = Facts(config.members, join_moves_cursor=config.join_moves_cursor)
        self.snapshots = FactSnapshotStore(self.facts)
        self.rosters = FactRosterStore(self.facts, self.snapshots)
        self.snapshots.between = self.rosters.between = self._between
        self.rosters.header_read = self._header_read
        self.trust = Trust(self.facts.tables, long_log=config.long_log, tight=bool(config.tight))
        self.start_life()

    # Commits and deliveries

    def commit(self, events: Batch) -> None:
        parcels = [(event,) for event in events] if self.config.split else [events]
        for each in parcels:
            if each:
                self.last_commit = next(self._numbers)
                self.trust.committed(each, self.last_commit)
                self.unsettled |= {event.scope for event in each}
                self.waiting.append(Parcel(self.last_commit, each))

    def deliver(self, which: int) -> None:
        if self.waiting:
            parcel = self.waiting[which % len(self.waiting)]
            if self._would_wait(parcel):
                return
            self.waiting.remove(parcel)
            self._apply(parcel, first=True)
            self.repeatable = [*self.repeatable[1 - REPEATABLE_PARCELS :], parcel]

    def deliver_all(self) -> None:
        for parcel in list(self.waiting):
            if parcel in self.waiting:
                self.deliver(self.waiting.index(parcel))

    def deliver_again(self, which: int) -> None:
        if self.repeatable:
            parcel = self.repeatable[which % len(self.repeatable)]
            if not self._would_wait(parcel):
                self._apply(parcel, first=False)

    def lose(self, which: int) -> None:
        """The hook of a commit does not run; only commits that carry a sequence can be noticed missing."""
        if self.waiting:
            parcel = self.waiting[which % len(self.waiting)]
            if self.trust.noticeable(parcel.events):
                self.waiting.remove(parcel)
                self.missing.append(parcel)
                self.trust.missing += parcel.events

    def find(self, which: int) -> None:
        """The hook runs after all, long after the others."""
        if self.missing:
            parcel = self.missing.pop(which % len(self.missing))
            for event in parcel.events:
                self.trust.missing.remove(event)
            self.waiting.append(parcel)

    def _would_wait(self, parcel: Parcel) -> bool:
        return self.in_batches > 0 and any(would_wait(self.runtime, event) for event in parcel.events)

    def _apply(self, parcel: Parcel, *, first: bool) -> None:
        for event in parcel.events:
            self.trust.delivered(event, first)
        self.runtime.apply(parcel.events)

    # Jobs, flushes, time

    def job(self) -> bool:
        if self.in_batches:
            return False
        return self.runtime.run_one_job()

    def jobs(self) -> None:
        for _ in range(JOBS_BOUND):
            if not self.job():
                return
        raise AssertionError("the jobs never end")

    def flush(self) -> None:
        """Flushes take turns with each other and with events: inside of those there is nothing to do but wait."""
        if self.flushing or self.in_batches:
            return
        covers = self.rested and not self.upserts_to_fail
        self.unsettled = {scope for scope in self.facts.tables.scopes if self.in_flight(scope)}
        self.flushing = True
        try:
            self.runtime.flush()
        finally:
            self.flushing = False
        if covers:
            self.flushed_at = self.last_commit

    def wait(self, seconds: float) -> None:
        self.clock.advance(seconds)
        if seconds >= GRACE_S:
            for parcel in (*self.waiting, *self.missing):
                for event in parcel.events:
                    self.trust.scope(event.scope).late = True
        self.runtime.tick()

    @property
    def rested(self) -> bool:
        """Everything that will be delivered is, and no job waits or runs."""
        return not (
            self.waiting or self.missing or self.asides or self.busy or self.in_batches or self.runtime.has_jobs()
        )

    def quiet(self, scope: int) -> bool:
        """Nothing that could still change what is shown of this scope is on its way."""
        if self.busy or self.in_batches or self.runtime.has_jobs() or self.in_flight(scope):
            return False
        return not self.runtime.stats().jobs_to_retry

    def in_flight(self, scope: int) -> bool:
        """Events of the scope or its parent are committed and not delivered."""
        places = (scope, self.facts.tables.scopes[scope].parent)
        return any(event.scope in places for parcel in (*self.waiting, *self.missing) for event in parcel.events)

    def settle(self) -> None:
        """Deliver everything, run every job, let retries and graces run out."""
        self.asides.clear()
        self.upserts_to_fail = self.loads_to_fail = 0
        while self.waiting:
            self.deliver_all()
        for _ in range(3):
            for member in self.facts.members:
                self.runtime.request_hydrate(WORKSPACE, member)
                self.jobs()
            self.wait(RETRY_S + GRACE_S)
            self.jobs()

    # Lives

    def start_life(self) -> None:
        self.epoch += 1
        self.waiting.clear()
        self.missing.clear()
        self.repeatable.clear()
        self.runtime = build_runtime(self.config, self.snapshots, self.rosters, self.sink, self.metrics, self.clock)
        self.runtime.own(WORKSPACE, self.epoch)
        if not self.config.threaded:
            call_between_batches(self.runtime, WORKSPACE, self._breathing)

    def restart(self) -> None:
        self.asides.clear()
        self.upserts_to_fail = self.loads_to_fail = 0
        self.deliver_all()
        self.runtime.stop(deadline_s=10.0)
        self.trust.life_ended(flushed_at=None)
        self.flushed_at = self.last_commit
        self.start_life()

    def crash(self) -> None:
        self.asides.clear()
        self.upserts_to_fail = self.loads_to_fail = 0
        self.trust.life_ended(flushed_at=self.flushed_at)
        self.ghost = self.runtime
        self.start_life()

    def haunt(self) -> None:
        if self.ghost is not None and not self.flushing:
            self.flushing = True
            try:
                self.ghost.flush()
            finally:
                self.flushing = False
            self.snapshots.written.clear()
            self.trust.haunted()

    def _header_read(self, header: ScopeHeader) -> None:
        self.trust.header_read(header.scope, header.latest_seq, header.latest_activity_seq)

    # The middle of store calls

    def _breathing(self) -> None:
        self.in_batches += 1
        try:
            self._between("batch")
        finally:
            self.in_batches -= 1

    def _between(self, point: str) -> None:
        due = [aside for countdown, aside in self.asides if countdown <= 0]
        self.asides = [(countdown - 1, aside) for countdown, aside in self.asides if countdown > 0]
        for aside in due:
            aside()
        if point.startswith("upsert") and self.upserts_to_fail:
            self.upserts_to_fail -= 1
            raise StoreDown(point)
        if point in ("header", "page", "hydrate") and self.loads_to_fail:
            self.loads_to_fail -= 1
            raise StoreDown(point)
