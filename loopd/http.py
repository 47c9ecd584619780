"""Django behind ASGI: each request runs whole, in one thread of a bounded pool.

Every view and middleware here is synchronous. Django's own ASGI handler would cross between loop and thread at every
middleware, and give each request a new thread and so a new database connection. Here a request crosses once, threads
keep their connections, and a stop can wait for the requests that run, with their hooks after the commit.
"""

from __future__ import annotations

import asyncio
import io
from collections.abc import Awaitable, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import orjson
from django.core import signals
from django.core.handlers.asgi import ASGIHandler, get_script_prefix
from django.core.handlers.base import BaseHandler
from django.http import HttpResponseBase
from django.urls import set_script_prefix

from .problem import body as problem_body

Message = dict[str, Any]
Send = Callable[[Message], Awaitable[None]]
Receive = Callable[[], Awaitable[Message]]

MAX_BODY_BYTES = 10 * 1024 * 1024
"""Of any request; `conversations.api.parsing` has the smaller bound of the JSON API."""
WAITING_PER_THREAD = 64
"""Requests that may wait for a thread, per thread; more are refused with a 503."""
ADMITTED_BYTES = 256 * 1024 * 1024
"""Of all bodies that are waiting or being worked on."""
STREAM_PATIENCE_S = 60.0


class PooledHandler(ASGIHandler):
    """The HTTP application. `threads`: how many requests run at a time."""

    def __init__(self, threads: int) -> None:
        BaseHandler.__init__(self)
        self.load_middleware(is_async=False)
        self.pool = ThreadPoolExecutor(threads, thread_name_prefix="loopd-http")
        self._room = threads * (1 + WAITING_PER_THREAD)
        self._admitted: set[Future[Any]] = set()
        self._admitted_bytes = 0

    @property
    def running(self) -> int:
        """Requests that were admitted and are not answered yet."""
        return len(self._admitted)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        body = await _read(receive)
        if body is None:
            return
        if len(body) > MAX_BODY_BYTES:
            await refuse(send, 413, "too_large", f"The request body may have at most {MAX_BODY_BYTES} bytes.")
        elif len(self._admitted) >= self._room or self._admitted_bytes + len(body) > ADMITTED_BYTES:
            await refuse(send, 503, "unavailable", "Too many requests are waiting here; try again shortly.")
        else:
            self._admitted_bytes += len(body)
            try:
                await self._serve(scope, body, send)
            finally:
                self._admitted_bytes -= len(body)

    async def _serve(self, scope: Message, body: bytes, send: Send) -> None:
        stream = _ThreadStream(asyncio.get_running_loop(), send)
        answer = await self.run(self._respond, scope, body, stream)
        if answer is not None:
            status, headers, content = answer
            await send({"type": "http.response.start", "status": status, "headers": headers})
            await send({"type": "http.response.body", "body": content})

    async def run(self, work: Callable[..., Any], *arguments: Any) -> Any:
        """Run `work` in the pool; what runs goes on to its end even where the caller goes away."""
        future = self.pool.submit(work, *arguments)
        self._admitted.add(future)
        future.add_done_callback(self._admitted.discard)
        return await asyncio.wrap_future(future)

    async def drain(self, deadline_s: float) -> bool:
        """Wait until nothing runs; False where something still does after `deadline_s` seconds."""
        pending = [asyncio.wrap_future(future) for future in tuple(self._admitted)]
        if pending:
            await asyncio.wait(pending, timeout=deadline_s)
        return not self._admitted

    def _respond(self, scope: Message, body: bytes, stream: _ThreadStream) -> tuple[int, list[Any], bytes] | None:
        """In the pool: the whole answer, or None where it was streamed."""
        set_script_prefix(get_script_prefix(scope))
        signals.request_started.send(sender=self.__class__, scope=scope)
        request, refusal = self.create_request(scope, io.BytesIO(body))
        response: Any = refusal if request is None else self.get_response(request)
        response._handler_class = self.__class__
        try:
            headers = _headers(response)
            if not response.streaming:
                return response.status_code, headers, response.content
            stream.send({"type": "http.response.start", "status": response.status_code, "headers": headers})
            for part in response.streaming_content:
                stream.send({"type": "http.response.body", "body": bytes(part), "more_body": True})
            stream.send({"type": "http.response.body", "body": b""})
            return None
        finally:
            response.close()


class _ThreadStream:
    """Sends from a pool thread, as fast as the client reads."""

    def __init__(self, loop: asyncio.AbstractEventLoop, send: Send) -> None:
        self._loop, self._send = loop, send

    def send(self, message: Message) -> None:
        async def passed_on() -> None:
            await self._send(message)

        asyncio.run_coroutine_threadsafe(passed_on(), self._loop).result(STREAM_PATIENCE_S)


async def _read(receive: Receive) -> bytes | None:
    """The request's body, one byte over the bound where it is too long; None where the client went away."""
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        part = message.get("body", b"")
        if size <= MAX_BODY_BYTES:
            parts.append(part[: MAX_BODY_BYTES + 1 - size])
            size += len(parts[-1])
        if not message.get("more_body", False):
            return b"".join(parts)


async def refuse(send: Send, status: int, kind: str, message: str) -> None:
    """A problem as an answer, where Django is not asked. The connection is not kept."""
    content = orjson.dumps(problem_body(kind, message))
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(content)).encode()),
        (b"connection", b"close"),
    ]
    if status == 503:
        headers.append((b"retry-after", b"1"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": content})


def _headers(response: HttpResponseBase) -> list[tuple[bytes, bytes]]:
    headers = [(name.encode("ascii"), value.encode("latin-1")) for name, value in response.items()]
    headers += [
        (b"Set-Cookie", cookie.output(header="").encode("ascii").strip()) for cookie in response.cookies.values()
    ]
    return headers
