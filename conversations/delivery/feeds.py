"""One subscriber of one conversation: how far it has been told of each open message, and what it must be told anew.

What a feed was told of a message is one number. An event is told where it is the next one, dropped where it is not
after that number, and where it cannot be told (the outbox is full, or something before it is missing) the message is
*wanted*: as soon as there is room, a `start` from the database takes the place of everything that was left out.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from . import frames
from .outbox import Outbox

MAX_WANTED = 1000
"""Messages to begin anew; over it the subscriber is told to read the history again."""


@dataclass(frozen=True, slots=True)
class Subscriber:
    """Who listens, to what, by which login."""

    workspace_id: UUID
    conversation_id: UUID
    member_id: UUID
    credential: str
    """`token:<id>` or `session:<key>`."""
    sees_hidden: bool = False
    """Agents also get the messages that are hidden from people."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A message to begin anew with, encoded once for all feeds that want it."""

    frame: bytes
    seq: int
    open: bool
    visible: bool = True


class Feed:
    """Used by the hub's thread alone, but for its outbox. `since_ms`: where the subscriber left off, if anywhere."""

    def __init__(self, subscriber: Subscriber, outbox: Outbox, since_ms: int | None = None) -> None:
        self.subscriber, self.outbox, self.since_ms = subscriber, outbox, since_ms
        self.wanted: dict[UUID, None] = {}
        """In the order in which they became wanted."""
        self.flooded = False
        """More was wanted than is told one by one."""
        self._told: dict[UUID, int] = {}

    @property
    def hungry(self) -> bool:
        return bool(self.wanted or self.flooded) and not self.outbox.closed

    def follows(self, message_id: UUID) -> bool:
        return message_id in self._told

    def begin_with(self, message_ids: Iterable[UUID] | None) -> None:
        """What the subscriber is told first; None where that is too much to be told one by one."""
        if message_ids is None:
            self.flooded = True
        for message_id in message_ids or ():
            self.want(message_id)

    def want(self, message_id: UUID) -> None:
        self._told.pop(message_id, None)
        if message_id not in self.wanted and len(self.wanted) >= MAX_WANTED:
            self.wanted.clear()
            self.flooded = True
        if not self.flooded:
            self.wanted[message_id] = None

    def want_from(self, message_id: UUID, seq: int) -> bool:
        """Begin anew unless it was told of everything up to `seq` already; whether that is so."""
        told = self._told.get(message_id)
        if told is None or told >= seq:
            return False
        self.want(message_id)
        return True

    def event(self, message_id: UUID, seq: int, frame: bytes, *, last: bool) -> None:
        """The event that follows what the hub handed out before."""
        told = self._told.get(message_id)
        if told is None or seq <= told:
            return
        if not self._put(frame):
            self.want(message_id)
        elif last:
            del self._told[message_id]
        else:
            self._told[message_id] = seq

    def begin(self, message_id: UUID, snapshot: Snapshot) -> None:
        """Tell a wanted message from its snapshot; where there is no room now it stays wanted."""
        del self.wanted[message_id]
        if not snapshot.visible and not self.subscriber.sees_hidden:
            return
        if not self._put(snapshot.frame):
            self.wanted[message_id] = None
        elif snapshot.open:
            self._told[message_id] = snapshot.seq

    def resync(self) -> bool:
        """Tell a flooded subscriber so; False where there is no room now."""
        if not self._put(frames.RESYNC):
            return False
        self.flooded = False
        return True

    def forget(self, message_id: UUID) -> None:
        """The message is gone."""
        self._told.pop(message_id, None)
        self.wanted.pop(message_id, None)

    def _put(self, frame: bytes) -> bool:
        """An id to resume from goes along only where nothing older is still wanted."""
        return self.outbox.put(frame, 0 if self.wanted or self.flooded else now_ms())


def now_ms() -> int:
    return time.time_ns() // 1_000_000
