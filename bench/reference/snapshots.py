"""The baseline's entries as snapshot rows, and scopes loaded from their rosters with those rows."""

from __future__ import annotations

from collections.abc import Sequence

from unread.core.events import Level
from unread.core.ports import RosterRow, ScopeHeader, SnapshotRow
from unread.core.states import CountState

from .entries import Entry
from .runtime import ReferenceRuntime


def load(runtime: ReferenceRuntime, header: ScopeHeader, rows: Sequence[RosterRow]) -> None:
    """A scope that nothing has been told of yet, with all of its members, as a restart finds it."""
    scope = runtime.scope(header.scope, header.parent)
    scope.active, scope.generation = header.active, header.roster_generation
    scope.start = scope.top = header.latest_seq
    scope.activity_start = scope.activity_top = header.latest_activity_seq
    for row in rows:
        _fill(runtime.add(scope, row.member), row)
        runtime.recount(scope.entries[row.member])
    runtime.flushed()


def dirty_rows(runtime: ReferenceRuntime) -> list[SnapshotRow]:
    return [_row(entry) for entry in runtime.dirty]


def _fill(entry: Entry, row: RosterRow) -> None:
    entry.active, entry.visible = row.active, row.visible
    entry.effective_from, entry.membership_generation = row.effective_from_seq, row.membership_generation
    entry.last_read, entry.last_activity_read = row.last_read_seq, row.last_activity_read_seq
    entry.read_generation = row.read_generation
    entry.level, entry.policy_generation = row.level, row.policy_generation
    entry.marker, entry.marker_generation = row.marker_seq, row.marker_generation
    if row.snapshot is None:
        entry.state = CountState.HYDRATING
        return
    entry.messages, entry.mentions = row.snapshot.message_unread, row.snapshot.mention_unread
    entry.activities = row.snapshot.activity_unread
    entry.frontier, entry.activity_frontier = row.snapshot.message_frontier, row.snapshot.activity_frontier
    entry.rewind = row.snapshot.rewind_generation


def _row(entry: Entry) -> SnapshotRow:
    scope = entry.scope
    return SnapshotRow(
        member=entry.member.id,
        scope=scope.id,
        message_unread=entry.messages,
        mention_unread=entry.mentions,
        activity_unread=entry.activities,
        marker_seq=entry.marker,
        effective_from_seq=entry.effective_from,
        last_read_seq=entry.last_read,
        last_activity_read_seq=entry.last_activity_read,
        message_frontier=max(entry.frontier, scope.top),
        activity_frontier=max(entry.activity_frontier, scope.activity_top),
        level=Level(entry.level),
        active=entry.active,
        visible=entry.visible,
        count_state=entry.state,
        roster_generation=max(scope.generation, 0),
        rewind_generation=max(entry.rewind, *scope.changes, 0),
        membership_generation=entry.membership_generation,
        read_generation=max(entry.read_generation, 0),
        policy_generation=max(entry.policy_generation, 0),
        marker_generation=max(entry.marker_generation, 0),
        row_version=entry.version,
    )
