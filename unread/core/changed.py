"""What follows from a change of entries: new versions, dirty bits, red dots, and sockets to tell."""

from __future__ import annotations

from typing import Final

import numpy as np

from .aggregate import relight
from .columns import ACTIVE, DIRTY, HIDDEN, LIT, LOADED, UNKNOWN, VISIBLE, WATCHED, Bools, Rows
from .events import Level
from .live import LiveScope
from .masks import any_of, set_all
from .workspace import Workspace

_SETTLED: Final = np.array(DIRTY | LIT, dtype=np.uint16)


def slice_changed(
    workspace: Workspace, scope: int, rows: slice, changed: Bools | None, mentioned: list[int], *, only_more: bool
) -> None:
    """Entries of a slice changed: those of the mask, and those where the number of mentions did (places in the slice).

    `only_more` says that no count fell, so that what is lit stays lit. Former members' entries are kept up but not
    written: whoever rejoins starts at zero.
    """
    if changed is None:
        if not mentioned:
            return
        changed = np.zeros(rows.stop - rows.start, dtype=np.bool_)
    if mentioned:
        changed[mentioned] = True
    columns = workspace.columns
    set_all(columns.touched[rows], changed, workspace.next_tick())
    flags = columns.flags[rows]
    # Most entries of a busy scope are dirty and lit already, and then more of the same changes neither.
    turning = changed & ((flags & _SETTLED) != _SETTLED) if only_more else changed
    if any_of(turning):
        clean = turning & ((flags & (DIRTY | ACTIVE)) == ACTIVE)
        fresh = int(np.count_nonzero(clean))
        if fresh:
            np.bitwise_or(flags, np.uint16(DIRTY), out=flags, where=clean)
            workspace.note_dirty(scope, fresh)
        if only_more:
            turning &= (flags & (LIT | ACTIVE | VISIBLE | HIDDEN)) == (ACTIVE | VISIBLE)
        relight(workspace, scope, np.flatnonzero(turning) + rows.start)
    if workspace.watches and workspace.scopes.is_open(scope):
        watched = np.flatnonzero(changed & ((flags & (WATCHED | HIDDEN)) == WATCHED))
        if len(watched):
            levels = columns.level[rows][watched]
            seen = (levels == Level.ALL) | ((levels == Level.MENTIONS) & np.isin(watched, mentioned))
            workspace.note_changed(watched[seen] + rows.start)


def rows_changed(workspace: Workspace, scope: int, rows: Rows) -> None:
    """Some entries of one scope changed in any way."""
    if not len(rows):
        return
    columns = workspace.columns
    columns.touched[rows] = workspace.next_tick()
    flags = columns.flags[rows]
    clean = (flags & (DIRTY | LOADED)) == LOADED
    clean &= columns.membership_generation[rows] != UNKNOWN
    fresh = int(np.count_nonzero(clean))
    if fresh:
        columns.flags[rows[clean]] |= DIRTY
        workspace.note_dirty(scope, fresh)
    relight(workspace, scope, rows)
    if workspace.watches:
        workspace.note_changed(rows[(flags & WATCHED) != 0])


def behind_changed(workspace: Workspace, live: LiveScope) -> None:
    """Events began to wait, or none waits any more: sockets that show the scope learn how far to believe it."""
    if live.behind != bool(live.waiting):
        live.behind = not live.behind
        tell_lit(workspace, live.number)


def tell_lit(workspace: Workspace, number: int) -> None:
    """Whoever is shown the scope and watches takes it anew."""
    if not workspace.watches:
        return
    columns, scope = workspace.columns, workspace.rows(number)
    told = np.flatnonzero((columns.flags[scope] & (WATCHED | LIT)) == (WATCHED | LIT)) + scope.start
    if len(told):
        columns.touched[told] = workspace.next_tick()
        workspace.note_changed(told)
