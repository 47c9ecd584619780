"""Every number that the runtime counts is one that Prometheus can read."""

from __future__ import annotations

import re
from pathlib import Path

from prometheus_client import REGISTRY, generate_latest

import unread.core
from unread.app import unread_app
from unread.metrics import COUNTERS, DURATIONS, PREFIX


def test_every_name_in_the_core_is_declared() -> None:
    source = "\n".join(path.read_text() for path in Path(unread.core.__file__).parent.glob("*.py"))
    assert set(re.findall(r'\.count\(\s*"(\w+)"', source)) <= COUNTERS.keys()
    assert set(re.findall(r'\.observe\(\s*"(\w+)"', source)) == DURATIONS.keys()


def test_counts_durations_and_gauges_are_exposed() -> None:
    metrics = unread_app().metrics
    before = REGISTRY.get_sample_value(f"{PREFIX}_lost_events_total") or 0
    metrics.count("lost_events", 3)
    metrics.observe("flush_seconds", 0.2)
    assert REGISTRY.get_sample_value(f"{PREFIX}_lost_events_total") == before + 3
    text = generate_latest().decode()
    for name in (
        "dirty_entries",
        "dirty_age_s",
        "ready_entries",
        "snapshot_serving_entries",
        "snapshot_serving_age_s",
        "waiting_events",
    ):
        assert f"\n{PREFIX}_{name} " in text
    assert f"{PREFIX}_flush_seconds_bucket" in text
