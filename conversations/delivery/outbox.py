"""Frames on their way from the hub's thread to one connection's task: bounded in bytes, refused when full."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable

from .frames import placed

MAX_BYTES = 1024 * 1024
CHUNK_BYTES = 64 * 1024
"""What is handed over at once, but for a single larger frame."""


class Outbox:
    """`wake` tells the taker that there is something; called from the putting thread, once until the next `take`."""

    def __init__(self, wake: Callable[[], None] = lambda: None, max_bytes: int = MAX_BYTES) -> None:
        self._wake, self._max_bytes = wake, max_bytes
        self._lock = threading.Lock()
        self._frames: deque[tuple[bytes, int]] = deque()
        self._bytes = 0
        self._woken = False
        self._refused = False
        self._closed = False

    @property
    def waiting_bytes(self) -> int:
        return self._bytes

    @property
    def closed(self) -> bool:
        return self._closed

    def put(self, frame: bytes, position: int) -> bool:
        """False where the reader is so far behind that the frame does not fit; an empty outbox takes any frame."""
        with self._lock:
            if self._closed or (self._frames and self._bytes + len(frame) > self._max_bytes):
                self._refused = True
                return False
            self._frames.append((frame, position))
            self._bytes += len(frame)
            wake, self._woken = not self._woken, True
        if wake:
            self._wake()
        return True

    def close(self) -> None:
        """Nothing more goes out, also of what waits."""
        with self._lock:
            self._closed = True
            self._frames.clear()
            self._bytes = 0
        self._wake()

    def take(self) -> bytes:
        """What comes next, empty where nothing waits."""
        with self._lock:
            taken: list[bytes] = []
            size = 0
            while self._frames and (not taken or size + len(self._frames[0][0]) <= CHUNK_BYTES):
                frame, position = self._frames.popleft()
                self._bytes -= len(frame)
                size += len(frame)
                taken.append(placed(frame, position))
            self._woken = bool(self._frames)
            return b"".join(taken)

    def await_room(self) -> bool:
        """Whether the reader has caught up; where not, `has_room_again` will say when."""
        with self._lock:
            roomy = self._bytes <= self._max_bytes // 2
            self._refused = not roomy
            return roomy

    def has_room_again(self) -> bool:
        """True once after something was refused, when the reader has caught up."""
        with self._lock:
            if not self._refused or self._bytes > self._max_bytes // 2:
                return False
            self._refused = False
            return True
