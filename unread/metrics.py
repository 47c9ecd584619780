"""The runtime's counters, durations and gauges as Prometheus reads them; see `docs/operations.md` for each."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator

from prometheus_client import Counter, Histogram
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import REGISTRY, Collector

from .core.stats import RuntimeStats

PREFIX = "loopd_unread"
COUNTERS = {
    "apply_errors": "Events that failed half-way; their scope shows nothing until it is exact again.",
    "doubtful_events": "Events whose commit was never answered; their scopes are read again.",
    "dropped_events": "Events refused for want of room; the entries concerned became hints.",
    "lost_events": "Events that did not come within the grace.",
    "over_budget_events": "Events over the accounting budget; the entries concerned became hints.",
    "unowned_events": "Events of workspaces that this process does not own.",
    "evicted_scopes": "Inactive scopes taken out of memory.",
    "flush_failures": "Flushes that failed; their rows are tried again.",
    "flushed_rows": "Snapshot rows written.",
    "hidden_by_evidence": "Entries hidden because a page's own query no longer listed them.",
    "job_failures": "Hydrate and warm jobs that failed; they are tried again.",
    "refused_jobs": "Jobs refused for want of room in the queue.",
    "refused_kept_events": "Events for entries without rows that were not kept for want of room.",
    "sink_errors": "Changes that could not be announced to sockets.",
    "suppressed_responses": "Answers that showed no unread because the member's rows were not in.",
    "suppressed_rows": "Snapshot rows that were read and not shown.",
    "repair_runs": "Repairs by operators.",
    "repair_failures": "Repairs by operators that failed.",
    "shadow_mismatches": "Differences between memory and durable facts found by a check.",
    "outbox_deferrals": "Task events whose delivery was put off.",
}
DURATIONS = {
    "flush_seconds": "One flush of one workspace.",
    "hydrate_seconds": "One hydrate job.",
    "warm_seconds": "One warm job.",
}
_BUCKETS = (0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 30.0, 120.0)


class PrometheusMetrics(Collector):
    """The runtime's `Metrics`. `watch` adds its gauges, which are gathered only when they are scraped."""

    def __init__(self) -> None:
        self._counters = {name: Counter(f"{PREFIX}_{name}", says) for name, says in COUNTERS.items()}
        self._durations = {
            name: Histogram(f"{PREFIX}_{name}", says, buckets=_BUCKETS) for name, says in DURATIONS.items()
        }
        self._gather: Callable[[], RuntimeStats] | None = None
        REGISTRY.register(self)

    def count(self, name: str, amount: int = 1) -> None:
        if counter := self._counters.get(name):
            counter.inc(amount)

    def observe(self, name: str, seconds: float) -> None:
        if duration := self._durations.get(name):
            duration.observe(seconds)

    def watch(self, gather: Callable[[], RuntimeStats]) -> None:
        self._gather = gather

    def collect(self) -> Iterator[Metric]:
        if self._gather is None:
            return
        stats = self._gather()
        for field in dataclasses.fields(stats):
            says = field.name.replace("_", " ")
            yield GaugeMetricFamily(f"{PREFIX}_{field.name}", f"Now: {says}.", value=getattr(stats, field.name))
