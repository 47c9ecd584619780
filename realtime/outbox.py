"""Frames that wait for one reader: bounded by number and size, and replaced by a gap when full."""

from __future__ import annotations

import asyncio
from collections import deque

MAX_FRAMES = 256
MAX_BYTES = 1024 * 1024


class Gap:
    """Stands for frames that were left out: the reader needs a snapshot instead."""


GAP = Gap()


class Outbox:
    """Used on the event loop only.

    A full outbox forgets everything and holds a single gap until that is taken; what comes meanwhile is left out too,
    for whoever takes the gap makes a snapshot at that moment, which is newer than anything that came before.
    """

    def __init__(self, max_frames: int = MAX_FRAMES, max_bytes: int = MAX_BYTES) -> None:
        self._max_frames, self._max_bytes = max_frames, max_bytes
        self._frames: deque[str] = deque()
        self._bytes = 0
        self._gap = False
        self._filled = asyncio.Event()

    def __len__(self) -> int:
        return len(self._frames)

    @property
    def bytes(self) -> int:
        """Roughly: characters of the frames that wait."""
        return self._bytes

    @property
    def gap(self) -> bool:
        return self._gap

    def put(self, frame: str) -> bool:
        """Add a frame at the end; False where it was left out."""
        if self._gap:
            return False
        if len(self._frames) >= self._max_frames or (self._frames and self._bytes + len(frame) > self._max_bytes):
            self.leave_out()
            return False
        self._frames.append(frame)
        self._bytes += len(frame)
        self._filled.set()
        return True

    def leave_out(self) -> None:
        """Forget what waits; the reader gets a snapshot next."""
        self._frames.clear()
        self._bytes = 0
        self._gap = True
        self._filled.set()

    async def take(self) -> str | Gap:
        """The next frame, or the gap; waits for one."""
        while not (self._gap or self._frames):
            self._filled.clear()
            await self._filled.wait()
        if self._gap:
            self._gap = False
            return GAP
        frame = self._frames.popleft()
        self._bytes -= len(frame)
        return frame
