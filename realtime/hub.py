"""The process's own hub: how news reaches the sockets.

Other threads hand in news (`changed`, `post`); one hop, coalesced per tick, brings it to the event loop, where all
sockets live and where every outbox is filled. At most `FANOUT_PER_TICK` frames are handed out before the loop gets to
breathe, and never under a lock of the runtime. Nothing here touches a database.

Unread travels as absolute states with versions: a page that misses a delta sees it by `since` and asks again, and a
snapshot always replaces. Everything else has no version: what had to be left out is announced by a `resync` frame.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Protocol
from uuid import UUID

from unread.core.states import MemberDelta, MemberUnread

from . import frames
from .sockets import Socket, Sockets

logger = logging.getLogger(__name__)

TICK_S = 0.02
"""News that comes within this time goes out together."""
FANOUT_PER_TICK = 1000
MAX_POSTS = 10_000
"""Frames that wait for the loop; over it, the sockets of the workspaces concerned start anew with a snapshot."""
BEAT_SLICES = 20


class UnreadSource(Protocol):
    """The unread runtime, as far as sockets need it; answers from memory."""

    def watch(self, workspace: int, member: int) -> None: ...

    def unwatch(self, workspace: int, member: int) -> None: ...

    def take_delta(self, workspace: int, member: int) -> MemberDelta | None: ...

    def snapshot(self, workspace: int, member: int) -> MemberUnread: ...


@dataclass(slots=True)
class _News:
    """What came in since the last tick."""

    changed: dict[tuple[int, int], None] = field(default_factory=dict)
    posts: deque[tuple[UUID, Collection[UUID] | None, str]] = field(default_factory=deque)
    overflowed: set[UUID] = field(default_factory=set)


class Hub:
    """`heartbeat_s`: between two heartbeats of a socket. Methods are for the loop unless they say otherwise."""

    def __init__(self, unread: UnreadSource, heartbeat_s: float) -> None:
        self.unread, self.heartbeat_s = unread, heartbeat_s
        self.sockets = Sockets()
        self.gaps = 0
        """How often a full outbox was replaced by a snapshot."""
        self._lock = threading.Lock()
        self._news = _News()
        self._woken = False
        self._arrived = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._tasks: list[asyncio.Task[None]] = []

    def changed(self, workspace: int, members: Sequence[int]) -> None:
        """From any thread; the runtime's `DeltaSink`: these members have a delta to take."""
        with self._lock:
            for member in members:
                self._news.changed[workspace, member] = None
            wake = self._wakes()
        if wake:
            self.call(self._arrived.set)

    def post(self, workspace_id: UUID, audience: Collection[UUID] | None, frame: str) -> None:
        """From any thread: send `frame` to the sockets of these members, or of the whole workspace."""
        with self._lock:
            if len(self._news.posts) < MAX_POSTS:
                self._news.posts.append((workspace_id, audience, frame))
            else:
                self._news.overflowed.add(workspace_id)
            wake = self._wakes()
        if wake:
            self.call(self._arrived.set)

    def leave_out(self, workspace_id: UUID) -> None:
        """From any thread: frames for this workspace were lost; its sockets start anew with a snapshot."""
        with self._lock:
            self._news.overflowed.add(workspace_id)
            wake = self._wakes()
        if wake:
            self.call(self._arrived.set)

    def call(self, work: Callable[[], object]) -> None:
        """From any thread: run `work` on the loop soon; nothing happens where there is none."""
        loop = self._loop
        if loop is not None and not loop.is_closed():
            loop.call_soon_threadsafe(work)

    def running(self) -> bool:
        """From any thread: both tasks are alive."""
        return bool(self._tasks) and not any(task.done() for task in self._tasks)

    def attach(self) -> None:
        """Take the running loop and start handing out."""
        self._loop = asyncio.get_running_loop()
        self._arrived = asyncio.Event()
        self._arrived.set()
        self._tasks = [
            self._loop.create_task(self._hand_out(), name="realtime-hub"),
            self._loop.create_task(self._beat(), name="realtime-heartbeat"),
        ]

    async def detach(self, code: int) -> None:
        """Close every socket with `code`, wait until their consumers have gone, and stop."""
        tasks, self._tasks = self._tasks, []
        for task in tasks:
            task.cancel()
        self.close(self.sockets.all(), code)
        while len(self.sockets):
            await asyncio.sleep(TICK_S)

    def add(self, socket: Socket) -> bool:
        """Greet a socket with `hello` and its snapshot; False where its member has too many."""
        first = not self.sockets.of(socket.workspace_id, socket.member_id)
        if not self.sockets.add(socket):
            return False
        if first:
            self.unread.watch(socket.workspace_id.int, socket.member_id.int)
        socket.outbox.put(frames.hello(self.heartbeat_s))
        self.send_snapshot(socket)
        return True

    def remove(self, socket: Socket) -> None:
        if self.sockets.remove(socket) and not self.sockets.of(socket.workspace_id, socket.member_id):
            self.unread.unwatch(socket.workspace_id.int, socket.member_id.int)

    def send_snapshot(self, socket: Socket) -> None:
        self._put(socket, self.snapshot_for(socket))

    def snapshot_for(self, socket: Socket) -> str:
        """The frame with everything as of now. What the member's other sockets have not seen goes to them first."""
        self._push_delta(socket.workspace_id, socket.member_id, but=socket)
        return frames.unread_snapshot(self.unread.snapshot(socket.workspace_id.int, socket.member_id.int))

    def close(self, sockets: Collection[Socket], code: int) -> None:
        for socket in tuple(sockets):
            socket.close(code)

    def _wakes(self) -> bool:
        """Under the lock: whether the loop must be told; one hop for all that comes before it looks."""
        woken, self._woken = self._woken, True
        return not woken

    async def _hand_out(self) -> None:
        while True:
            await self._arrived.wait()
            self._arrived.clear()
            with self._lock:
                self._woken = False
                news, self._news = self._news, _News()
            given = 0
            for count in self._deliveries(news):
                given += count
                if given >= FANOUT_PER_TICK:
                    given = 0
                    await asyncio.sleep(0)
            await asyncio.sleep(TICK_S)

    def _deliveries(self, news: _News) -> Iterator[int]:
        """Does one small step at a time and says how many frames it put."""
        for workspace, member in news.changed:
            try:
                yield self._push_delta(UUID(int=workspace), UUID(int=member))
            except Exception:
                logger.exception("no delta for a member; the next change or a resync repairs it")
        for workspace_id, audience, frame in news.posts:
            reached = self.sockets.members(workspace_id) if audience is None else audience
            for member_id in reached:
                sockets = self.sockets.of(workspace_id, member_id)
                for socket in sockets:
                    self._put(socket, frame)
                yield len(sockets)
        for workspace_id in news.overflowed:
            for socket in self.sockets.of_workspace(workspace_id):
                socket.outbox.leave_out()
                self.gaps += 1
                yield 1

    def _push_delta(self, workspace_id: UUID, member_id: UUID, but: Socket | None = None) -> int:
        sockets = [socket for socket in self.sockets.of(workspace_id, member_id) if socket is not but]
        if not sockets:
            return 0
        delta = self.unread.take_delta(workspace_id.int, member_id.int)
        if delta is None:
            return 0
        frame = frames.unread_delta(delta)
        for socket in sockets:
            self._put(socket, frame)
        return len(sockets)

    def _put(self, socket: Socket, frame: str) -> None:
        had_gap = socket.outbox.gap
        if not socket.outbox.put(frame) and not had_gap:
            self.gaps += 1

    async def _beat(self) -> None:
        """Heartbeats in slices, so that those of a thousand sockets do not come at once."""
        turn = 0
        while True:
            await asyncio.sleep(self.heartbeat_s / BEAT_SLICES)
            turn = (turn + 1) % BEAT_SLICES
            frame = frames.heartbeat(datetime.now(UTC))
            for place, socket in enumerate(self.sockets.all()):
                if place % BEAT_SLICES == turn and not len(socket.outbox):
                    socket.outbox.put(frame)
