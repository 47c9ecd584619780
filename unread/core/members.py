"""The members of a workspace: their numbers inside the runtime, their lit scopes, and whether their pages are in."""

from __future__ import annotations

from typing import Final

import numpy as np

from .columns import NO_ROW, Int32s

NOT_LOADED: Final = 0
LOADING: Final = 1
LOADED: Final = 2

_VEIL: Final = 1 << 30
"""Taken off the number of lit scopes while a member's pages are not in, so that `has_unread` stays one comparison."""


class Members:
    """Columns by member number. Numbers are given once and kept as long as the workspace is owned."""

    __slots__ = ("heads", "ids", "lit", "lit_view", "loading", "numbers")

    def __init__(self) -> None:
        self.numbers: dict[int, int] = {}
        self.ids: list[int] = []
        self.lit: Int32s = np.empty(0, dtype=np.int32)
        """Scopes that show something, less the veil."""
        self.heads: Int32s = np.empty(0, dtype=np.int32)
        """First row of each member."""
        self.loading = bytearray()
        self.lit_view = memoryview(self.lit.data)
        """The same numbers as plain integers: twice as fast to look up as an array's."""

    def __len__(self) -> int:
        return len(self.ids)

    def number(self, member: int) -> int:
        """The member's number, a new one at first sight."""
        known = self.numbers.get(member)
        if known is not None:
            return known
        number = len(self.ids)
        if number == len(self.lit):
            self._grow(max(64, number + number // 4))
        self.ids.append(member)
        self.lit[number] = -_VEIL
        self.heads[number] = NO_ROW
        self.loading.append(NOT_LOADED)
        self.numbers[member] = number
        return number

    def is_loaded(self, number: int) -> bool:
        return self.loading[number] == LOADED

    def lift_veil(self, number: int) -> None:
        if self.loading[number] != LOADED:
            self.loading[number] = LOADED
            self.lit[number] += _VEIL

    def lower_veil(self, number: int) -> None:
        """The member's pages are no longer all in: nothing is shown until they have been loaded again."""
        if self.loading[number] == LOADED:
            self.loading[number] = NOT_LOADED
            self.lit[number] -= _VEIL

    def lit_scopes(self, number: int) -> int:
        return int(self.lit[number]) + (0 if self.loading[number] == LOADED else _VEIL)

    @property
    def nbytes(self) -> int:
        return self.lit.nbytes + self.heads.nbytes + len(self.ids) * 150

    def _grow(self, capacity: int) -> None:
        used = len(self.ids)
        for name in ("lit", "heads"):
            column = np.empty(capacity, dtype=np.int32)
            column[:used] = getattr(self, name)[:used]
            setattr(self, name, column)
        self.lit_view = memoryview(self.lit.data)
