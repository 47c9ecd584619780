"""The port between writers and watchers of streams, and what its adapters promise.

A stream is one message's log. Every entry has a `Cursor` that is its predecessor's plus one, within the stream's
`generation`; a stream that was lost and begins again does so under another generation. So a reader that asks for what
follows its cursor always learns whether anything in between is gone (`Batch.lost`): trimmed, expired, evicted, flushed
or lost with its server. It then takes the cursor it is given, reads the database, and goes on from there; as writers
commit before they publish, what that cursor skips is in what the database shows.

A watcher begins in the same order: `tails` first, then the database, then `read`. Only publishing makes a stream.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol
from uuid import UUID


class Cursor(NamedTuple):
    """A place in one stream: after the entry of this number. Never to be compared across streams."""

    generation: int
    number: int

    def __str__(self) -> str:
        return f"{self.generation}-{self.number}"

    def is_followed_by(self, other: Cursor) -> bool:
        """Whether nothing lies between the two."""
        if self == ORIGIN:
            return other.number == 1
        return other == (self.generation, self.number + 1)


ORIGIN = Cursor(0, 0)
"""Before the first entry of a stream that need not exist yet."""


class Entry(NamedTuple):
    """One event to publish: its `seq` in the message, and its encoded envelope.

    `body` None says only that the message changed up to `seq`, to be fetched.
    """

    seq: int
    body: bytes | None


@dataclass(frozen=True, slots=True)
class Delivered:
    """An entry as read. `body` is None where it had none or a larger one than an entry may have: fetch the message."""

    cursor: Cursor
    seq: int
    body: bytes | None


@dataclass(frozen=True, slots=True)
class Batch:
    """What one read found. `cursors` says where to go on, for every stream that moved or is lost."""

    delivered: dict[UUID, list[Delivered]] = field(default_factory=dict)
    cursors: dict[UUID, Cursor] = field(default_factory=dict)
    lost: frozenset[UUID] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.cursors)


@dataclass(frozen=True, slots=True)
class BridgeLimits:
    stream_entries: int = 1000
    """Older entries of a stream go."""
    entry_bytes: int = 65_536
    """The body of a larger event is not carried."""
    ttl_s: float = 3600.0
    """How long a stream outlives its last entry."""
    total_bytes: int = 64 * 1024 * 1024
    """All streams together, in process; the one that was idle for longest goes first. Redis has its own `maxmemory`."""


@dataclass(slots=True)
class BridgeCounts:
    """Since this process began."""

    published: int = 0
    oversized: int = 0
    failed: int = 0
    evicted: int = 0
    lost: int = 0


class BridgeDown(Exception):
    """The bridge cannot be reached; what was to be published is in the database all the same."""


class StreamReader(Protocol):
    """One reader, used by one thread at a time; any thread may wake it."""

    def read(self, cursors: Mapping[UUID, Cursor], *, block_s: float, limit: int = 100) -> Batch:
        """What follows the cursors, at most `limit` entries of each stream.

        Waits up to `block_s` seconds for something to come, less where somebody calls `wake`; then the batch is empty.
        Raises `BridgeDown`.
        """
        ...

    def wake(self) -> None:
        """End the current wait, or the next one where none goes on: there are other streams to read."""
        ...

    def close(self) -> None: ...


class Bridge(Protocol):
    counts: BridgeCounts

    def publish(self, stream: UUID, entries: Sequence[Entry]) -> None:
        """Append in order, all or none. Raises `BridgeDown`, quickly; the caller has committed and goes on."""
        ...

    def tails(self, streams: Collection[UUID]) -> dict[UUID, Cursor]:
        """The end of each stream, `ORIGIN` where there is none. Raises `BridgeDown`."""
        ...

    def drop(self, streams: Collection[UUID]) -> None:
        """Forget streams, of deleted messages. Raises `BridgeDown`."""
        ...

    def reader(self) -> StreamReader: ...

    def ping(self) -> None:
        """Raises `BridgeDown`."""
        ...

    def close(self) -> None: ...
