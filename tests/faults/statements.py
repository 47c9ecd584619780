"""A proxy that understands where in its work a process is: it keeps back a statement, or the answer to one.

That stages a fault between any two steps without a line of code in the product: what is kept back has not happened
for the database (a statement), or has happened and is not known to the process (an answer).
"""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Iterator

from .proxy import Proxy

Pair = tuple[socket.socket, socket.socket]
PATIENCE_S = 120.0


class Hold:
    """`reached` is set once it keeps something back; `release` lets it go, `drop` does not."""

    def __init__(self, patterns: tuple[str, ...], *, answer: bool) -> None:
        self.patterns = [pattern.lower().encode() for pattern in patterns]
        self.answer = answer
        self.reached, self._released = threading.Event(), threading.Event()
        self._dropped = False
        self.seen: dict[Pair, int] = {}
        """How many of the patterns each connection has sent, in their order."""
        self.answering: Pair | None = None
        """The connection whose next answer is to be kept back."""

    def release(self) -> None:
        self._released.set()

    def drop(self) -> None:
        """What is kept back never arrives: its connection breaks."""
        self._dropped = True
        self._released.set()

    def keep(self) -> None:
        self.reached.set()
        self._released.wait(PATIENCE_S)
        if self._dropped:
            raise ConnectionAbortedError


class StatementProxy(Proxy):
    """`hold` waits for one connection to send these texts, one after the other and in any case; the last is held."""

    def __init__(self, host: str, port: int) -> None:
        self._holds: list[Hold] = []
        self._slow: dict[bytes, float] = {}
        self._thawed = threading.Event()
        self._thawed.set()
        super().__init__(host, port)

    def hold(self, *patterns: str, answer: bool = False) -> Hold:
        held = Hold(patterns, answer=answer)
        self._holds.append(held)
        return held

    def slow(self, pattern: str, seconds: float) -> None:
        """Every statement with this text takes so much longer; 0 ends that."""
        self._slow[pattern.lower().encode()] = seconds

    def freeze(self) -> None:
        """Nothing goes through any more, in either direction; connections stay open."""
        self._thawed.clear()

    def thaw(self) -> None:
        self._thawed.set()

    def close(self) -> None:
        self.thaw()
        for hold in self._holds:
            hold.release()
        super().close()

    def passing(self, pair: Pair, data: bytes, *, asked: bool) -> None:
        if asked:
            self._asked(pair, data.lower())
        else:
            for hold in self._holds:
                if hold.answering is pair:
                    hold.answering = None
                    hold.keep()
        self._thawed.wait(PATIENCE_S)

    def _asked(self, pair: Pair, statement: bytes) -> None:
        for pattern, seconds in self._slow.items():
            if seconds and pattern in statement:
                time.sleep(seconds)
        for hold in self._holds:
            if hold.reached.is_set() or hold.answering is not None:
                continue
            at = hold.seen.get(pair, 0)
            if hold.patterns[at] not in statement:
                continue
            hold.seen[pair] = at + 1
            if at + 1 < len(hold.patterns):
                continue
            if hold.answer:
                hold.answering = pair
            else:
                hold.keep()


@contextlib.contextmanager
def statements(host: str, port: int) -> Iterator[StatementProxy]:
    proxy = StatementProxy(host, port)
    try:
        yield proxy
    finally:
        proxy.close()
