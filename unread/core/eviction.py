"""Eviction: whole inactive scopes leave memory, once everything about them is written and nobody is looking.

Their members' pages are then no longer all in: a member who returns hydrates again.
"""

from __future__ import annotations

import heapq
from typing import Final

import numpy as np

from .columns import DIRTY, FLYING, LIT, LOADED, WATCHED
from .live import LiveScope, Warming
from .members import LOADED as PAGES_IN
from .workspace import NOT_FORGOTTEN, Forgotten, Workspace

_WORTH_COMPACTING: Final = 4096
"""Rows below which holes are not worth a copy."""


def evict_scope(workspace: Workspace, scope: int) -> bool:
    """Forget a scope if that loses nothing; answers whether it did."""
    if not _may_go(workspace, scope):
        return False
    scopes, columns, members = workspace.scopes, workspace.columns, workspace.members
    live = workspace.live_of(scope)
    workspace.live.pop(scope, None)
    workspace.tasks.pop(scope, None)
    identity = scopes.ids[scope]
    _remember(workspace, identity, scopes.roster_seen[scope], live)
    workspace.open_gaps.discard(scope)
    workspace.dirty.pop(scope, None)
    workspace.places.forget(scope)
    length = scopes.length[scope]
    if length:
        rows = np.arange(scopes.start[scope], scopes.start[scope] + length, dtype=np.int64)
        leaving = columns.member[rows]
        members.lit[leaving] -= ((columns.flags[rows] & LIT) != 0).astype(np.int32)
        columns.unlink(rows, members.heads)
        for number in leaving[[members.loading[n] == PAGES_IN for n in leaving.tolist()]].tolist():
            members.lower_veil(number)
        columns.release(scopes.start[scope], scopes.size[scope])
        workspace.note_entries(-length)
        scopes.length[scope] = scopes.size[scope] = 0
    workspace.evictions += 1
    workspace.metrics.count("evicted_scopes")
    scopes.remove(scope)
    return True


def evict_idle(workspace: Workspace, at_most: int) -> int:
    """Try the scopes that were left alone for the longest, at most so many; answers how many entries went.

    Takes the lock itself, for one scope at a time. Those that may not go, mostly because somebody looks at them, count
    as used now: else they would be tried at every turn, and what comes after them never.
    """
    before = workspace.entries
    oldest = workspace.now - workspace.budgets.evict_idle_s
    used_at = workspace.scopes.used_at
    numbers = [number for number in list(workspace.scopes.numbers.values()) if used_at[number] <= oldest]
    for scope in heapq.nsmallest(at_most, numbers, key=used_at.__getitem__):
        with workspace.lock:
            if workspace.closed:
                return 0
            unchanged = used_at[scope] <= oldest and workspace.scopes.ids[scope]
            if unchanged and not evict_scope(workspace, scope):
                used_at[scope] = workspace.now
    with workspace.lock:
        columns = workspace.columns
        if columns.used > _WORTH_COMPACTING and columns.holes * 2 > columns.used:
            compact(workspace)
    return before - workspace.entries


def compact(workspace: Workspace) -> None:
    """Give the memory of evicted entries back. Like the growth of the columns, this copies every entry that stays."""
    scopes = workspace.scopes
    numbers = sorted((n for n in scopes.numbers.values() if scopes.size[n]), key=scopes.start.__getitem__)
    blocks = [(scopes.start[n], scopes.length[n]) for n in numbers]
    heads = workspace.members.heads[: len(workspace.members)]
    for number, (start, size) in zip(numbers, workspace.columns.compact(blocks, heads), strict=True):
        scopes.start[number], scopes.size[number] = start, size


def _may_go(workspace: Workspace, scope: int) -> bool:
    if workspace.now - workspace.scopes.used_at[scope] < workspace.budgets.gap_grace_s:
        return False  # an event that is still on its way would find its frontier written as passed
    live = workspace.live_of(scope)
    if live is not None and not _is_quiet(live):
        return False
    task = workspace.tasks.get(scope)
    if task is not None and task.waits:
        return False
    flags = workspace.columns.flags[workspace.rows(scope)]
    if (flags & (DIRTY | FLYING | WATCHED)).any() or not (flags & LOADED).all():
        return False
    if workspace.hydrating:
        members = workspace.columns.member[workspace.rows(scope)]
        return not np.isin(members, list(workspace.hydrating)).any()
    return True


def _is_quiet(live: LiveScope) -> bool:
    """Nothing is pending, held, missing or under way."""
    return not (
        live.busy
        or live.waiting
        or live.warming is not Warming.IDLE
        or live.dropped_message
        or live.dropped_activity
        or live.dropped_change
        or live.roster.open_gap
        or live.rewinds.open_gap
        or live.rewinds.unsettled()
        or (live.complete and _misses_something(live))
    )


def _misses_something(live: LiveScope) -> bool:
    return any(stream.open_gap or stream.settle_since >= 0 for stream in (live.messages, live.activities))


def _remember(workspace: Workspace, scope: int, roster_seen: int, live: LiveScope | None) -> None:
    """The bound forgets the scopes that were evicted first: events that are that late are not told from new ones."""
    before = workspace.forgotten.pop(scope, NOT_FORGOTTEN)
    roster = max(roster_seen, live.roster.complete if live else -1, before.roster_generation)
    rewind = max(live.rewinds.applied if live else -1, before.rewind_generation)
    workspace.forgotten[scope] = Forgotten(roster, rewind)
    if len(workspace.forgotten) > workspace.budgets.max_forgotten_scopes:
        del workspace.forgotten[next(iter(workspace.forgotten))]
