"""One socket of a workspace, as an ASGI application: a task that reads commands, a task that drains the outbox.

Neither touches a database or a thread but for the handshake and the `read` command, which run where requests run. A
reader that is slow blocks only its own writing task; its outbox then fills and turns into a gap. One that stays stuck
for `SEND_PATIENCE_S` is dropped by the server below.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any, Protocol

from conversations.actions.reading import mark_read
from conversations.errors import Misdirected, Refusal

from . import frames
from .admission import NOT_THE_OWNER, Admitted, Handshake, Refused, admit, handshake
from .commands import Allowance, BadCommand, Ping, Read, Resync, parse
from .hub import Hub
from .outbox import GAP
from .sockets import Socket

logger = logging.getLogger(__name__)

Message = dict[str, Any]
FLOOD, SERVER_ERROR, TRY_LATER = 4008, 4011, 4013
"""From 4000 on, since not every server may send those below."""
MAX_WAITING_READS = 50


class Pool(Protocol):
    """Where blocking work runs."""

    async def run(self, work: Callable[..., Any], *arguments: Any) -> Any: ...


class WorkspaceSockets:
    """The ASGI application at `/ws/workspaces/{id}/`. `hydrate` asks for a member's rows to be loaded, and returns."""

    def __init__(self, hub: Hub, pool: Pool, hydrate: Callable[[Admitted], None]) -> None:
        self._hub, self._pool, self._hydrate = hub, pool, hydrate

    async def __call__(
        self,
        scope: dict[str, Any],
        receive: Callable[[], Awaitable[Message]],
        send: Callable[[Message], Awaitable[None]],
    ) -> None:
        if (await receive())["type"] != "websocket.connect":
            return
        shaken = handshake(scope)
        code, admitted = await self._admit(shaken, scope["path_parameters"]["workspace_id"])
        await send({"type": "websocket.accept", "subprotocol": shaken.accepted_protocol})
        if admitted is not None:
            code = await _Connection(self._hub, self._pool, admitted, receive, send).run()
        if code is not None:
            await send({"type": "websocket.close", "code": code})

    async def _admit(self, shaken: Handshake, workspace_id: str) -> tuple[int | None, Admitted | None]:
        try:
            admitted: Admitted = await self._pool.run(admit, shaken, workspace_id)
            self._hydrate(admitted)
            return None, admitted
        except Refused as refused:
            return refused.code, None
        except Exception:
            logger.exception("a socket could not be admitted")
            return SERVER_ERROR, None


class _Connection:
    def __init__(
        self,
        hub: Hub,
        pool: Pool,
        admitted: Admitted,
        receive: Callable[[], Awaitable[Message]],
        send: Callable[[Message], Awaitable[None]],
    ) -> None:
        self._hub, self._pool, self._admitted = hub, pool, admitted
        self._receive, self._send = receive, send
        self._ended: asyncio.Future[int | None] = asyncio.get_running_loop().create_future()
        self._reads: deque[Read] = deque()
        self._read_due = asyncio.Event()
        self._socket = Socket(
            admitted.workspace_id, admitted.member_id, admitted.user.pk, admitted.credential, self._end
        )

    async def run(self) -> int | None:
        """Until it ends; the code to close with, or None where the client has gone."""
        if not self._hub.add(self._socket):
            return TRY_LATER
        tasks = [asyncio.ensure_future(work) for work in (self._write(), self._listen(), self._work_off_reads())]
        awaited: list[asyncio.Future[Any]] = [self._ended, *tasks]
        try:
            await asyncio.wait(awaited, return_when=asyncio.FIRST_COMPLETED)
            for task in tasks:
                if task.done() and not task.cancelled() and task.exception():
                    logger.error("a socket failed", exc_info=task.exception())
                    self._end(SERVER_ERROR)
            return self._ended.result() if self._ended.done() else None
        finally:
            self._hub.remove(self._socket)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def _end(self, code: int | None) -> None:
        if not self._ended.done():
            self._ended.set_result(code)

    async def _write(self) -> None:
        outbox = self._socket.outbox
        while True:
            frame = await outbox.take()
            if frame is GAP:
                snapshot = self._hub.snapshot_for(self._socket)
                await self._send({"type": "websocket.send", "text": frames.resync()})
                await self._send({"type": "websocket.send", "text": snapshot})
            else:
                await self._send({"type": "websocket.send", "text": frame})

    async def _listen(self) -> None:
        allowance = Allowance(asyncio.get_running_loop().time)
        while True:
            message = await self._receive()
            if message["type"] == "websocket.disconnect":
                self._end(None)
                return
            if not allowance.take():
                self._end(FLOOD)
                return
            try:
                self._obey(message.get("text"))
            except BadCommand as bad:
                self._answer(frames.error("invalid_request", str(bad)))

    def _obey(self, text: str | None) -> None:
        command = parse(text)
        if isinstance(command, Ping):
            self._answer(frames.heartbeat(datetime.now(UTC)))
        elif isinstance(command, Resync):
            self._hub.send_snapshot(self._socket)
        elif len(self._reads) >= MAX_WAITING_READS:
            self._answer(frames.error("rate_limited", "Too many reads are waiting; send fewer."))
        else:
            self._reads.append(command)
            self._read_due.set()

    async def _work_off_reads(self) -> None:
        while True:
            await self._read_due.wait()
            self._read_due.clear()
            while self._reads:
                await self._read(self._reads.popleft())

    async def _read(self, command: Read) -> None:
        try:
            await self._pool.run(_mark_read, self._admitted.user, command)
        except Misdirected:
            self._end(NOT_THE_OWNER)
        except Refusal as refusal:
            self._answer(frames.error(refusal.type, refusal.message, refusal.fields))
        except Exception:
            logger.exception("a read over a socket failed")
            self._answer(frames.error("internal", "Something went wrong here; it has been logged."))

    def _answer(self, frame: str) -> None:
        self._socket.outbox.put(frame)


def _mark_read(user: Any, command: Read) -> None:
    mark_read(user=user, scope_id=command.conversation_id, message_id=command.message_id)
