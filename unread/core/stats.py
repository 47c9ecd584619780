"""Numbers about the runtime for `/metrics` and the health page, gathered without stopping anybody."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from .columns import NO_ROW
from .jobs import JobQueue
from .states import CountState
from .workspace import Workspace


@dataclass(frozen=True, slots=True)
class RuntimeStats:
    """Gauges of one moment, over all owned workspaces; ages in seconds, 0 where nothing is waiting."""

    workspaces: int
    members: int
    watched_members: int
    scopes: int
    live_scopes: int
    """Scopes whose frontiers and logs are kept as objects, not packed."""
    entries: int
    ready_entries: int
    snapshot_serving_entries: int
    hydrating_entries: int
    stale_entries: int
    snapshot_serving_age_s: float
    """How long some workspace has had hints among its entries at every look; as fine as the looks are frequent."""
    kept_entries: int
    """Entries that hold events for rows which are not loaded."""
    waiting_events: int
    """Pending for a roster, or held for their turn."""
    scopes_with_gaps: int
    dirty_entries: int
    flying_entries: int
    dirty_age_s: float
    failing_flushes: int
    """Workspaces whose last flush failed."""
    jobs_queued: int
    jobs_running: int
    jobs_to_retry: int
    job_age_s: float
    evicted_scopes: int
    memory_bytes: int
    """Columns, indexes and logs."""


def gather(workspaces: Iterable[Workspace], jobs: JobQueue, now: float) -> RuntimeStats:
    owned = list(workspaces)
    states = np.zeros(len(CountState), dtype=np.int64)
    dirty_since: list[float] = []
    live_bytes = 0
    for workspace in owned:
        columns = workspace.columns
        used = columns.used
        in_use = columns.member[:used] != NO_ROW
        found = np.bincount(columns.state[:used][in_use], minlength=len(CountState))[: len(CountState)]
        states += found
        if not found[CountState.SNAPSHOT_SERVING]:
            workspace.serving_since = None
        elif workspace.serving_since is None:
            workspace.serving_since = now
        dirty_since += list(workspace.dirty.values())
        live_bytes += sum(live.nbytes for live in list(workspace.live.values()))
        live_bytes += sum(len(packed) + 100 for packed in list(workspace.resting.values()))
    oldest_job = jobs.oldest()
    return RuntimeStats(
        workspaces=len(owned),
        members=sum(len(each.members) for each in owned),
        watched_members=sum(len(each.watches) for each in owned),
        scopes=sum(len(each.scopes) for each in owned),
        live_scopes=sum(len(each.live) for each in owned),
        entries=sum(each.entries for each in owned),
        ready_entries=int(states[CountState.READY]),
        snapshot_serving_entries=int(states[CountState.SNAPSHOT_SERVING]),
        hydrating_entries=int(states[CountState.HYDRATING]),
        stale_entries=int(states[CountState.STALE]),
        snapshot_serving_age_s=max(
            (now - since for each in owned if (since := each.serving_since) is not None), default=0.0
        ),
        kept_entries=sum(each.kept for each in owned),
        waiting_events=sum(each.waiting for each in owned),
        scopes_with_gaps=sum(len(each.open_gaps) for each in owned),
        dirty_entries=sum(each.dirty_entries for each in owned),
        flying_entries=sum(each.flying_entries for each in owned),
        dirty_age_s=max((now - since for since in dirty_since), default=0.0),
        failing_flushes=sum(each.flush_failures > 0 for each in owned),
        jobs_queued=len(jobs),
        jobs_running=jobs.running,
        jobs_to_retry=jobs.waiting,
        job_age_s=0.0 if oldest_job is None else max(0.0, now - oldest_job),
        evicted_scopes=sum(each.evictions for each in owned),
        memory_bytes=live_bytes
        + sum(each.columns.nbytes + each.members.nbytes + each.scopes.nbytes + each.places.nbytes for each in owned),
    )
