"""Reads: how the counts of one entry follow its cursors.

A full-cover read makes any entry exact: both cursors are at the ends of the scope as the read's own transaction saw
them, and past everything this process has accounted or has waiting. Anything less is recounted from the log, or
bounded: what is left cannot be more than the seqs the counts contain past the cursor.
"""

from __future__ import annotations

from .aspects import ACTIVITIES, MESSAGES, Aspect
from .columns import EXACT, LOADED
from .events import CursorEvent
from .live import LiveScope
from .recount import note_ready, recount
from .states import CountState
from .stream import Stream
from .workspace import Workspace


def cursor_moved(workspace: Workspace, event: CursorEvent) -> None:
    scope = workspace.scope(event.scope, event.parent)
    row = workspace.entry(scope, workspace.members.number(event.member))
    if row < 0:
        workspace.refuse_kept(scope)
        return
    live = workspace.live_of(scope)
    if live is not None:
        live.messages.seen = max(live.messages.seen, event.latest_seq)
        live.activities.seen = max(live.activities.seen, event.latest_activity_seq)
        if live.messages.open_gap or live.activities.open_gap:
            workspace.open_gaps.add(scope)
    cursors = (event.last_read_seq, event.last_activity_read_seq)
    ends = (event.latest_seq, event.latest_activity_seq)
    move_cursors(workspace, scope, row, cursors, event.read_generation, ends)


def move_cursors(
    workspace: Workspace,
    scope: int,
    row: int,
    cursors: tuple[int, int],
    generation: int,
    ends: tuple[int, int] | None,
) -> None:
    """Set both cursors to those of a read generation, unless a newer one is known.

    `ends` are the ends of the scope as the read itself saw them; None where the cursors come from a membership row.
    """
    columns, live = workspace.columns, workspace.live_of(scope)
    known = int(columns.read_generation[row])
    if generation < known:
        return
    before = (int(columns.last_read[row]), int(columns.last_activity_read[row]))
    if generation > known:
        columns.last_read[row], columns.last_activity_read[row] = cursors
        columns.read_generation[row] = generation
    elif ends is None or int(columns.state[row]) == CountState.READY:
        return
    if ends is not None and _covers(workspace, live, row, ends):
        _read_everything(workspace, live, row)
    else:
        inexact = _recount_both(workspace, live, row, before)
        if generation > known:
            _bound(workspace, live, row, inexact)
        elif inexact:
            return
    workspace.changed(scope, row)


def highest_counted(workspace: Workspace, live: LiveScope | None, aspect: Aspect, row: int) -> int:
    """No seq past this one is in the entry's count."""
    highest = int(aspect.frontier(workspace.columns)[row])
    if live is None:
        return highest
    progress = live.progress
    reached = progress is not None and row - workspace.scopes.start[live.number] < progress.position
    if progress is not None and progress.aspect is aspect and reached:
        highest = max(highest, progress.seq)
    return max(highest, aspect.stream(live).top)


def _covers(workspace: Workspace, live: LiveScope | None, row: int, ends: tuple[int, int]) -> bool:
    for aspect, end in zip((MESSAGES, ACTIVITIES), ends, strict=True):
        needed = max(end, highest_counted(workspace, live, aspect, row))
        if live is not None:
            stream: Stream = aspect.stream(live)
            given_up = stream.log.floor  # also what was lost past the cursor would have to be read
            needed = max(needed, stream.start, live.pending_top(aspect.event), given_up)
        if int(aspect.cursor(workspace.columns)[row]) < needed:
            return False
    return True


def _read_everything(workspace: Workspace, live: LiveScope | None, row: int) -> None:
    columns = workspace.columns
    columns.messages[row] = columns.mentions[row] = columns.activities[row] = 0
    columns.state[row] = CountState.READY
    columns.flags[row] &= ~EXACT & 0xFFFF
    note_ready(workspace, live, [row])


def _recount_both(
    workspace: Workspace, live: LiveScope | None, row: int, before: tuple[int, int]
) -> list[tuple[Aspect, int]]:
    """Make both counts exact where that can be done; answers those that are not, with the cursors they had.

    A count is exact after a recount, or where the entry was ready and the cursor either did not move or passed
    everything that the count contains.
    """
    columns = workspace.columns
    ready = int(columns.state[row]) == CountState.READY
    inexact = []
    for aspect, old in zip((MESSAGES, ACTIVITIES), before, strict=True):
        cursor = int(aspect.cursor(columns)[row])
        if recount(workspace, live, aspect, row) or (ready and cursor == old):
            continue
        if ready and old < cursor >= highest_counted(workspace, live, aspect, row):
            _set(workspace, aspect, row, 0, 0)
            continue
        inexact.append((aspect, old))
    if not inexact:
        columns.state[row] = CountState.READY
        note_ready(workspace, live, [row])
    return inexact


def _bound(
    workspace: Workspace,
    live: LiveScope | None,
    row: int,
    inexact: list[tuple[Aspect, int]],
) -> None:
    """A partial read that nothing recounts: the counts become upper bounds."""
    columns = workspace.columns
    if not inexact or int(columns.state[row]) > CountState.SNAPSHOT_SERVING:
        return
    columns.state[row] = CountState.SNAPSHOT_SERVING
    for aspect, old in inexact:
        cursor = int(aspect.cursor(columns)[row])
        if cursor == old:
            continue
        highest = highest_counted(workspace, live, aspect, row)
        kept = not columns.flags[row] & LOADED and bool(columns.flags[row] & EXACT) and aspect is MESSAGES
        if cursor < old or (kept and cursor < highest):
            columns.state[row] = CountState.STALE
            continue
        left = max(0, highest - cursor)
        mentions = min(int(columns.mentions[row]), left)
        _set(workspace, aspect, row, min(int(aspect.counts(columns)[row]), left), mentions)


def _set(workspace: Workspace, aspect: Aspect, row: int, counts: int, mentions: int) -> None:
    aspect.counts(workspace.columns)[row] = counts
    if aspect is MESSAGES:
        workspace.columns.mentions[row] = mentions
