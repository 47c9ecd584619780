"""The process's hub of live feeds: however many pages watch, one thread reads the bridge and one the database.

All state is the switchboard's and belongs to the hub's thread; others leave work for it. Where something fails that
is not the database's absence, all feeds end: their pages come back and resume.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from uuid import UUID

from django.db import InterfaceError, OperationalError

from ..connections import database_unit
from ..errors import RateLimited, Unavailable
from ..events import Fact
from .bridge import Batch, Bridge
from .feeds import Feed
from .following import BridgeFollower
from .rooms import Interest
from .switchboard import Switchboard

logger = logging.getLogger(__name__)

MAX_FEEDS = 10_000
MAX_FEEDS_PER_MEMBER = 1_000
MAX_COMMANDS = 100_000
"""Work left by other threads; over it all feeds begin again."""
MAX_BATCHES = 8
"""Batches of the bridge that wait for the hub; then its reader waits."""
RETRY_S = 1.0
STUCK_S = 120.0


class StreamHub:
    """A worker. `clock` (seconds) times what is done again."""

    name = "stream-hub"

    def __init__(self, bridge: Bridge, clock: Callable[[], float] = time.monotonic) -> None:
        self._bridge, self._clock = bridge, clock
        self.follower = BridgeFollower(bridge, self._take, lambda: self._leave(self._bridge_is_down))
        self._lock = threading.Condition()
        self._commands: deque[Callable[[], None]] = deque()
        self._batches: deque[Batch] = deque()
        self._feeds: dict[Feed, None] = {}
        self._feeds_of: Counter[UUID] = Counter()
        self._ending = False
        self._overrun = False
        self._thread: threading.Thread | None = None
        self._turn_began: float | None = None
        self._paused_until = 0.0
        self._snapshots_before = 0
        self._interest = Interest()
        self._board = Switchboard(bridge, self.follower, self._interest, clock)

    @property
    def open_feeds(self) -> int:
        return len(self._feeds)

    @property
    def snapshots_read(self) -> int:
        """Messages read from the database to begin anew with, since the start."""
        return self._snapshots_before + self._board.snapshots_read

    def join(self, feed: Feed) -> None:
        """Begin to feed; `RateLimited` and `Unavailable` over the limits."""
        member_id = feed.subscriber.member_id
        with self._lock:
            if self._ending or len(self._feeds) >= MAX_FEEDS:
                raise Unavailable("No more streams can be opened here now; try again shortly.")
            if self._feeds_of[member_id] >= MAX_FEEDS_PER_MEMBER:
                raise RateLimited(f"One member may have {MAX_FEEDS_PER_MEMBER} streams open.", retry_after_s=30.0)
            self._feeds[feed] = None
            self._feeds_of[member_id] += 1
        # Now, not when the hub gets to it: whatever is committed after this call must be heard.
        self._interest.add(feed.subscriber)
        self._leave(lambda: self._board.enter(feed))

    def leave(self, feed: Feed) -> None:
        member_id = feed.subscriber.member_id
        with self._lock:
            if feed not in self._feeds:
                return
            del self._feeds[feed]
            self._feeds_of[member_id] -= 1
            if not self._feeds_of[member_id]:
                del self._feeds_of[member_id]
        self._interest.remove(feed.subscriber)
        self._leave(lambda: self._board.exit(feed))

    def has_room(self, feed: Feed) -> None:
        """The feed's reader has caught up: what it wants can be told."""
        self._leave(lambda: self._board.has_room(feed))

    def heard(self, batch: Sequence[Fact]) -> None:
        """The listener of `conversations.publish`, in the committing thread: no database, nothing nobody watches."""
        if wanted := [fact for fact in batch if self._board.concerns(fact)]:
            self._leave(lambda: self._board.note(wanted))

    def lost(self, workspace_id: UUID, epoch: int) -> None:
        """This process does not own the workspace any more; its feeds end."""
        self._leave(
            lambda: self._board.end(f for f in self._board.feeds() if f.subscriber.workspace_id == workspace_id)
        )

    def start(self) -> None:
        self._thread = threading.Thread(target=self._run, name=self.name, daemon=True)
        self._thread.start()
        self.follower.start()

    def stop(self, deadline_s: float) -> None:
        """End every feed; their pages come back to whoever serves them then."""
        with self._lock:
            self._ending = True
            self._lock.notify_all()
        self._close_all()
        self.follower.stop(deadline_s / 2)
        if self._thread is not None:
            self._thread.join(max(0.0, deadline_s / 2))

    def healthy(self) -> bool:
        began = self._turn_began
        stuck = began is not None and time.monotonic() - began > STUCK_S
        return self._thread is not None and self._thread.is_alive() and self.follower.healthy() and not stuck

    def step(self, patience_s: float = 0.0) -> bool:
        """One turn: all that was left, and the database work that it makes; waits so long for something to come.

        Whether there is more to do at once. For the hub's thread, and for tests that are it.
        """
        with self._lock:
            self._lock.wait_for(lambda: self._commands or self._batches or self._ending, patience_s)
            commands, self._commands = self._commands, deque()
            batches, self._batches = self._batches, deque()
            overrun, self._overrun = self._overrun, False
            self._lock.notify_all()
        self._turn_began = time.monotonic()
        try:
            if overrun:
                self._start_over("too much was left for the hub")
            self._turn(commands, batches)
        except (OperationalError, InterfaceError) as error:
            logger.warning("feeds wait for the database: %s", error)
            self._paused_until = self._clock() + RETRY_S
        except Exception:
            logger.exception("the hub failed")
            self._start_over("the hub failed")
        self._turn_began = None
        return self._patience_s() == 0

    def _run(self) -> None:
        while not self._ending:
            self.step(self._patience_s())

    def _turn(self, commands: deque[Callable[[], None]], batches: deque[Batch]) -> None:
        for command in commands:
            command()
        # An end of access that was left before a token is obeyed before the token is told.
        if commands:
            self._work()
        for batch in batches:
            self._board.hand_out(batch)
        self._work()

    def _work(self) -> None:
        if self._board.has_work() and self._clock() >= self._paused_until:
            with database_unit():
                self._board.work()

    def _patience_s(self) -> float:
        """How long there is nothing to do unless somebody leaves something."""
        now = self._clock()
        due_at = now if self._board.has_work() else self._board.next_at()
        return max(0.0, max(due_at, self._paused_until) - now)

    def _leave(self, command: Callable[[], None]) -> None:
        with self._lock:
            if len(self._commands) >= MAX_COMMANDS:
                self._commands.clear()
                self._overrun = True
            self._commands.append(command)
            self._lock.notify_all()

    def _take(self, batch: Batch) -> None:
        """In the reader's thread."""
        with self._lock:
            self._lock.wait_for(lambda: len(self._batches) < MAX_BATCHES or self._ending)
            self._batches.append(batch)
            self._lock.notify_all()

    def _bridge_is_down(self) -> None:
        self._board.bridge_is_down()

    def _start_over(self, why: str) -> None:
        """All feeds end, also those that have not entered; each leaves by itself."""
        logger.error("all feeds begin again: %s", why)
        self._close_all()
        self._board.end(self._board.feeds())
        self._snapshots_before += self._board.snapshots_read
        self._board = Switchboard(self._bridge, self.follower, self._interest, self._clock)

    def _close_all(self) -> None:
        with self._lock:
            feeds = list(self._feeds)
        for feed in feeds:
            feed.outbox.close()
