"""What the runtime may use at most: the operator's settings and the internal budgets, validated when they are made."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any


def _require_positive(values: Any) -> None:
    for item in fields(values):
        value = getattr(values, item.name)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not value > 0:
            raise ValueError(f"{item.name} must be a positive number, not {value!r}")
        if item.type == "int" and not isinstance(value, int):
            raise ValueError(f"{item.name} must be a whole number, not {value!r}")


@dataclass(frozen=True, slots=True)
class RuntimeSettings:
    """What operators set. Raises ValueError where a value is not positive."""

    flush_interval: float = 30.0
    """Seconds between two flushes of dirty entries."""
    flush_batch_size: int = 1000
    """Rows of one upsert."""
    hydrate_max_concurrency: int = 2
    """Threads that run hydrate and warm jobs."""
    hydrate_batch_size: int = 100
    """Rows of one page read by a job."""

    def __post_init__(self) -> None:
        _require_positive(self)


@dataclass(frozen=True, slots=True)
class Budgets:
    """Internal bounds with their defaults. Raises ValueError where a value is not positive."""

    scope_log_size: int = 1024
    """Records that each of a scope's two logs keeps."""
    event_queue_size: int = 10_000
    """Pending and held events of the process."""
    scope_queue_size: int = 4_096
    """Pending and held events of one scope."""
    max_live_scopes: int = 2_048
    """Scopes of one workspace whose frontiers and logs are kept as objects; those of others are packed when at rest."""
    accounting_batch_size: int = 100_000
    """Entries accounted under one hold of a workspace's lock."""
    max_sync_accounting_members: int = 100_000
    """A scope with more entries than this is not accounted: its counts become hints."""
    max_early_seqs: int = 1_024
    """Accounted seqs past an open gap, for each stream; over it the gap counts as lost at once."""
    max_late_seqs: int = 4_096
    """Accounted seqs at or below the starting frontier, for each stream; over it later ones are dropped."""
    max_lost_seqs: int = 1_024
    """Lost seqs that may still come, for each stream."""
    max_kept_entries: int = 100_000
    """Entries of one workspace that hold kept events while their rows are not loaded."""
    max_forgotten_scopes: int = 100_000
    """Evicted scopes of one workspace whose roster generation is remembered."""
    gap_grace_s: float = 5.0
    """How long an event may be missing before it counts as lost."""
    hydrate_retry_s: float = 5.0
    """Wait before a failed load is tried again."""
    hydrate_queue_size: int = 10_000
    """Queued jobs of the process."""
    workspace_hydrate_queue_size: int = 5_000
    """Queued jobs of one workspace."""
    flush_retry_s: float = 1.0
    """First wait after a failed flush; doubles up to `flush_retry_max_s`."""
    flush_retry_max_s: float = 60.0
    flush_rest_max_s: float = 0.05
    """Longest pause of the flusher between two batches."""
    max_dirty_entries: int = 1_000_000
    """Dirty entries of the process past which writers are pushed back."""
    max_resident_entries: int = 10_000_000
    """Entries of the process past which inactive scopes are evicted."""
    evict_idle_s: float = 600.0
    """A scope that anything happened to within this time is not evicted."""
    evict_batch_size: int = 100
    """Scopes evicted in one tick."""
    max_delta_entries: int = 500
    """Entries of one delta; the rest follows in the next."""
    tick_s: float = 0.5
    """Between two rounds of housekeeping (gaps, retries, eviction)."""

    def __post_init__(self) -> None:
        _require_positive(self)
