"""What a member is shown: the whole view, the changes since the last take, all from the one `shown` of an entry."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from .aggregate import may_be_ready, shown_row
from .columns import LIT, NO_ROW, Rows
from .states import CountState, MemberDelta, MemberUnread, Shown
from .workspace import Watch, Workspace

_READY: Final = int(CountState.READY)
_HINT: Final = int(CountState.SNAPSHOT_SERVING)
UNAVAILABLE: Final = MemberUnread(state="unavailable", has_unread=False, epoch=0, version=0, counts={})


def member_unread(workspace: Workspace, member: int, scopes: Sequence[int] | None = None) -> MemberUnread:
    """The view of a member, or the part of it that concerns some scopes; the holder of the lock calls it."""
    number = workspace.members.numbers.get(member)
    if number is None or not workspace.members.is_loaded(number):
        return _view(workspace, "hydrating", False, {})
    lit = _lit_rows(workspace, _rows_of(workspace, number))
    counts = _shown(workspace, lit)
    if scopes is not None:
        counts = {scope: counts[scope] for scope in scopes if scope in counts}
    return _view(workspace, _state(workspace, lit), len(lit) > 0, counts)


def take_delta(workspace: Workspace, member: int, watch: Watch) -> MemberDelta | None:
    """What changed since the last take, at most `max_delta_entries`; None if nothing did or nothing is shown yet."""
    number = workspace.members.numbers[member]
    if not workspace.members.is_loaded(number):
        return None
    rows = _rows_of(workspace, number)
    changed, versions = _changed_since(workspace, rows, watch.taken)
    if not len(changed) and not watch.news:
        return None
    version, limit = workspace.version, workspace.budgets.max_delta_entries
    if len(changed) > limit:
        # Entries that changed together stay together, so that the next delta begins where this one ends.
        version = int(np.sort(versions)[limit - 1])
        changed = changed[versions <= version]
    since, watch.taken, watch.news = watch.taken, version, False
    lit = _lit_rows(workspace, rows)
    counts = _shown(workspace, changed)
    return MemberDelta(since, MemberUnread(_state(workspace, lit), len(lit) > 0, workspace.epoch, version, counts))


def has_more(workspace: Workspace, member: int, watch: Watch) -> bool:
    """Whether entries changed past what was taken."""
    rows = _rows_of(workspace, workspace.members.numbers[member])
    return len(_changed_since(workspace, rows, watch.taken)[0]) > 0


def snapshot(workspace: Workspace, member: int, watch: Watch | None) -> MemberUnread:
    """The whole view; a watched member's pending changes are part of it and are not told again."""
    view = member_unread(workspace, member)
    if watch is not None:
        watch.taken, watch.news = view.version, False
    return view


def shown_of(workspace: Workspace, member: int, scope: int) -> Shown | None:
    """One entry, also if it shows nothing; None where there is none. For tests and diagnosis."""
    number, place = workspace.members.numbers.get(member), workspace.scopes.numbers.get(scope)
    if number is None or place is None:
        return None
    row = workspace.find(place, number)
    return None if row == NO_ROW else shown_row(workspace, place, row)


def _rows_of(workspace: Workspace, number: int) -> Rows:
    return np.array(workspace.columns.rows_of(int(workspace.members.heads[number])), dtype=np.int64)


def _lit_rows(workspace: Workspace, rows: Rows) -> Rows:
    lit: Rows = rows[(workspace.columns.flags[rows] & LIT) != 0]
    return lit


def _changed_since(workspace: Workspace, rows: Rows, version: int) -> tuple[Rows, npt.NDArray[np.int64]]:
    """The rows with a later version, and those versions."""
    versions = workspace.columns.touched[rows].astype(np.int64) + workspace.tick_base
    later = versions > version
    return rows[later], versions[later]


def _shown(workspace: Workspace, rows: Rows) -> dict[int, Shown]:
    ids, counts = workspace.scopes.ids, {}
    for row, scope in zip(rows.tolist(), workspace.columns.scope[rows].tolist(), strict=True):
        counts[ids[scope]] = shown_row(workspace, scope, row)
    return counts


def _state(workspace: Workspace, lit: Rows) -> str:
    """A hint among what is shown makes the whole view one."""
    columns = workspace.columns
    states = columns.state[lit]
    hints = bool((states == _HINT).any())
    if not hints:
        ready = columns.scope[lit[states == _READY]].tolist()
        hints = not all(may_be_ready(workspace, scope) for scope in ready)
    return (CountState.SNAPSHOT_SERVING if hints else CountState.READY).label


def _view(workspace: Workspace, state: str, has_unread: bool, counts: dict[int, Shown]) -> MemberUnread:
    return MemberUnread(state, has_unread, workspace.epoch, workspace.version, counts)
