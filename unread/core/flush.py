"""Flushing: dirty entries become snapshot rows, copied under the lock in batches and written outside it.

A row covers exactly the seqs up to its frontiers: what was accounted past an open gap is taken out of the copy, and
the entry stays dirty until the gap is closed or given up. An entry that changes while its row is being written is
simply dirty again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .aspects import ACTIVITIES, MESSAGES, Aspect
from .columns import ACTIVE, DIRTY, FLYING, LOADED, VISIBLE, Bools, Columns, Int32s, Rows
from .events import Level
from .live import LiveScope
from .ports import SnapshotRow, SnapshotStore
from .states import CountState
from .workspace import Workspace

_NUMBERS = (
    "member",
    "messages",
    "mentions",
    "activities",
    "marker",
    "effective_from",
    "last_read",
    "last_activity_read",
    "message_frontier",
    "activity_frontier",
    "level",
    "flags",
    "state",
    "rewind",
    "membership_generation",
    "read_generation",
    "policy_generation",
    "marker_generation",
)


@dataclass(frozen=True, slots=True)
class FlushReport:
    """What one flush did."""

    rows: int = 0
    batches: int = 0
    failures: int = 0

    def __add__(self, other: FlushReport) -> FlushReport:
        return FlushReport(self.rows + other.rows, self.batches + other.batches, self.failures + other.failures)


@dataclass(slots=True)
class _Part:
    """Copied rows of one scope."""

    scope: int
    places: Rows
    """Their places in the scope's block, which stay the same when the block moves."""
    numbers: dict[str, Int32s]
    roster_generation: int
    first_version: int
    since: float


Rest = Callable[[float], None]
"""Called after a batch with the seconds it took: leaves database and interpreter to others for a while."""


def no_rest(seconds: float) -> None:
    pass


def flush_workspace(
    workspace: Workspace, snapshots: SnapshotStore, batch_size: int, rest: Rest = no_rest
) -> FlushReport:
    """Write what is dirty now, once. Ends at the first batch that fails: its rows are dirty again."""
    report = FlushReport()
    with workspace.lock:
        scopes, began = list(workspace.dirty), workspace.now
    source = _Pass(workspace, scopes, began)
    while True:
        batch_began = workspace.now
        with workspace.lock:
            parts = source.copy(batch_size)
        if not parts:
            return report
        rows = [row for part in parts for row in _to_rows(workspace, part)]
        written = False
        try:
            snapshots.upsert(workspace.id, workspace.epoch, rows)
            written = True
        finally:
            with workspace.lock:
                if not workspace.closed:
                    for part in parts:
                        _landed(workspace, part, written=written)
        report += FlushReport(rows=len(rows), batches=1)
        rest(workspace.now - batch_began)


class _Pass:
    """One round over scopes that were dirty when it began."""

    def __init__(self, workspace: Workspace, scopes: list[int], began: float) -> None:
        self._workspace = workspace
        self._scopes = scopes
        self._began = began
        self._place = 0
        self._again = False

    def copy(self, limit: int) -> list[_Part]:
        """The next batch, at most `limit` rows; empty at the end."""
        workspace = self._workspace
        parts: list[_Part] = []
        while limit and self._scopes and not workspace.closed:
            scope = self._scopes[-1]
            live = workspace.settled(scope)
            if workspace.closed:
                break
            places = self._next_places(scope, limit)
            if not len(places):
                self._leave(scope)
                continue
            self._place = int(places[-1]) + 1
            part, again = _copy_rows(workspace, scope, live, places)
            self._again |= again
            parts.append(part)
            limit -= len(places)
        return parts

    def _next_places(self, scope: int, limit: int) -> Rows:
        flags = self._workspace.columns.flags[self._workspace.rows(scope)][self._place :]
        dirty = (flags & (DIRTY | FLYING | LOADED)) == (DIRTY | LOADED)
        found: Rows = np.flatnonzero(dirty)[:limit] + self._place
        return found

    def _leave(self, scope: int) -> None:
        self._scopes.pop()
        dirty = self._workspace.dirty
        since = dirty.pop(scope, self._began)
        if (self._workspace.columns.flags[self._workspace.rows(scope)] & DIRTY).any():
            dirty[scope] = since if self._again else self._began
        self._place, self._again = 0, False


def _copy_rows(workspace: Workspace, scope: int, live: LiveScope | None, places: Rows) -> tuple[_Part, bool]:
    """Copies of the rows, clean and flying from here on; and whether some must be written again."""
    columns = workspace.columns
    rows = places + workspace.scopes.start[scope]
    numbers = {name: getattr(columns, name)[rows].astype(np.int32) for name in _NUMBERS}
    again = np.zeros(len(rows), dtype=np.bool_)
    roster = 0
    if live is not None and live.complete:
        roster = live.roster.complete
        np.maximum(numbers["rewind"], live.rewinds.applied, out=numbers["rewind"])
        for aspect in (MESSAGES, ACTIVITIES):
            _take_early_out(columns, live, aspect, rows, numbers, again)
        if (
            live.rewinds.open_gap or live.rewinds.unsettled()
        ):  # some facts may contain changes that the row's generation does not
            again[:] = True
            _only_hints(numbers, again)
    columns.flags[rows] |= FLYING
    clean = rows[~again]
    columns.flags[clean] &= np.uint16(~DIRTY & 0xFFFF)
    workspace.note_flying(len(rows), dirty=-len(clean))
    first = workspace.row_version + 1
    workspace.row_version += len(rows)
    since = workspace.dirty.get(scope, workspace.now)
    return _Part(scope, places, numbers, roster, first, since), bool(again.any())


def copied(workspace: Workspace, scope: int, rows: Rows) -> list[SnapshotRow]:
    """Rows of a task as they are now, which no stream concerns; they stay as dirty as they are."""
    numbers = {name: getattr(workspace.columns, name)[rows].astype(np.int32) for name in _NUMBERS}
    first = workspace.row_version + 1
    workspace.row_version += len(rows)
    return _to_rows(workspace, _Part(scope, rows, numbers, 0, first, workspace.now))


def _take_early_out(
    columns: Columns, live: LiveScope, aspect: Aspect, rows: Rows, numbers: dict[str, Int32s], again: Bools
) -> None:
    """Set the frontiers, and take early seqs out of the copied counts; marks the rows that had any."""
    stream = aspect.stream(live)
    frontiers = numbers[aspect.frontier_column]
    np.maximum(frontiers, stream.frontier, out=frontiers)
    points, members = aspect.points(columns, rows), numbers["member"]
    if stream.settle_since >= 0:  # late events are on their way; until then the row is one short of its frontier
        for seq in stream.unsettled():
            short = (points < seq) & (aspect.frontier(columns)[rows] < seq)
            short &= numbers["state"] == CountState.READY
            again |= short
            _only_hints(numbers, short)
    for seq in stream.early:
        counting = (points < seq) & (frontiers < seq)
        record = stream.log.get(seq)
        if record is None:
            again |= counting
            _only_hints(numbers, counting)
        elif record.fact.counts:
            counting &= (members != record.fact.author) & (members != record.fact.principal)
            again |= counting
            numbers[aspect.counter][counting] -= 1
            if aspect is MESSAGES and record.fact.mentions:
                numbers["mentions"][counting & np.isin(members, record.fact.mentions)] -= 1


def _only_hints(numbers: dict[str, Int32s], which: Bools) -> None:
    state = numbers["state"]
    state[which & (state == CountState.READY)] = CountState.SNAPSHOT_SERVING


def _to_rows(workspace: Workspace, part: _Part) -> list[SnapshotRow]:
    """Called without the lock: everything it looks up is only ever appended to."""
    scope, ids = workspace.scopes.ids[part.scope], workspace.members.ids
    return [
        SnapshotRow(
            member=ids[member],
            scope=scope,
            message_unread=max(messages, 0),
            mention_unread=max(mentions, 0),
            activity_unread=max(activities, 0),
            marker_seq=marker,
            effective_from_seq=effective_from,
            last_read_seq=last_read,
            last_activity_read_seq=last_activity_read,
            message_frontier=message_frontier,
            activity_frontier=activity_frontier,
            level=Level(level),
            active=bool(flags & ACTIVE),
            visible=bool(flags & VISIBLE),
            count_state=CountState(state),
            roster_generation=part.roster_generation,
            rewind_generation=rewind,
            membership_generation=membership_generation,
            read_generation=max(read_generation, 0),
            policy_generation=max(policy_generation, 0),
            marker_generation=max(marker_generation, 0),
            row_version=version,
        )
        for version, (
            member,
            messages,
            mentions,
            activities,
            marker,
            effective_from,
            last_read,
            last_activity_read,
            message_frontier,
            activity_frontier,
            level,
            flags,
            state,
            rewind,
            membership_generation,
            read_generation,
            policy_generation,
            marker_generation,
        ) in enumerate(zip(*(part.numbers[name].tolist() for name in _NUMBERS), strict=True), part.first_version)
    ]


def _landed(workspace: Workspace, part: _Part, *, written: bool) -> None:
    columns = workspace.columns
    rows = part.places + workspace.scopes.start[part.scope]
    columns.flags[rows] &= np.uint16(~FLYING & 0xFFFF)
    clean = rows[:0] if written else rows[(columns.flags[rows] & DIRTY) == 0]
    columns.flags[clean] |= DIRTY
    workspace.note_flying(-len(rows), dirty=len(clean))
    if written:
        return
    workspace.dirty[part.scope] = min(part.since, workspace.dirty.get(part.scope, part.since))
