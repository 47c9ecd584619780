"""What is shown of an entry: the one function behind every badge, red dot, title, list and socket.

It is written in plain arithmetic, so that it takes one entry's integers as well as whole columns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .columns import ACTIVE, HIDDEN, LIT, VISIBLE, WATCHED, Bools, Columns, Rows
from .events import Level
from .states import CountState, Shown

if TYPE_CHECKING:
    from .workspace import Workspace

_ACCESS = ACTIVE | VISIBLE | HIDDEN
_HAS_ACCESS = ACTIVE | VISIBLE
_ALL, _MENTIONS = int(Level.ALL), int(Level.MENTIONS)
_LAST_COUNTED = int(CountState.SNAPSHOT_SERVING)
_FEW = 8
"""Up to so many rows are quicker looked at one by one."""


def shown(
    is_open: Any, flags: Any, level: Any, state: Any, messages: Any, mentions: Any, activities: Any, marker: Any
) -> tuple[Any, Any, Any, Any, Any]:
    """Access, messages, mentions, activities and the manual dot, of one entry or of many.

    Without access nothing shows. Only `ready` and `snapshot_serving` show counts, and as the level says: `all` shows
    everything, `mentions` only messages that mention, `none` nothing. No level and no count state hides the dot.
    """
    access = ((flags & _ACCESS) == _HAS_ACCESS) & is_open
    counted = access & (state <= _LAST_COUNTED)
    everything = counted & (level == _ALL)
    mentioning = counted & (level == _MENTIONS)
    some_mentions = mentions * (mentions > 0)
    return (
        access,
        everything * (messages * (messages > 0)) + mentioning * some_mentions,
        (everything | mentioning) * some_mentions,
        everything * (activities * (activities > 0)),
        access & (marker > 0),
    )


def _of_columns(columns: Columns, rows: Any, is_open: Any) -> tuple[Any, Any, Any, Any, Any]:
    return shown(
        is_open,
        columns.flags[rows],
        columns.level[rows],
        columns.state[rows],
        columns.messages[rows],
        columns.mentions[rows],
        columns.activities[rows],
        columns.marker[rows],
    )


def _of_row(workspace: Workspace, scope: int, row: int) -> tuple[bool, int, int, int, bool]:
    columns = workspace.columns
    return shown(
        workspace.scopes.is_open(scope),
        int(columns.flags[row]),
        int(columns.level[row]),
        int(columns.state[row]),
        int(columns.messages[row]),
        int(columns.mentions[row]),
        int(columns.activities[row]),
        int(columns.marker[row]),
    )


def shown_row(workspace: Workspace, scope: int, row: int) -> Shown:
    """One entry as a value."""
    access, messages, mentions, activities, manual = _of_row(workspace, scope, row)
    state = CountState(workspace.columns.state[row]) if access else CountState.UNAVAILABLE
    if state is CountState.READY and not may_be_ready(workspace, scope):
        state = CountState.SNAPSHOT_SERVING
    return Shown(state=state, messages=messages, activities=activities, manual=bool(manual), mentions=mentions)


def may_be_ready(workspace: Workspace, scope: int) -> bool:
    """Nothing is called ready while events of its scope wait, or while nobody has told whether it is archived."""
    live, task = workspace.live.get(scope), workspace.tasks.get(scope)
    behind = (live is not None and live.behind) or (task is not None and task.behind)
    return not behind and workspace.scopes.is_told(scope)


def lit(columns: Columns, rows: Any, is_open: bool) -> Bools:
    """Which of the rows show something."""
    _, messages, _, activities, manual = _of_columns(columns, rows, is_open)
    result: Bools = (messages > 0) | (activities > 0) | manual
    return result


def relight(workspace: Workspace, scope: int, rows: Rows) -> None:
    """Bring the members' numbers of lit scopes up to date for rows of one scope."""
    if len(rows) <= _FEW:
        for row in rows.tolist():
            relight_row(workspace, scope, row)
        return
    columns = workspace.columns
    now = lit(columns, rows, workspace.scopes.is_open(scope))
    was = (columns.flags[rows] & LIT) != 0
    changed = now != was
    if not changed.any():
        return
    rows, now = rows[changed], now[changed]
    columns.flags[rows] ^= LIT
    workspace.members.lit[columns.member[rows]] += np.where(now, 1, -1).astype(np.int32)


def relight_row(workspace: Workspace, scope: int, row: int) -> None:
    columns = workspace.columns
    _, messages, _, activities, manual = _of_row(workspace, scope, row)
    now = bool(messages > 0 or activities > 0 or manual)
    if now != bool(columns.flags[row] & LIT):
        columns.flags[row] ^= LIT
        workspace.members.lit[columns.member[row]] += 1 if now else -1


def relight_scope(workspace: Workspace, scope: int) -> None:
    """After the scope was archived or restored: every entry, under one hold of the lock.

    It is one step over the columns, and in batches a member's red dot would disagree with his list in between.
    """
    places = workspace.rows(scope)
    rows = np.arange(places.start, places.stop, dtype=np.int64)
    columns = workspace.columns
    columns.touched[rows] = workspace.next_tick()
    relight(workspace, scope, rows)
    if workspace.watches:
        workspace.note_changed(rows[(columns.flags[rows] & WATCHED) != 0])
