"""The primitive that is exact without a database: an entry's counts, from the log alone.

Available when the starting frontier is known, nothing past what the member has read was evicted or lost, and the
member has read up to the starting frontier or this process saw him join (then the log reaches back to the join).
"""

from __future__ import annotations

import numpy as np

from .aspects import ACTIVITIES, MESSAGES, Aspect
from .changed import rows_changed
from .columns import EXACT, LOADED, SAW_JOIN, UNKNOWN, Int32s, Rows
from .live import LiveScope
from .states import CountState
from .stream import Stream
from .tasks import is_task, task_recount
from .workspace import Workspace


def available(workspace: Workspace, live: LiveScope | None, aspect: Aspect, row: int) -> bool:
    if live is None or not live.complete or not workspace.is_complete(row):
        return False
    columns = workspace.columns
    stream = aspect.stream(live)
    point = aspect.point(columns, row)
    return point >= stream.log.floor and (point >= stream.start or bool(columns.flags[row] & SAW_JOIN))


def counted_here(workspace: Workspace, live: LiveScope, aspect: Aspect, row: int, after: int) -> tuple[int, int]:
    """What this process accounted past a seq that counts for the entry: the number, and the mentions among it."""
    member = int(workspace.columns.member[row])
    progress = live.progress
    if progress is None or progress.aspect is not aspect or progress.seq <= after:
        return aspect.stream(live).log.count(member, after)
    at = row - workspace.scopes.start[live.number]
    fact = progress.new if at < progress.position else progress.old
    counts, mentions = aspect.stream(live).log.count(member, after, without=progress.seq)
    counting = fact.counts_for(member)
    return counts + counting, mentions + (counting and member in fact.mentions)


def recount(workspace: Workspace, live: LiveScope | None, aspect: Aspect, row: int) -> bool:
    """Take the exact number where it is available; answers whether it was.

    From then on the entry has no base: what it counts is what was accounted here, and late events are still to come.
    """
    columns = workspace.columns
    scope = int(columns.scope[row])
    if is_task(workspace, scope):
        return task_recount(workspace, scope, aspect, row)
    if live is None or not available(workspace, live, aspect, row):
        return False
    counts, mentions = counted_here(workspace, live, aspect, row, aspect.point(columns, row))
    aspect.counts(columns)[row] = counts
    aspect.frontier(columns)[row] = 0
    if aspect is MESSAGES:
        columns.mentions[row] = mentions
        columns.rewind[row] = 0
        columns.flags[row] &= ~EXACT & 0xFFFF
    return True


def note_ready(workspace: Workspace, live: LiveScope | None, rows: Rows | list[int]) -> None:
    """These entries are called ready: what is on its way below the starting frontier has to arrive within the grace."""
    if live is None or not live.complete or not len(rows):
        return
    at = np.asarray(rows, dtype=np.int64)
    columns, bound = workspace.columns, workspace.budgets.max_late_seqs
    for aspect in (MESSAGES, ACTIVITIES):
        stream = aspect.stream(live)
        points = np.maximum(aspect.points(columns, at), aspect.frontier(columns)[at])
        lowest = int(points.min())
        if lowest >= stream.start or _all_here(stream, lowest, bound):
            continue
        if stream.start - lowest > bound:
            hopeless = at[points < stream.start - bound]
            columns.state[hopeless] = CountState.SNAPSHOT_SERVING
            rows_changed(workspace, live.number, hopeless)
        stream.settle(max(lowest, stream.start - bound), workspace.now)
        workspace.open_gaps.add(live.number)


def _all_here(stream: Stream, point: int, bound: int) -> bool:
    return stream.start - point <= bound and all(seq in stream.late for seq in range(point + 1, stream.start + 1))


def recount_scope(workspace: Workspace, live: LiveScope) -> None:
    """Promote every entry whose recount is available, in batches: a warm job's last step."""
    batch = workspace.budgets.accounting_batch_size
    first = 0
    while first < workspace.scopes.length[live.number]:
        if first:
            workspace.breathe()
        if not workspace.rest(live):
            return
        start = workspace.scopes.start[live.number]
        rows = slice(start + first, start + min(first + batch, workspace.scopes.length[live.number]))
        _recount_rows(workspace, live, rows)
        first += batch


def _recount_rows(workspace: Workspace, live: LiveScope, rows: slice) -> None:
    columns = workspace.columns
    fit = columns.state[rows] != CountState.READY
    fit &= (columns.flags[rows] & LOADED) != 0
    fit &= columns.membership_generation[rows] != UNKNOWN
    joined = (columns.flags[rows] & SAW_JOIN) != 0
    points: list[Int32s] = []
    for aspect in (MESSAGES, ACTIVITIES):
        stream = aspect.stream(live)
        point = aspect.points(columns, rows)
        points.append(point)
        fit &= (point >= stream.log.floor) & ((point >= stream.start) | joined)
    at = np.flatnonzero(fit)
    if not len(at):
        return
    found: Rows = at + rows.start
    columns.messages[found] = live.messages.log.totals(points[0][at])
    columns.mentions[found] = 0
    columns.activities[found] = live.activities.log.totals(points[1][at])
    concerned = live.messages.log.concerned() | live.activities.log.concerned()
    if concerned:
        for row in found[np.isin(columns.member[found], list(concerned))].tolist():
            for aspect in (MESSAGES, ACTIVITIES):
                recount(workspace, live, aspect, row)
    columns.message_frontier[found] = columns.activity_frontier[found] = columns.rewind[found] = 0
    columns.flags[found] &= np.uint16(~EXACT & 0xFFFF)
    columns.state[found] = CountState.READY
    rows_changed(workspace, live.number, found)
    note_ready(workspace, live, found)
