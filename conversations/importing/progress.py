"""A progress bar on a terminal; elsewhere a line at every tenth."""

from __future__ import annotations

import time
from typing import TextIO

WIDTH = 30
REDRAW_S = 0.1


class Progress:
    """Counts to `total`. `done` may be called as often as wanted; a terminal is redrawn ten times a second at most."""

    def __init__(self, title: str, total: int, stream: TextIO) -> None:
        self.title, self.total, self.stream = title, max(total, 1), stream
        self._terminal = stream.isatty()
        self._count = 0
        self._shown = -1
        self._drawn_at = 0.0

    def advance(self, by: int) -> None:
        self._count = min(self._count + by, self.total)
        if self._terminal:
            now = time.monotonic()
            if now - self._drawn_at >= REDRAW_S or self._count == self.total:
                self._drawn_at = now
                self._draw()
        elif (tenth := self._count * 10 // self.total) > self._shown:
            self._shown = tenth
            self.stream.write(f"{self.title}: {self._count} of {self.total}\n")
            self.stream.flush()

    def close(self) -> None:
        if self._terminal:
            self._draw()
            self.stream.write("\n")
            self.stream.flush()

    def _draw(self) -> None:
        filled = WIDTH * self._count // self.total
        bar = "#" * filled + "." * (WIDTH - filled)
        self.stream.write(f"\r{self.title} [{bar}] {self._count} of {self.total}")
        self.stream.flush()
