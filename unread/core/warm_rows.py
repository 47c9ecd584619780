"""Roster pages of a scope that is being warmed: unknown rows all at once, rows that met an event one by one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .aggregate import relight
from .columns import ACTIVE, DIRTY, LOADED, NO_ROW, VISIBLE, WATCHED, Rows
from .loading import is_sound, load_roster_row
from .ports import RosterRow, SnapshotRow
from .scopes import DISTRUSTED
from .states import CountState
from .workspace import Workspace


class _Values(NamedTuple):
    """A new entry's columns, in this order."""

    flags: int
    level: int
    state: int
    effective_from: int
    last_read: int
    last_activity_read: int
    messages: int
    mentions: int
    activities: int
    marker: int
    message_frontier: int
    activity_frontier: int
    rewind: int
    membership_generation: int
    read_generation: int
    policy_generation: int
    marker_generation: int


def load_roster_page(workspace: Workspace, scope: int, page: Sequence[RosterRow]) -> None:
    """Let a page meet what is in memory; the holder of the lock calls it with at most one batch."""
    live = workspace.live_of(scope)
    plain = (live is None or not live.complete) and not workspace.scopes.status[scope] & DISTRUSTED
    members = [workspace.members.number(row.member) for row in page]
    fresh: list[int] = []
    values: list[_Values] = []
    for row, member, place in zip(page, members, _places(workspace, scope, members), strict=True):
        new = _values(row) if plain and place == NO_ROW and not workspace.members.is_loaded(member) else None
        if new is None:
            load_roster_row(workspace, scope, member, place, row)
        else:
            fresh.append(member)
            values.append(new)
    if fresh:
        _append(workspace, scope, fresh, values)


def _places(workspace: Workspace, scope: int, members: Sequence[int]) -> list[int]:
    """Each member's place in the scope, or NO_ROW."""
    present = workspace.columns.member[workspace.rows(scope)]
    if not len(present):
        return [NO_ROW] * len(members)
    places = np.full(len(workspace.members), NO_ROW, dtype=np.int32)
    places[present] = np.arange(len(present), dtype=np.int32)
    found: list[int] = places[members].tolist()
    return found


def _append(workspace: Workspace, scope: int, members: list[int], values: list[_Values]) -> None:
    rows: Rows = workspace.append(scope, members)
    columns = workspace.columns
    watched = columns.flags[rows] & WATCHED
    for name, column in zip(_Values._fields, np.array(values, dtype=np.int32).T, strict=True):
        getattr(columns, name)[rows] = column
    columns.flags[rows] |= watched
    columns.touched[rows] = workspace.next_tick()
    workspace.note_dirty(scope, int(np.count_nonzero(columns.flags[rows] & DIRTY)))
    relight(workspace, scope, rows)
    workspace.note_changed(rows[watched != 0])


def _values(row: RosterRow) -> _Values | None:
    """What the rows of the database make of a member that memory knows nothing of; None if they need a closer look."""
    snapshot = row.snapshot
    flags = LOADED | (ACTIVE if row.active else 0) | (VISIBLE if row.visible else 0)
    if snapshot is None:
        return _entry(row, flags | DIRTY, CountState.HYDRATING, (0, 0, 0), (0, 0, 0))
    if not is_sound(snapshot) or _is_behind(row, snapshot):
        return None
    if snapshot.count_state == CountState.HYDRATING:
        counts, base = (0, 0, 0), (0, 0, 0)
    else:
        counts = (snapshot.message_unread, snapshot.mention_unread, snapshot.activity_unread)
        base = (snapshot.message_frontier, snapshot.activity_frontier, snapshot.rewind_generation)
    state = max(snapshot.count_state, CountState.SNAPSHOT_SERVING)
    if _differs(row, snapshot):
        flags |= DIRTY
    return _entry(row, flags, state, counts, base)


def _entry(
    row: RosterRow, flags: int, state: CountState, counts: tuple[int, int, int], base: tuple[int, int, int]
) -> _Values:
    messages, mentions, activities = counts
    message_frontier, activity_frontier, rewind = base
    left = max(0, message_frontier - max(row.last_read_seq, row.effective_from_seq - 1))
    return _Values(
        flags,
        row.level,
        state,
        row.effective_from_seq,
        row.last_read_seq,
        row.last_activity_read_seq,
        min(messages, left),
        min(mentions, left),
        min(activities, max(0, activity_frontier - row.last_activity_read_seq)),
        row.marker_seq,
        message_frontier,
        activity_frontier,
        rewind,
        row.membership_generation,
        row.read_generation,
        row.policy_generation,
        row.marker_generation,
    )


def _is_behind(row: RosterRow, snapshot: SnapshotRow) -> bool:
    """The snapshot knows something newer than the facts read with it, or a cursor went back."""
    return (
        row.membership_generation < snapshot.membership_generation
        or row.read_generation < snapshot.read_generation
        or row.policy_generation < snapshot.policy_generation
        or row.marker_generation < snapshot.marker_generation
        or row.last_read_seq < snapshot.last_read_seq
        or row.last_activity_read_seq < snapshot.last_activity_read_seq
    )


def _differs(row: RosterRow, snapshot: SnapshotRow) -> bool:
    """The facts are newer than what was written."""
    return (
        row.membership_generation > snapshot.membership_generation
        or row.read_generation > snapshot.read_generation
        or row.policy_generation > snapshot.policy_generation
        or row.marker_generation > snapshot.marker_generation
    )
