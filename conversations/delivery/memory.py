"""The bridge inside one process: the default, where one process serves everything."""

from __future__ import annotations

import itertools
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Collection, Mapping, Sequence
from uuid import UUID

from .bridge import ORIGIN, Batch, BridgeCounts, BridgeDown, BridgeLimits, Cursor, Delivered, Entry


class _Log:
    __slots__ = ("bytes", "entries", "expires_at", "generation", "last")

    def __init__(self, generation: int) -> None:
        self.generation = generation
        self.last = 0
        self.entries: deque[Delivered] = deque()
        self.bytes = 0
        self.expires_at = 0.0

    @property
    def tail(self) -> Cursor:
        return Cursor(self.generation, self.last)


class InProcessBridge:
    """Logs in memory, bounded in length, age and bytes. `clock` (seconds) is only for ages."""

    def __init__(self, limits: BridgeLimits | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self.counts = BridgeCounts()
        self._limits = limits or BridgeLimits()
        self._clock = clock
        self._logs: OrderedDict[UUID, _Log] = OrderedDict()
        """The stream that was idle for longest comes first."""
        self._bytes = 0
        self._generations = itertools.count(1)
        self._changed = threading.Condition()
        self._closed = False

    def publish(self, stream: UUID, entries: Sequence[Entry]) -> None:
        if not entries:
            return
        with self._changed:
            self._require_open()
            self._expire()
            log = self._logs.get(stream)
            if log is None:
                log = self._logs[stream] = _Log(next(self._generations))
            for entry in entries:
                self._append(log, entry)
            log.expires_at = self._clock() + self._limits.ttl_s
            self._logs.move_to_end(stream)
            while self._bytes > self._limits.total_bytes:
                self._forget(next(iter(self._logs)))
                self.counts.evicted += 1
            self.counts.published += len(entries)
            self._changed.notify_all()

    def tails(self, streams: Collection[UUID]) -> dict[UUID, Cursor]:
        with self._changed:
            self._require_open()
            self._expire()
            return {stream: self._tail(stream) for stream in streams}

    def drop(self, streams: Collection[UUID]) -> None:
        with self._changed:
            self._require_open()
            for stream in streams:
                if stream in self._logs:
                    self._forget(stream)
            self._changed.notify_all()

    def reader(self) -> InProcessReader:
        return InProcessReader(self)

    def ping(self) -> None:
        with self._changed:
            self._require_open()

    def close(self) -> None:
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def wait_for(self, reader: InProcessReader, cursors: Mapping[UUID, Cursor], block_s: float, limit: int) -> Batch:
        """For readers."""
        deadline = time.monotonic() + block_s
        with self._changed:
            while True:
                self._require_open()
                self._expire()
                if batch := self._after(cursors, limit):
                    self.counts.lost += len(batch.lost)
                    return batch
                left = deadline - time.monotonic()
                if reader.woken or left <= 0:
                    reader.woken = False
                    return batch
                self._changed.wait(left)

    def wake(self, reader: InProcessReader) -> None:
        """For readers."""
        with self._changed:
            reader.woken = True
            self._changed.notify_all()

    def _after(self, cursors: Mapping[UUID, Cursor], limit: int) -> Batch:
        delivered: dict[UUID, list[Delivered]] = {}
        moved: dict[UUID, Cursor] = {}
        lost: set[UUID] = set()
        for stream, cursor in cursors.items():
            log = self._logs.get(stream)
            tail = self._tail(stream)
            if cursor == tail:
                continue
            if log is None or not self._retains(log, cursor):
                lost.add(stream)
                moved[stream] = tail
                continue
            skipped = len(log.entries) - (log.last - cursor.number)
            found = list(itertools.islice(log.entries, skipped, skipped + limit))
            delivered[stream] = found
            moved[stream] = found[-1].cursor
        return Batch(delivered, moved, frozenset(lost))

    def _retains(self, log: _Log, cursor: Cursor) -> bool:
        """Whether every entry after the cursor is still there."""
        if cursor != ORIGIN and (cursor.generation != log.generation or cursor.number > log.last):
            return False
        return log.last - cursor.number <= len(log.entries)

    def _append(self, log: _Log, entry: Entry) -> None:
        body = entry.body
        if body is not None and len(body) > self._limits.entry_bytes:
            self.counts.oversized += 1
            body = None
        log.last += 1
        log.entries.append(Delivered(log.tail, entry.seq, body))
        self._count(log, len(body or b""))
        while len(log.entries) > self._limits.stream_entries:
            self._count(log, -len(log.entries.popleft().body or b""))

    def _tail(self, stream: UUID) -> Cursor:
        log = self._logs.get(stream)
        return ORIGIN if log is None else log.tail

    def _expire(self) -> None:
        now = self._clock()
        while self._logs and next(iter(self._logs.values())).expires_at <= now:
            self._forget(next(iter(self._logs)))

    def _forget(self, stream: UUID) -> None:
        self._bytes -= self._logs.pop(stream).bytes

    def _count(self, log: _Log, more_bytes: int) -> None:
        log.bytes += more_bytes
        self._bytes += more_bytes

    def _require_open(self) -> None:
        if self._closed:
            raise BridgeDown("the bridge is closed")


class InProcessReader:
    def __init__(self, bridge: InProcessBridge) -> None:
        self._bridge = bridge
        self.woken = False
        """Guarded by the bridge's lock."""

    def read(self, cursors: Mapping[UUID, Cursor], *, block_s: float, limit: int = 100) -> Batch:
        return self._bridge.wait_for(self, cursors, block_s, limit)

    def wake(self) -> None:
        self._bridge.wake(self)

    def close(self) -> None:
        self.wake()
