"""How much memory entries take, and what they cost the garbage collector.

Both sides are told the same: memberships as events, scope by scope, then two messages in each scope. `filled` is how
the product comes by its entries: by those events, or member by member from the snapshot, as after a restart.
"""

from __future__ import annotations

import ctypes
import gc
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unread.core.events import Level, MembershipChanged
from unread.core.ports import HydrateRow, SnapshotRow
from unread.core.runtime import UnreadRuntime
from unread.core.states import CountState
from unread.core.testing import CountingMetrics, ManualClock, RecordingSink

from ..reference import ReferenceRuntime
from ..workspace import WORKSPACE, NoSnapshots, Rosters, build_runtime, joined, member, scope

FIRST_SEQ = 5_000
"""Seqs of scopes that have been in use: Python keeps small numbers ready-made, and these are not small."""
SCOPES_A_FLUSH = 100
"""Both sides write what is dirty after so many scopes: dirtiness is work to do, not what entries take."""


@dataclass(frozen=True, slots=True)
class Shape:
    """Scope number n has the members n, n + 1, … (modulo all of them), so that everybody is in as many scopes."""

    scopes: int
    in_each: int
    members: int

    def roster(self, number: int) -> Iterator[int]:
        for place in range(self.in_each):
            yield (number * self.in_each + place) % self.members + 1

    def scopes_of(self, who: int) -> list[int]:
        """Scope numbers, the lowest first."""
        found = set()
        first = who - 1
        while first < self.scopes * self.in_each:
            found.add(first // self.in_each)
            first += self.members
        return sorted(found)


def measure(kind: str, filled: str, scopes: int, in_each: int, members: int) -> dict[str, float]:
    """Bytes resident for each entry, and processor milliseconds of a full collection without and with them."""
    shape = Shape(scopes, in_each, members)
    fill = FILLS[kind, filled]
    fill(Shape(10, in_each, max(members // 100, in_each)))  # what is imported and allocated once is not an entry's
    empty = _collect_ms()
    before = _resident()
    kept: Any = fill(shape)
    after_collecting = _collect_ms()
    after = _resident()
    held = len(kept.scopes) if isinstance(kept, ReferenceRuntime) else kept.stats().entries
    return {
        "bytes": (after - before) / (scopes * in_each),
        "empty_ms": empty,
        "full_ms": after_collecting,
        "entries": held,
    }


def _joins(shape: Shape) -> Iterator[list[MembershipChanged]]:
    for number in range(shape.scopes):
        from_seq = FIRST_SEQ + number % 1000
        yield [joined(who, number, place, from_seq) for place, who in enumerate(shape.roster(number), start=1)]


def _product_by_events(shape: Shape) -> UnreadRuntime:
    runtime = build_runtime(Rosters({}))
    for events in _joins(shape):
        runtime.apply(events)
        if events[0].scope % SCOPES_A_FLUSH == 0:
            runtime.flush()
    runtime.flush()
    return runtime


def _baseline_by_events(shape: Shape) -> ReferenceRuntime:
    runtime = ReferenceRuntime()
    for events in _joins(shape):
        runtime.apply(events)
        if events[0].scope % SCOPES_A_FLUSH == 0:
            runtime.flushed()
    runtime.flushed()
    return runtime


def _product_by_members(shape: Shape) -> UnreadRuntime:
    runtime = UnreadRuntime(
        snapshots=_Rows(shape),
        rosters=Rosters({}),
        sink=RecordingSink(),
        metrics=CountingMetrics(),
        clock=ManualClock(),
    )
    runtime.own(WORKSPACE, 1)
    for who in range(1, shape.members + 1):
        runtime.hydrate_member(WORKSPACE, member(who))
    return runtime


class _Rows(NoSnapshots):
    """Snapshot rows made up as they are asked for."""

    def __init__(self, shape: Shape) -> None:
        self._shape = shape

    def load_member_page(self, workspace: int, which: int, after_scope: int, limit: int) -> Sequence[HydrateRow]:
        mine = [each for each in self._shape.scopes_of(which - member(0)) if scope(each) > after_scope]
        return [self._row(which, each) for each in mine[:limit]]

    def _row(self, who: int, number: int) -> HydrateRow:
        seq = FIRST_SEQ + number % 1000
        row = SnapshotRow(
            member=who,
            scope=scope(number),
            message_unread=number % 7,
            mention_unread=0,
            activity_unread=0,
            marker_seq=0,
            effective_from_seq=seq,
            last_read_seq=seq - 1,
            last_activity_read_seq=0,
            message_frontier=seq + 6,
            activity_frontier=0,
            level=Level.ALL,
            active=True,
            visible=True,
            count_state=CountState.SNAPSHOT_SERVING,
            roster_generation=1,
            rewind_generation=0,
            membership_generation=1,
            read_generation=1,
            policy_generation=0,
            marker_generation=0,
            row_version=number,
        )
        return HydrateRow(row, 0, True, 1, True, 0)


FILLS: dict[tuple[str, str], Callable[[Shape], UnreadRuntime | ReferenceRuntime]] = {
    ("product", "events"): _product_by_events,
    ("product", "snapshot"): _product_by_members,
    ("baseline", "events"): _baseline_by_events,
}


def _collect_ms() -> float:
    """The quickest of a few full collections, the first of which also clears what is garbage."""
    taken = []
    for _ in range(5):
        before = time.process_time()
        gc.collect()
        taken.append((time.process_time() - before) * 1e3)
    return min(taken)


def _resident() -> int:
    """Bytes, once what is free has been given back to the system."""
    ctypes.CDLL(None).malloc_trim(0)
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096
