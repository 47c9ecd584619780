"""The bridge over Redis Streams, for several processes."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar
from uuid import UUID

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from .bridge import Batch, BridgeCounts, BridgeDown, BridgeLimits, Cursor, Delivered, Entry
from .redis_scripts import CHECK, PUBLISH

COMMAND_TIMEOUT_S = 1.0
"""A writer waits for Redis no longer than this, connecting included."""
DOWN_PAUSE_S = 1.0
"""After a failure writers do not even try for this long."""
READ_MARGIN_S = 5.0
"""A blocking read's socket waits this much longer than the read, however long the client's default is."""
MAX_BLOCK_S = 10.0
CHECK_EVERY_S = 2.0
"""How soon a reader notices that a stream is gone which nobody writes any more."""
_PUBLISH_BATCH = 500
_WAKE_ATTEMPTS, _WAKE_PAUSE_S = 20, 0.005

Result = TypeVar("Result")


def stream_key(stream: UUID) -> str:
    return f"loopd:stream:{stream}"


class RedisBridge:
    """Publishing and reading use clients of their own: a blocking read never holds up a writer.

    `clock` (seconds) times the pause after a failure and the readers' checks.
    """

    def __init__(
        self,
        url: str,
        limits: BridgeLimits | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
        command_timeout_s: float = COMMAND_TIMEOUT_S,
    ) -> None:
        self.counts = BridgeCounts()
        self.url = url
        self.clock = clock
        self._limits = limits or BridgeLimits()
        self._client = connect(url, command_timeout_s)
        self._publish = self._client.register_script(PUBLISH)
        self._check = self._client.register_script(CHECK)
        self._down_until: float | None = None
        self._closed = False

    def publish(self, stream: UUID, entries: Sequence[Entry]) -> None:
        for at in range(0, len(entries), _PUBLISH_BATCH):
            batch = entries[at : at + _PUBLISH_BATCH]
            args: list[bytes | int] = [self._limits.stream_entries, round(self._limits.ttl_s * 1000)]
            for entry in batch:
                body = entry.body or b""
                carried = len(body) <= self._limits.entry_bytes
                self.counts.oversized += not carried
                args += (entry.seq, body if carried else b"")
            try:
                self.command(partial(self._publish, keys=[stream_key(stream)], args=args))
            except BridgeDown:
                self.counts.failed += len(entries) - at
                raise
            self.counts.published += len(batch)

    def tails(self, streams: Collection[UUID]) -> dict[UUID, Cursor]:
        return {stream: tail for stream, (tail, _) in self.check(dict.fromkeys(streams)).items()}

    def check(self, cursors: Mapping[UUID, Cursor | None]) -> dict[UUID, tuple[Cursor, bool]]:
        """Each stream's tail, and whether entries after the cursor are gone."""
        if not cursors:
            return {}
        keys = [stream_key(stream) for stream in cursors]
        args = ["" if cursor is None else str(cursor) for cursor in cursors.values()]
        answers = self.command(lambda: self._check(keys=keys, args=args))
        return {stream: (parse_cursor(tail), bool(lost)) for stream, (tail, lost) in zip(cursors, answers, strict=True)}

    def drop(self, streams: Collection[UUID]) -> None:
        if streams:
            self.command(lambda: self._client.unlink(*map(stream_key, streams)))

    def reader(self) -> RedisReader:
        return RedisReader(self)

    def ping(self) -> None:
        self.command(self._client.ping, even_in_pause=True)

    def unblock(self, client_id: int) -> bool:
        """Whether that client was blocked and is no longer. A failure is the reader's to meet, not the writers'."""
        try:
            return bool(self._client.client_unblock(client_id))
        except redis.RedisError:
            return True

    def close(self) -> None:
        self._closed = True
        self._client.close()

    def command(self, run: Callable[[], Result], *, even_in_pause: bool = False) -> Result:
        """Any failure is `BridgeDown`: writers have committed, and readers begin again from the database."""
        if self._closed:
            raise BridgeDown("the bridge is closed")
        if self._down_until is not None and not even_in_pause and self.clock() < self._down_until:
            raise BridgeDown("Redis did not answer a moment ago")
        try:
            result = run()
        except redis.RedisError as error:
            self._down_until = self.clock() + DOWN_PAUSE_S
            raise BridgeDown(f"Redis: {error}") from error
        self._down_until = None
        return result


class RedisReader:
    """One `XREAD` over all streams. It notices holes by the ids it gets, and silent losses by a check now and then."""

    def __init__(self, bridge: RedisBridge) -> None:
        self._bridge = bridge
        self._client: Any = None
        self.client_id = 0
        self._check_at = 0.0
        self._lock = threading.Lock()
        self._blocked = False
        self._woken = False
        self._wait = threading.Condition(self._lock)

    def read(self, cursors: Mapping[UUID, Cursor], *, block_s: float, limit: int = 100) -> Batch:
        block_s = min(block_s, MAX_BLOCK_S)
        if not cursors:
            self._idle(block_s)
            return Batch()
        if self._client is None:
            self._open()
        if self._bridge.clock() >= self._check_at and (gone := self._gone(cursors)):
            return gone
        return self._read_on(cursors, block_s, limit)

    def wake(self) -> None:
        with self._lock:
            self._woken = True
            self._wait.notify_all()
        for _ in range(_WAKE_ATTEMPTS):
            if not self._blocked:
                return
            if self._bridge.unblock(self.client_id):
                return
            time.sleep(_WAKE_PAUSE_S)  # the command to block is on its way

    def close(self) -> None:
        self.wake()
        if self._client is not None and not self._blocked:
            self._forget_client()

    def _read_on(self, cursors: Mapping[UUID, Cursor], block_s: float, limit: int) -> Batch:
        streams = {stream_key(stream).encode(): stream for stream in cursors}
        places = {stream_key(stream): str(cursor) for stream, cursor in cursors.items()}
        with self._lock:
            self._blocked = not self._woken and block_s > 0
            self._woken = False
        block_ms = max(1, round(block_s * 1000)) if self._blocked else None
        try:
            answer = self._client.xread(places, count=limit, block=block_ms) or []
        except redis.RedisError as error:
            self._forget_client()
            raise BridgeDown(f"Redis: {error}") from error
        finally:
            with self._lock:
                # Whoever woke this read is served by its end; the caller looks for streams after it.
                self._blocked = self._woken = False
        return self._batch(cursors, {streams[key]: entries for key, entries in answer})

    def _batch(self, cursors: Mapping[UUID, Cursor], found: Mapping[UUID, Sequence[Any]]) -> Batch:
        delivered: dict[UUID, list[Delivered]] = {}
        moved: dict[UUID, Cursor] = {}
        lost: set[UUID] = set()
        for stream, raw in found.items():
            entries = [Delivered(parse_cursor(key), int(fields[b"s"]), fields.get(b"b")) for key, fields in raw]
            moved[stream] = entries[-1].cursor
            if self._whole(cursors[stream], entries):
                delivered[stream] = entries
            else:
                lost.add(stream)
        self._bridge.counts.lost += len(lost)
        return Batch(delivered, moved, frozenset(lost))

    @staticmethod
    def _whole(cursor: Cursor, entries: Sequence[Delivered]) -> bool:
        for entry in entries:
            if not cursor.is_followed_by(entry.cursor):
                return False
            cursor = entry.cursor
        return True

    def _gone(self, cursors: Mapping[UUID, Cursor]) -> Batch | None:
        """The streams that `XREAD` would wait on for ever, or None."""
        checked = self._bridge.check(cursors)
        self._check_at = self._bridge.clock() + CHECK_EVERY_S
        lost = {stream: tail for stream, (tail, gone) in checked.items() if gone}
        self._bridge.counts.lost += len(lost)
        return Batch({}, lost, frozenset(lost)) if lost else None

    def _idle(self, block_s: float) -> None:
        with self._lock:
            self._wait.wait_for(lambda: self._woken, block_s)
            self._woken = False

    def _open(self) -> None:
        def opened() -> tuple[Any, int]:
            client = connect(self._bridge.url, MAX_BLOCK_S + READ_MARGIN_S, single_connection_client=True)
            return client, client.client_id()

        self._client, self.client_id = self._bridge.command(opened)
        self._check_at = 0.0

    def _forget_client(self) -> None:
        if self._client is not None:
            self._client.close()
        self._client = None


def connect(url: str, timeout_s: float, **options: Any) -> Any:
    """A client that fails once and at once: what to do then is the caller's to know."""
    return redis.Redis.from_url(
        url,
        socket_timeout=timeout_s,
        socket_connect_timeout=COMMAND_TIMEOUT_S,
        retry=Retry(NoBackoff(), 0),
        protocol=2,
        **options,
    )


def parse_cursor(text: bytes) -> Cursor:
    generation, _, number = text.partition(b"-")
    return Cursor(int(generation), int(number))
