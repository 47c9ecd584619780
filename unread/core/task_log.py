"""What this process accounted of one task: its events with their frozen recipients, for exact recounts.

Events of a task come in one order, from the worker of its outbox, so a log is complete from its start to its top and
needs no sets around a frontier.
"""

from __future__ import annotations

from typing import Final

from .log import NOTHING, Fact

UNSTARTED: Final = -1


class TaskLog:
    """Messages or activities of one task, at most `capacity` of them."""

    __slots__ = ("_capacity", "_records", "floor", "start", "top")

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._records: dict[int, tuple[Fact, frozenset[int]]] = {}
        self.start = UNSTARTED
        """Everything past it was accounted here, in order."""
        self.top = 0
        self.floor = 0
        """Nothing at or below it may be recounted."""

    def __len__(self) -> int:
        return len(self._records)

    def put(self, seq: int, fact: Fact, recipients: frozenset[int]) -> None:
        """The next event; one that was put before is left alone."""
        if self.start == UNSTARTED:
            self.start = seq - 1
        if seq <= self.top:
            return
        self.top = seq
        if fact.counts and recipients:
            self._records[seq] = (fact, recipients)
        if len(self._records) > self._capacity:
            self.floor = next(iter(self._records))
            del self._records[self.floor]

    def change(self, seq: int, fact: Fact | None) -> None:
        """A message was removed (None) or edited."""
        if seq in self._records:
            self._records[seq] = (fact or NOTHING, self._records[seq][1])

    def lose(self, seq: int) -> None:
        """An event that nobody accounted: nothing up to it can be recounted."""
        self.top = max(self.top, seq)
        self.floor = self.top

    def count(self, member: int, after: int) -> tuple[int, int]:
        """Events past a seq that count for a member, and the mentions among them."""
        counts = mentions = 0
        for seq in reversed(self._records):
            if seq <= after:
                break
            fact, recipients = self._records[seq]
            if member in recipients and fact.counts_for(member):
                counts += 1
                mentions += member in fact.mentions
        return counts, mentions


class TaskState:
    """What a task has while its events are accounted: two logs, and what its hooks announced."""

    __slots__ = ("activities", "announced", "behind", "changes", "messages")

    def __init__(self, log_size: int) -> None:
        self.messages = TaskLog(log_size)
        self.activities = TaskLog(log_size)
        self.changes = 0
        """The last rewind generation accounted."""
        self.announced = (0, 0, 0)
        """Highest message, activity and change that were committed for somebody."""
        self.behind = False

    def announce(self, messages: int = 0, activities: int = 0, change: int = 0) -> None:
        before = self.announced
        self.announced = (max(before[0], messages), max(before[1], activities), max(before[2], change))

    @property
    def waits(self) -> bool:
        """Something was committed and is not accounted yet."""
        messages, activities, changes = self.announced
        return messages > self.messages.top or activities > self.activities.top or changes > self.changes
