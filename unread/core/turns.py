"""Taking turns: the lock of a workspace, and the live scopes that a thread may be in the middle of.

The lock is let go between two batches of an event. Until the event is through, its scope is busy: other events of that
scope wait for their turn, those of other scopes and of single members go on.
"""

from __future__ import annotations

import threading
import time
from itertools import islice
from typing import Final

from .budgets import Budgets
from .live import LiveScope
from .resting import pack, unpack

_COOLING_TRIES: Final = 8
"""Scopes looked at beyond those that are too many, since some cannot be packed."""
_COOLED_AT_ONCE: Final = 64


class _Turn:
    """A scope is busy inside of it. Written out, because each message goes through one."""

    __slots__ = ("_live", "_turns")

    def __init__(self, turns: Turns, live: LiveScope) -> None:
        self._turns, self._live = turns, live

    def __enter__(self) -> None:
        self._live.busy = True

    def __exit__(self, *_: object) -> None:
        self._turns.end_turn(self._live)


class Turns:
    """The part of a workspace that says who may go on. All of it is for the holder of the lock."""

    def __init__(self, budgets: Budgets) -> None:
        self.budgets = budgets
        self.lock = threading.Lock()
        self.turn_over = threading.Condition(self.lock)
        """Notified when a thread that accounted in batches is done with its scope."""
        self._waiting_turns = 0
        self.closed = False
        """No longer owned: whatever still runs here must stop and change nothing."""
        self.live: dict[int, LiveScope] = {}
        self.resting: dict[int, bytes] = {}
        """Live parts of scopes at rest, packed."""
        self.open_gaps: set[int] = set()
        """Scopes that housekeeping has to look at."""

    def breathe(self) -> None:
        """Let others in between two batches."""
        self.lock.release()
        time.sleep(0)
        self.lock.acquire()

    def turn(self, scope: int) -> LiveScope:
        """The scope's live part once no other thread is in the middle of an event of it."""
        while True:
            live = self.live_of(scope)
            if live is None:
                live = self.live[scope] = LiveScope(scope, self.budgets.scope_log_size)
            if not live.busy or self.closed:
                return live
            self._wait_turn()

    def live_of(self, scope: int) -> LiveScope | None:
        """The scope's live part if it has one, unpacked if it was at rest."""
        live = self.live.get(scope)
        if live is None:
            packed = self.resting.pop(scope, None)
            if packed is not None:
                live = self.live[scope] = unpack(scope, packed, self.budgets.scope_log_size)
        return live

    def settled(self, scope: int) -> LiveScope | None:
        """The live part, if any, once no thread is in the middle of an event of the scope."""
        while True:
            live = self.live_of(scope)
            if live is None or not live.busy or self.closed:
                return live
            self._wait_turn()

    def cool(self) -> None:
        """Pack scopes that came to rest while more than the budget are live; called where nobody holds one of them."""
        excess = len(self.live) - self.budgets.max_live_scopes
        if excess <= 0 or self.closed:
            return
        for scope, live in list(islice(self.live.items(), min(excess + _COOLING_TRIES, _COOLED_AT_ONCE))):
            del self.live[scope]
            packed = pack(live) if excess > 0 else None
            if packed is None:
                self.live[scope] = live
            else:
                self.resting[scope] = packed
                self.open_gaps.discard(scope)
                excess -= 1

    def busy(self, live: LiveScope) -> _Turn:
        """The lock may be let go between batches: no other event of the scope comes between."""
        return _Turn(self, live)

    def end_turn(self, live: LiveScope) -> None:
        live.busy = False
        if self._waiting_turns:
            self.turn_over.notify_all()

    def _wait_turn(self) -> None:
        self._waiting_turns += 1
        try:
            self.turn_over.wait()
        finally:
            self._waiting_turns -= 1

    def rest(self, live: LiveScope) -> bool:
        """Wait until no thread is in the middle of an event of the scope; False if the scope went meanwhile."""
        while live.busy and not self.closed:
            self._wait_turn()
        return not self.closed and self.live.get(live.number) is live
