"""A page on a real server that follows a conversation by its stream: plain HTTP, read as it comes."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from typing import Any

from .conversations.delivery.pages import Page
from .server import Server

PATIENCE_S = 30.0


class StreamEnded(Exception):
    """Before what a test waited for."""


class Listener(Page):
    """Use by `listening`; frames are applied while a test waits for something (`until`) or for the end."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        super().__init__()
        self.status = 0
        self.headers: dict[str, str] = {}
        self.ended_cleanly = False
        self.comments = 0
        self._reader, self._writer = reader, writer

    async def until(self, true: Callable[[], Any], why: Callable[[], object] = lambda: "") -> None:
        async with asyncio.timeout(PATIENCE_S):
            while not true():
                if not await self._more():
                    raise StreamEnded(why())

    async def closed(self) -> bool:
        """Read to the end; whether the server said that it was one."""
        async with asyncio.timeout(PATIENCE_S):
            with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
                while await self._more():
                    pass
        return self.ended_cleanly

    async def begin(self, lines: list[str]) -> None:
        self._writer.write(("\r\n".join([*lines, "", ""])).encode())
        await self._writer.drain()
        async with asyncio.timeout(PATIENCE_S):
            self.status = int((await self._reader.readline()).split()[1])
            while line := (await self._reader.readline()).decode().strip():
                name, _, value = line.partition(":")
                self.headers[name.lower()] = value.strip()

    async def _more(self) -> bool:
        """One chunk of the answer."""
        size = int((await self._reader.readline()).strip() or b"0", 16)
        chunk = await self._reader.readexactly(size)
        await self._reader.readline()
        if not size:
            self.ended_cleanly = True
            return False
        self.comments += chunk.count(b"\n:") + chunk.startswith(b":")
        self.feed(chunk)
        return True


@contextlib.asynccontextmanager
async def listening(
    server: Server, token: str | None, conversation: str, *, since: str = "", limit: int = 2**22, **headers: str
) -> AsyncIterator[Listener]:
    """`limit`: how many bytes the client's own buffers take before it stops reading from the network."""
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port, limit=limit)
    listener = Listener(reader, writer)
    try:
        lines = [
            f"GET /v1/conversations/{conversation}/stream HTTP/1.1",
            "Host: localhost",
            "Accept: text/event-stream",
        ]
        lines += [f"Authorization: Bearer {token}"] if token else []
        lines += [f"Last-Event-ID: {since}"] if since else []
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        await listener.begin(lines)
        yield listener
    finally:
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()
