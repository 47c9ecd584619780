"""Reads the bridge for the hub: one thread and one reader for all streams of the process."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Mapping
from uuid import UUID

from .bridge import Batch, Bridge, BridgeDown, Cursor

logger = logging.getLogger(__name__)

BLOCK_S = 5.0
RETRY_S = 1.0
ENTRIES_PER_READ = 200
"""Of each stream."""


class BridgeFollower:
    """`deliver` takes each batch in this thread, and may make it wait; `down` hears of each failed attempt to read.

    `follow` and `drop` may come from any one thread and take effect at once, by waking the reader.
    """

    name = "stream-reader"

    def __init__(self, bridge: Bridge, deliver: Callable[[Batch], None], down: Callable[[], None]) -> None:
        self._reader = bridge.reader()
        self._deliver, self._down = deliver, down
        self._cursors: dict[UUID, Cursor] = {}
        self._changes: list[Callable[[], None]] = []
        self._lock = threading.Lock()
        self._ending = threading.Event()
        self._thread: threading.Thread | None = None
        self.is_down = False

    def follow(self, cursors: Mapping[UUID, Cursor]) -> None:
        """Also read these streams, from there."""
        self._change(lambda: self._cursors.update(cursors))

    def drop(self, streams: Iterable[UUID]) -> None:
        gone = list(streams)
        self._change(lambda: [self._cursors.pop(stream, None) for stream in gone])

    def start(self) -> None:
        self._thread = threading.Thread(target=self._run, name=self.name, daemon=True)
        self._thread.start()

    def stop(self, deadline_s: float) -> None:
        self._ending.set()
        self._reader.wake()
        if self._thread is not None:
            self._thread.join(max(0.0, deadline_s))
            if self._thread.is_alive():
                logger.error("%s did not end within %.1f s", self.name, deadline_s)

    def healthy(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def step(self, block_s: float) -> bool:
        """One read, of at most `block_s` seconds; whether it found something."""
        with self._lock:
            changes, self._changes = self._changes, []
        for change in changes:
            change()
        try:
            batch = self._reader.read(self._cursors, block_s=block_s, limit=ENTRIES_PER_READ)
        except BridgeDown as down:
            if not self.is_down:
                logger.warning("streams are read from the database while the bridge is down: %s", down)
            self.is_down = True
            self._down()
            return False
        self.is_down = False
        if not batch:
            return False
        self._cursors.update(batch.cursors)
        self._deliver(batch)
        return True

    def _run(self) -> None:
        while not self._ending.is_set():
            try:
                self.step(BLOCK_S)
            except Exception:
                logger.exception("%s failed; it goes on", self.name)
                self._ending.wait(RETRY_S)
            if self.is_down:
                self._ending.wait(RETRY_S)
        self._reader.close()

    def _change(self, change: Callable[[], object]) -> None:
        with self._lock:
            self._changes.append(change)  # type: ignore[arg-type]
        if self._thread is not None:
            self._reader.wake()
