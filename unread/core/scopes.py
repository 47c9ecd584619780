"""The scopes of a workspace: their numbers, their blocks of rows, their place under a parent and whether they are open.

What only a busy scope has (frontiers, logs, queues) is in `live`; a scope that is merely resident costs a few bytes in
each of these columns.
"""

from __future__ import annotations

from array import array
from typing import Final

NO_SCOPE: Final = -1

OPEN: Final = 1
"""Not archived."""
SILENT: Final = 4
"""The parent is archived."""
TOLD: Final = 8
"""An event or a row has told whether the scope is archived; until then it is taken for open."""
TOLD_ABOVE: Final = 16
"""The same of its parent, if it has one."""
TASK: Final = 32
"""Its events are accounted by the worker of their outbox alone."""
DISTRUSTED: Final = 2
"""An event for an entry of this scope could not be kept: rows that are loaded into it are suppressed."""


class Scopes:
    """Columns by scope number. The number of an evicted scope is used again."""

    __slots__ = (
        "_free",
        "child",
        "ids",
        "length",
        "numbers",
        "parent",
        "roster_seen",
        "sibling",
        "size",
        "start",
        "status",
        "status_generation",
        "used_at",
    )

    def __init__(self) -> None:
        self.numbers: dict[int, int] = {}
        self.ids: list[int] = []
        """0 where the number is free."""
        self.start = array("i")
        self.length = array("i")
        self.size = array("i")
        """Rows of the block; `length` of them are entries."""
        self.parent = array("i")
        self.child = array("i")
        """First scope below this one."""
        self.sibling = array("i")
        """Next scope below the same parent."""
        self.status = bytearray()
        self.status_generation = array("i")
        """Roster generation that the open or archived state was read at."""
        self.roster_seen = array("i")
        """Highest roster generation that any event or row told of."""
        self.used_at = array("f")
        """Seconds on the workspace's own clock, for eviction."""
        self._free: list[int] = []

    def __len__(self) -> int:
        return len(self.numbers)

    def number(self, scope: int, parent: int) -> int:
        """The scope's number, a new one at first sight; notes the parent where it was not known."""
        known = self.numbers.get(scope)
        if known is None:
            known = self._new(scope)
        if parent and self.parent[known] == NO_SCOPE:
            above = self.number(parent, 0)
            self.parent[known] = above
            self.sibling[known] = self.child[above]
            self.child[above] = known
            self.follow_parent(known)
        return known

    def set_open(self, number: int, is_open: bool, generation: int) -> bool:
        """A fact of a newer roster generation wins; answers whether it was news."""
        self.saw_roster(number, generation)
        if generation <= self.status_generation[number]:
            return False
        self.status_generation[number] = generation
        before = self.status[number]
        self.status[number] = before & ~OPEN | TOLD | (OPEN if is_open else 0)
        return self.status[number] != before

    def saw_roster(self, number: int, generation: int) -> None:
        self.roster_seen[number] = max(self.roster_seen[number], generation)

    def is_open(self, number: int) -> bool:
        """Neither the scope nor its parent is archived."""
        return self.status[number] & (OPEN | SILENT) == OPEN

    def is_told(self, number: int) -> bool:
        """Whether the scope and its parent are archived is known, and not only taken for granted."""
        return self.status[number] & (TOLD | TOLD_ABOVE) == TOLD | TOLD_ABOVE

    def follow_parent(self, number: int) -> bool:
        """Fall silent with the parent, or speak again; answers whether that changed anything.

        Noted scope by scope, so that what is shown of a scope and the red dots of its members change together.
        """
        before, above = self.status[number], self.status[self.parent[number]]
        after = before & ~(SILENT | TOLD_ABOVE) | (0 if above & OPEN else SILENT) | (TOLD_ABOVE if above & TOLD else 0)
        self.status[number] = after
        return after != before

    def children(self, number: int) -> list[int]:
        found = []
        child = self.child[number]
        while child != NO_SCOPE:
            found.append(child)
            child = self.sibling[child]
        return found

    def remove(self, number: int) -> None:
        """Forget a scope without rows; one that has scopes below it stays, for their sake."""
        if self.child[number] != NO_SCOPE:
            return
        parent = self.parent[number]
        if parent != NO_SCOPE:
            self._unchain(number, parent)
        del self.numbers[self.ids[number]]
        self.ids[number] = 0
        self._free.append(number)

    @property
    def nbytes(self) -> int:
        return len(self.ids) * (10 * 4 + 1) + len(self.numbers) * 170

    def _unchain(self, number: int, parent: int) -> None:
        below = self.child[parent]
        if below == number:
            self.child[parent] = self.sibling[number]
            return
        while self.sibling[below] != number:
            below = self.sibling[below]
        self.sibling[below] = self.sibling[number]

    def _new(self, scope: int) -> int:
        if self._free:
            number = self._free.pop()
            self.ids[number] = scope
        else:
            number = len(self.ids)
            self.ids.append(scope)
            for column in (self.start, self.length, self.size, self.parent, self.child, self.sibling):
                column.append(0)
            self.status.append(0)
            self.status_generation.append(-1)
            self.roster_seen.append(-1)
            self.used_at.append(0.0)
        self.start[number] = self.length[number] = self.size[number] = 0
        self.parent[number] = self.child[number] = self.sibling[number] = NO_SCOPE
        self.status[number] = OPEN | TOLD_ABOVE
        self.status_generation[number] = self.roster_seen[number] = -1
        self.used_at[number] = 0.0
        self.numbers[scope] = number
        return number
