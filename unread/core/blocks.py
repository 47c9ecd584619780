"""Free blocks of the arena, by where they lie and by how long they are.

Members' rows arrive one member at a time, so that scopes grow side by side, a little each: every step leaves a block
behind that is too short for the next one. Blocks that lie side by side are therefore one block, and a long one may be
cut. Kept by exact sizes instead, they added up to several times the rows in use.
"""

from __future__ import annotations

from typing import Final

_TRIES: Final = 16
"""Blocks of about the wanted length that are looked at before a longer one is cut."""


class FreeBlocks:
    __slots__ = ("_ladder", "_sizes", "_starts", "rows")

    def __init__(self) -> None:
        self.rows = 0
        """In all blocks together."""
        self._sizes: dict[int, int] = {}
        """By start."""
        self._starts: dict[int, int] = {}
        """By end."""
        self._ladder: list[dict[int, None]] = []
        """Starts of the blocks of at least `2 ** place` and fewer than twice as many rows, the oldest first."""

    def __len__(self) -> int:
        return len(self._sizes)

    def add(self, start: int, size: int) -> tuple[int, int]:
        """Answers the block that it is part of now."""
        after = self._sizes.get(start + size)
        if after is not None:
            self._remove(start + size)
            size += after
        before = self._starts.get(start)
        if before is not None:
            size += self._remove(before)
            start = before
        self._insert(start, size)
        return start, size

    def take(self, size: int) -> int | None:
        """The start of so many rows that are free no longer; None if no block is long enough."""
        start = self._find(size)
        if start is not None:
            self._cut(start, size)
        return start

    def take_at(self, start: int, size: int) -> bool:
        """Take the first rows of the block that begins there; answers whether there is one and it is long enough."""
        if self._sizes.get(start, 0) < size:
            return False
        self._cut(start, size)
        return True

    def remove(self, start: int) -> None:
        """Forget the block that begins there."""
        self._remove(start)

    def _find(self, size: int) -> int | None:
        near = size.bit_length() - 1
        for tries, start in enumerate(self._ladder[near] if near < len(self._ladder) else ()):
            if self._sizes[start] >= size:
                return start
            if tries == _TRIES:
                break
        for longer in self._ladder[near + 1 :]:
            if longer:
                return next(iter(longer))
        return None

    def _cut(self, start: int, size: int) -> None:
        left = self._remove(start) - size
        if left:
            self._insert(start + size, left)

    def _insert(self, start: int, size: int) -> None:
        place = size.bit_length() - 1
        while len(self._ladder) <= place:
            self._ladder.append({})
        self._ladder[place][start] = None
        self._sizes[start], self._starts[start + size] = size, start
        self.rows += size

    def _remove(self, start: int) -> int:
        size = self._sizes.pop(start)
        del self._starts[start + size]
        del self._ladder[size.bit_length() - 1][start]
        self.rows -= size
        return size
