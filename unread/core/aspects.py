"""The two things that are counted, messages and activities, as the columns and streams that each uses."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .columns import Columns, Int32s
from .events import MessageStored, NonMessageActivityStored
from .live import LiveScope
from .stream import Stream


@dataclass(frozen=True, slots=True)
class Aspect:
    name: str
    counter: str
    cursor_column: str
    frontier_column: str
    event: type[MessageStored] | type[NonMessageActivityStored]

    def counts(self, columns: Columns) -> Int32s:
        found: Int32s = getattr(columns, self.counter)
        return found

    def cursor(self, columns: Columns) -> Int32s:
        found: Int32s = getattr(columns, self.cursor_column)
        return found

    def frontier(self, columns: Columns) -> Int32s:
        found: Int32s = getattr(columns, self.frontier_column)
        return found

    def stream(self, live: LiveScope) -> Stream:
        found: Stream = getattr(live, self.name)
        return found

    def points(self, columns: Columns, rows: slice | np.ndarray) -> Int32s:  # type: ignore[type-arg]
        """What does not count any more: up to the cursor, and for messages up to the beginning of the membership."""
        cursor = self.cursor(columns)[rows]
        if self is MESSAGES:
            return np.maximum(cursor, columns.effective_from[rows] - 1)
        return cursor

    def point(self, columns: Columns, row: int) -> int:
        cursor = int(self.cursor(columns)[row])
        return max(cursor, int(columns.effective_from[row]) - 1) if self is MESSAGES else cursor


MESSAGES = Aspect("messages", "messages", "last_read", "message_frontier", MessageStored)
ACTIVITIES = Aspect("activities", "activities", "last_activity_read", "activity_frontier", NonMessageActivityStored)
