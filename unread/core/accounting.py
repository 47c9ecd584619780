"""Accounting: one fact of a scope, put into the counts of every entry it concerns, in vectorised batches.

`replace` is the one primitive: for one seq it takes an old fact out of the counts and puts a new one in. Storing a
message replaces nothing by its facts, removing it the other way round, an edit one set of mentions by another.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from .aspects import MESSAGES, Aspect
from .changed import slice_changed
from .columns import Bools
from .live import LiveScope, Progress
from .log import Fact
from .masks import add_one, as_operand
from .states import CountState
from .workspace import Workspace

_HYDRATING: Final = int(CountState.HYDRATING)
"""A plain integer: numpy takes its time over an enum's members."""

Gate = Callable[[Workspace, slice], Bools]
"""Which entries of a slice hold the seq in the way that is being corrected."""


def past_base(aspect: Aspect, seq: int) -> Gate:
    """Entries whose base does not contain the seq: it counts for them only as accounted here."""
    point = as_operand(seq)
    return lambda workspace, rows: aspect.frontier(workspace.columns)[rows] < point


def within_base(seq: int, generation: int) -> Gate:
    """Entries whose base contains the message as it was before this rewind generation."""

    def gate(workspace: Workspace, rows: slice) -> Bools:
        columns = workspace.columns
        inside: Bools = (columns.message_frontier[rows] >= seq) & (columns.rewind[rows] < generation)
        return inside

    return gate


def replace(
    workspace: Workspace, live: LiveScope, aspect: Aspect, seq: int, old: Fact, new: Fact, gate: Gate, *, logged: bool
) -> None:
    """Take `old` out and put `new` in for every entry of the scope that the gate lets through.

    Lets the lock go between batches; the caller has made the scope busy, so that no other scope event comes between.
    Entries may be appended meanwhile: they are reached, and their own gate decides. `logged` says that the log has
    `new` already, so that a recount in between must know which entries do not.
    """
    if not old.counts and not new.counts:
        return
    scopes, number = workspace.scopes, live.number
    batch = workspace.budgets.accounting_batch_size
    if scopes.length[number] <= batch:
        _replace_in(workspace, number, workspace.rows(number), aspect, seq, old, new, gate)
        return
    progress = Progress(aspect, seq, old, new)
    live.progress = progress if logged else None
    try:
        while progress.position < scopes.length[number]:
            if progress.position:
                workspace.breathe()
                if workspace.closed:
                    return
            start = scopes.start[number]
            last = min(progress.position + batch, scopes.length[number])
            rows = slice(start + progress.position, start + last)
            _replace_in(workspace, number, rows, aspect, seq, old, new, gate)
            progress.position = last
    finally:
        live.progress = None


def _replace_in(
    workspace: Workspace, number: int, rows: slice, aspect: Aspect, seq: int, old: Fact, new: Fact, gate: Gate
) -> None:
    columns = workspace.columns
    point = as_operand(seq)
    counting = gate(workspace, rows)
    counting &= aspect.cursor(columns)[rows] < point
    if aspect is MESSAGES:
        counting &= columns.effective_from[rows] <= point
    counts = aspect.counts(columns)[rows]
    members = columns.member[rows]
    changed: Bools | None = None
    if old.counts != new.counts or (old.author, old.principal) != (new.author, new.principal):
        gained = _for_members(counting, members, new)
        lost = _for_members(counting, members, old)
        if gained is not None:
            add_one(counts, gained)
            _awake(workspace, rows, gained)
        if lost is not None:
            counts -= lost
        changed = gained if lost is None else lost if gained is None else gained ^ lost
    mentioned = _mention(workspace, rows, counting, members, old, new) if aspect is MESSAGES else []
    slice_changed(workspace, number, rows, changed, mentioned, only_more=not old.counts)


def _for_members(counting: Bools, members: np.ndarray, fact: Fact) -> Bools | None:  # type: ignore[type-arg]
    if not fact.counts:
        return None
    result: Bools = counting & (members != fact.author)
    if fact.principal != fact.author:
        result &= members != fact.principal
    return result


def _awake(workspace: Workspace, rows: slice, gained: Bools) -> None:
    """The first event accounted makes an entry without a row a lower bound."""
    state = workspace.columns.state[rows]
    if _HYDRATING in state.tobytes():
        state[gained & (state == _HYDRATING)] = CountState.SNAPSHOT_SERVING


def _mention(
    workspace: Workspace,
    rows: slice,
    counting: Bools,
    members: np.ndarray,  # type: ignore[type-arg]
    old: Fact,
    new: Fact,
) -> list[int]:
    """Put each mention in or take it out; answers the places in the slice where the number of mentions changed."""
    if not old.mentions and not new.mentions:
        return []
    places = []
    mentions = workspace.columns.mentions[rows]
    for member in {*old.mentions, *new.mentions}:
        difference = (member in new.mentions and new.counts_for(member)) - (
            member in old.mentions and old.counts_for(member)
        )
        if not difference:
            continue
        hits = members == member
        at = int(hits.argmax())
        if hits[at] and counting[at]:
            mentions[at] += difference
            places.append(at)
    return places


def demote(workspace: Workspace, live: LiveScope, gate: Gate, to: CountState = CountState.SNAPSHOT_SERVING) -> int:
    """Entries that the gate lets through and that are better than `to` fall to it; answers how many did."""
    number, fallen = live.number, 0
    batch = workspace.budgets.accounting_batch_size
    first = 0
    while first < workspace.scopes.length[number]:
        if first:
            workspace.breathe()
            if workspace.closed:
                return fallen
        start = workspace.scopes.start[number]
        rows = slice(start + first, start + min(first + batch, workspace.scopes.length[number]))
        columns = workspace.columns
        state = columns.state[rows]
        better = CountState.READY if to is CountState.SNAPSHOT_SERVING else CountState.SNAPSHOT_SERVING
        falling = (state <= better) & gate(workspace, rows)
        count = int(np.count_nonzero(falling))
        if count:
            state[falling] = to
            fallen += count
            slice_changed(workspace, number, rows, falling, [], only_more=False)
        first += batch
    return fallen


def everyone(workspace: Workspace, rows: slice) -> Bools:
    return np.ones(rows.stop - rows.start, dtype=np.bool_)


def missing_it(aspect: Aspect, seq: int) -> Gate:
    """Entries that an event they have not got would count for: not read, not before the membership, not in the base."""

    def gate(workspace: Workspace, rows: slice) -> Bools:
        columns = workspace.columns
        missing: Bools = (aspect.points(columns, rows) < seq) & (aspect.frontier(columns)[rows] < seq)
        return missing

    return gate


def concerned(seq: int, before: Fact, after: Fact) -> Gate:
    """Entries for which a message accounted here may have counted, as it was before or as it is now."""

    def gate(workspace: Workspace, rows: slice) -> Bools:
        members = workspace.columns.member[rows]
        missing = missing_it(MESSAGES, seq)(workspace, rows)
        touched = np.zeros(len(members), dtype=np.bool_)
        for fact in (before, after):
            if fact.counts:
                touched |= (members != fact.author) & (members != fact.principal)
        result: Bools = missing & touched
        return result

    return gate
