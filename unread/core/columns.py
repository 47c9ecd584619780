"""The entries of a workspace as columns: one numpy array per fact, one row per (member, scope).

A scope owns a contiguous block of rows with room to grow, so that an event for all its members is a handful of
vectorised steps over a slice. The rows of one member are linked by row numbers. Nothing here is an object per entry:
a row costs the bytes in `ROW_BYTES`, and the garbage collector sees some twenty arrays whatever their length.

Seqs, counts and generations are 32 bits wide: a scope with more than 2^31 - 1 messages is refused by an OverflowError
from numpy, which degrades the scope like any other error.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from .blocks import FreeBlocks

Int32s = npt.NDArray[np.int32]
Bools = npt.NDArray[np.bool_]
Rows = npt.NDArray[np.int64]

NO_ROW: Final = -1
UNKNOWN: Final = -1
"""A generation that nothing is known about: any fact is newer."""
NEVER: Final = 2**31 - 1
"""`effective_from` of an entry whose membership is not known: no message counts for it."""
TICKS: Final = 2**32 - 1
"""Largest value of `touched`."""

ACTIVE: Final = 1
VISIBLE: Final = 2
LOADED: Final = 4
"""What the snapshot says of the entry is in, also that it says nothing; else the entry keeps events for its row."""
SAW_JOIN: Final = 8
"""This process saw the membership begin, so the logs reach back to the join."""
DIRTY: Final = 16
FLYING: Final = 32
"""A copy of the row is being written."""
LIT: Final = 64
"""The entry shows something and is counted in its member's number of lit scopes."""
WATCHED: Final = 128
"""The member has a socket open."""
HIDDEN: Final = 256
"""Evidence says that the member has no active membership here; any newer fact takes this away."""
EXACT: Final = 512
"""A kept "mark unread from here" made the message counts exact up to `message_frontier`."""

_DTYPES: Final[dict[str, Any]] = {
    "member": np.int32,
    "scope": np.int32,
    "after": np.int32,
    "before": np.int32,
    "flags": np.uint16,
    "level": np.uint8,
    "state": np.uint8,
    "effective_from": np.int32,
    "last_read": np.int32,
    "last_activity_read": np.int32,
    "messages": np.int32,
    "mentions": np.int32,
    "activities": np.int32,
    "marker": np.int32,
    "message_frontier": np.int32,
    "activity_frontier": np.int32,
    "rewind": np.int32,
    "membership_generation": np.int32,
    "read_generation": np.int32,
    "policy_generation": np.int32,
    "marker_generation": np.int32,
    "touched": np.uint32,
}
ROW_BYTES: Final[int] = sum(np.dtype(dtype).itemsize for dtype in _DTYPES.values())
_FIRST_ROWS: Final = 64


def block_size(rows: int) -> int:
    """The smallest block for that many rows: eight sizes to each doubling, so a sixteenth is empty on average."""
    if rows <= 8:
        return max(rows, 1)
    step = 1 << max((rows - 1).bit_length() - 4, 0)
    return -(-rows // step) * step


class Columns:
    """Rows and the blocks they lie in. Arrays are replaced when they grow: never keep one across an allocation."""

    member: Int32s
    """NO_ROW where the row is free."""
    scope: Int32s
    after: Int32s
    """The member's next row, NO_ROW at the end."""
    before: Int32s
    flags: npt.NDArray[np.uint16]
    level: npt.NDArray[np.uint8]
    state: npt.NDArray[np.uint8]
    effective_from: Int32s
    last_read: Int32s
    last_activity_read: Int32s
    messages: Int32s
    """Signed: changes that arrive out of order may pass through a negative number, which is shown as zero."""
    mentions: Int32s
    activities: Int32s
    marker: Int32s
    message_frontier: Int32s
    """The counts contain every message up to here by their base (a row, or facts read in one transaction)."""
    activity_frontier: Int32s
    rewind: Int32s
    """Rewind generation of that base."""
    membership_generation: Int32s
    read_generation: Int32s
    policy_generation: Int32s
    marker_generation: Int32s
    touched: npt.NDArray[np.uint32]
    """The workspace's tick when the entry last changed."""

    __slots__ = (*_DTYPES, "_free", "capacity", "used")

    def __init__(self) -> None:
        self.capacity = 0
        self.used = 0
        self._free = FreeBlocks()
        self._grow(_FIRST_ROWS)

    @property
    def nbytes(self) -> int:
        return int(self.capacity * ROW_BYTES)

    @property
    def holes(self) -> int:
        """Rows in free blocks."""
        return self._free.rows

    def allocate(self, rows: int) -> tuple[int, int]:
        """A free block for that many rows: its start and its size."""
        size = block_size(rows)
        hole = self._free.take(size)
        if hole is not None:
            return hole, size
        start = self.used
        self._use(start + size)
        return start, size

    def extend(self, start: int, size: int, rows: int) -> int:
        """Let a block grow where it lies; answers its new size, or 0 where what follows it is in use."""
        grown = block_size(rows)
        if start + size == self.used:
            self._use(start + grown)
        elif not self._free.take_at(start + size, grown - size):
            return 0
        return grown

    def release(self, start: int, size: int) -> None:
        self.member[start : start + size] = NO_ROW
        start, size = self._free.add(start, size)
        if start + size == self.used:
            self._free.remove(start)
            self.used = start

    def clear(self, row: slice, members: Int32s, scope: int) -> None:
        """Make rows shells: entries that nothing is known of."""
        for name in _DTYPES:
            getattr(self, name)[row] = 0
        self.member[row] = members
        self.scope[row] = scope
        self.effective_from[row] = NEVER
        for name in ("after", "before", "membership_generation", "read_generation", "policy_generation"):
            getattr(self, name)[row] = UNKNOWN
        self.marker_generation[row] = UNKNOWN

    def link(self, rows: Rows, heads: Int32s) -> None:
        """Put rows of different members at the front of their members' lists."""
        members = self.member[rows]
        first = heads[members]
        self.after[rows] = first
        self.before[rows] = NO_ROW
        has_next = first >= 0
        self.before[first[has_next]] = rows[has_next]
        heads[members] = rows

    def unlink(self, rows: Rows, heads: Int32s) -> None:
        """Take rows of different members out of their members' lists."""
        before, after = self.before[rows], self.after[rows]
        inner = before >= 0
        self.after[before[inner]] = after[inner]
        heads[self.member[rows[~inner]]] = after[~inner]
        has_next = after >= 0
        self.before[after[has_next]] = before[has_next]

    def move(self, start: int, length: int, to: int, heads: Int32s) -> None:
        """Copy a scope's rows to another block and point their neighbours at the new place."""
        for name in _DTYPES:
            column = getattr(self, name)
            column[to : to + length] = column[start : start + length]
        rows = np.arange(to, to + length, dtype=np.int64)
        before, after = self.before[to : to + length], self.after[to : to + length]
        inner = before >= 0
        self.after[before[inner]] = rows[inner]
        heads[self.member[to : to + length][~inner]] = rows[~inner]
        has_next = after >= 0
        self.before[after[has_next]] = rows[has_next]

    def rows_of(self, head: int) -> list[int]:
        """All rows of one member, the newest first."""
        rows = []
        after = self.after
        row = head
        while row >= 0:
            rows.append(row)
            row = int(after[row])
        return rows

    def compact(self, blocks: Sequence[tuple[int, int]], heads: Int32s) -> list[tuple[int, int]]:
        """Lay `(start, length)` blocks side by side, in their order; answers their new starts and sizes."""
        moved: list[tuple[int, int]] = []
        sources, places, to = [], [], 0
        for start, length in blocks:
            size = block_size(length)
            sources.append(np.arange(start, start + length))
            places.append(np.arange(to, to + length))
            moved.append((to, size))
            to += size
        source = np.concatenate([np.empty(0, dtype=np.int64), *sources])
        place = np.concatenate([np.empty(0, dtype=np.int64), *places])
        target = np.full(self.used + 1, NO_ROW, dtype=np.int64)
        target[source] = place
        capacity = max(to + to // 8, _FIRST_ROWS)
        for name, dtype in _DTYPES.items():
            column = np.full(capacity, NO_ROW, dtype=dtype) if name == "member" else np.empty(capacity, dtype=dtype)
            column[place] = getattr(self, name)[source]
            setattr(self, name, column)
        for links in (self.after, self.before):
            links[place] = target[links[place]]
        linked = heads >= 0
        heads[linked] = target[heads[linked]]
        self.capacity, self.used, self._free = capacity, to, FreeBlocks()
        return moved

    def _use(self, end: int) -> None:
        """All rows up to there are in blocks from here on."""
        if end > self.capacity:
            self._grow(end)
        self.member[self.used : end] = NO_ROW
        self.used = end

    def _grow(self, rows: int) -> None:
        capacity = max(rows, self.capacity + self.capacity // 8)
        for name, dtype in _DTYPES.items():
            column = np.empty(capacity, dtype=dtype)
            if self.used:
                column[: self.used] = getattr(self, name)[: self.used]
            setattr(self, name, column)
        self.capacity = capacity
