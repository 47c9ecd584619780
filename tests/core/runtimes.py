"""Builds the runtime under test for a stage."""

from __future__ import annotations

from dataclasses import dataclass

from unread.core.budgets import Budgets, RuntimeSettings
from unread.core.ports import Clock, DeltaSink, Metrics, RosterStore, SnapshotStore
from unread.core.runtime import UnreadRuntime

GRACE_S = 2.0
RETRY_S = 5.0


@dataclass(frozen=True, slots=True)
class Config:
    members: int = 3
    busy_scopes: int = 4
    """How many of the scopes anything happens in."""
    log: int = 1000
    hydrate_batch: int = 100
    flush_batch: int = 1000
    accounting_batch: int = 500
    split: bool = False
    """Events of one commit may arrive apart."""
    cold_start: bool = False
    """Nothing of the first scopes is delivered when the history begins."""
    join_moves_cursor: bool = True
    crashes: bool = False
    lossy: bool = False

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
        budgets=Budgets(
            scope_log_size=config.log,
            accounting_batch_size=config.accounting_batch,
            gap_grace_s=GRACE_S,
            hydrate_retry_s=RETRY_S,
        ),
    )
