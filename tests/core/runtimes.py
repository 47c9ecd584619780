"""Builds the runtime under test for a stage, and finds the places where it lets other threads in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from unread.core.budgets import Budgets, RuntimeSettings
from unread.core.events import (
    Event,
    MembershipChanged,
    MessagesChanged,
    MessageStored,
    NonMessageActivityStored,
    ScopeStateChanged,
)
from unread.core.ports import Clock, DeltaSink, Metrics, RosterStore, SnapshotStore
from unread.core.runtime import UnreadRuntime

GRACE_S = 2.0
RETRY_S = 5.0


TIGHTENED = (
    "max_early_seqs",
    "max_late_seqs",
    "max_lost_seqs",
    "scope_queue_size",
    "event_queue_size",
    "max_kept_entries",
    "max_sync_accounting_members",
    "hydrate_queue_size",
    "workspace_hydrate_queue_size",
    "max_resident_entries",
    "evict_idle_s",
)
"""Budgets that a history may set to 1. Not `max_forgotten_scopes`: past it, old events pass for new ones."""


@dataclass(frozen=True, slots=True)
class Config:
    members: int = 3
    busy_scopes: int = 4
    """How many of the scopes anything happens in."""
    with_thread: bool = False
    """The second scope is a thread of the first."""
    log: int = 1000
    hydrate_batch: int = 100
    flush_batch: int = 1000
    accounting_batch: int = 500
    delta_entries: int = 500
    split: bool = False
    """Events of one commit may arrive apart."""
    cold_start: bool = False
    """Nothing of the first scopes is delivered when the history begins."""
    join_moves_cursor: bool = True
    crashes: bool = False
    lossy: bool = False
    seeded: bool = False
    """The first scopes and their messages are from before any runtime: nothing was ever delivered or flushed."""
    live_scopes: int = 2048
    """Scopes that may stay unpacked."""
    tight: tuple[str, ...] = ()
    """Budgets that are 1, so that any of them is soon exceeded."""
    threaded: bool = False
    """Several threads play, so that nothing may be slipped in between two batches of one event."""

    @property
    def long_log(self) -> bool:
        return self.log >= 1000


def build_runtime(
    config: Config,
    snapshots: SnapshotStore,
    rosters: RosterStore,
    sink: DeltaSink,
    metrics: Metrics,
    clock: Clock,
) -> UnreadRuntime:
    return UnreadRuntime(
        snapshots=snapshots,
        rosters=rosters,
        sink=sink,
        metrics=metrics,
        clock=clock,
        settings=RuntimeSettings(flush_batch_size=config.flush_batch, hydrate_batch_size=config.hydrate_batch),
        budgets=replace(
            Budgets(
                scope_log_size=config.log,
                accounting_batch_size=config.accounting_batch,
                max_delta_entries=config.delta_entries,
                max_live_scopes=config.live_scopes,
                gap_grace_s=GRACE_S,
                hydrate_retry_s=RETRY_S,
            ),
            **dict.fromkeys(config.tight, 1),  # type: ignore[arg-type]
        ),
    )


def call_between_batches(runtime: UnreadRuntime, workspace: int, breathing: Callable[[], None]) -> None:
    """Have `breathing` called where the runtime lets its lock go in the middle of an event."""
    owned = runtime._owned[workspace]

    def breathe() -> None:
        owned.lock.release()
        try:
            breathing()
        finally:
            owned.lock.acquire()

    owned.breathe = breathe  # type: ignore[method-assign]


def would_wait(runtime: UnreadRuntime, event: Event) -> bool:
    """Whether a thread that applied this event now would wait for another one to be done with the event's scope."""
    owned = runtime._owned[event.workspace]
    number = owned.scopes.numbers.get(event.scope)
    live = None if number is None else owned.live.get(number)
    if live is None or not live.busy:
        return False
    if isinstance(event, (MembershipChanged, ScopeStateChanged)):
        return bool(live.pending)
    return isinstance(event, (MessageStored, NonMessageActivityStored, MessagesChanged))
