"""`GET /v1/conversations/{id}/stream`: server-sent events as a raw ASGI application, beside Django.

A stream takes no thread and no database handle: it is one task that waits for its outbox. The login and the access
gate run once in the request pool. What the server below buffers for a client that does not read is bounded there (its
`send` waits), what waits here by the outbox; a client that reads nothing for `SEND_PATIENCE_S` is cut off.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable
from typing import Any, Protocol
from uuid import UUID

import orjson

from ..errors import InvalidRequest, Refusal, Unauthenticated
from .admission import admit
from .feeds import Feed, Subscriber, now_ms
from .frames import PING, opening
from .hub import StreamHub
from .outbox import Outbox

logger = logging.getLogger(__name__)

Message = dict[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

PING_S = 15.0
RETRY_MS = 2000
SEND_PATIENCE_S = 75.0
"""The bundled server cuts such a client a little earlier; others do not."""
MAX_AGE_S = 3600.0
"""A connection is closed after about so long; its page comes back and resumes. Nothing grows old unseen."""

_HEADERS = [
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache, no-transform"),
    (b"x-accel-buffering", b"no"),
    (b"x-content-type-options", b"nosniff"),
]


class Pool(Protocol):
    """Where blocking work runs."""

    async def run(self, work: Callable[..., Any], *arguments: Any) -> Any: ...


class ConversationStreams:
    """The ASGI application. `scope["path_parameters"]` holds `conversation_id`."""

    def __init__(self, hub: StreamHub, pool: Pool, ping_s: float = PING_S) -> None:
        self._hub, self._pool, self._ping_s = hub, pool, ping_s

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["method"] != "GET":
            await _answer(send, 405, "invalid_request", "Only GET is allowed here.", {}, [(b"allow", b"GET")])
            return
        ready = asyncio.Event()
        outbox = Outbox(_waker(ready))
        try:
            since_ms = _last_event_id(scope)
            conversation_id = _conversation_id(scope)
            subscriber: Subscriber = await self._pool.run(admit, scope, conversation_id)
            feed = Feed(subscriber, outbox, since_ms)
            self._hub.join(feed)
        except Refusal as refusal:
            await _refuse(send, refusal)
            return
        try:
            await self._feed(feed, ready, receive, send)
        finally:
            self._hub.leave(feed)

    async def _feed(self, feed: Feed, ready: asyncio.Event, receive: Receive, send: Send) -> None:
        """Until the client goes, the feed ends, or the connection is old."""
        writing = asyncio.ensure_future(self._write(feed, ready, send))
        gone = asyncio.ensure_future(_disconnected(receive))
        try:
            await asyncio.wait((writing, gone), return_when=asyncio.FIRST_COMPLETED)
            if writing.done():
                writing.result()
        except TimeoutError:
            logger.info("cut off a stream that nobody read for %.0f s", SEND_PATIENCE_S)
        finally:
            feed.outbox.close()
            for task in (writing, gone):
                task.cancel()
            await asyncio.gather(writing, gone, return_exceptions=True)

    async def _write(self, feed: Feed, ready: asyncio.Event, send: Send) -> None:
        loop = asyncio.get_running_loop()
        ends_at = loop.time() + MAX_AGE_S * random.uniform(0.9, 1.0)
        await send({"type": "http.response.start", "status": 200, "headers": _HEADERS})
        await _pass_on(send, opening(RETRY_MS, now_ms() if feed.since_ms is None else feed.since_ms))
        while not feed.outbox.closed and loop.time() < ends_at:
            try:
                await asyncio.wait_for(ready.wait(), self._ping_s)
            except TimeoutError:
                await _pass_on(send, PING)
                continue
            ready.clear()
            while chunk := feed.outbox.take():
                await _pass_on(send, chunk)
                if feed.outbox.has_room_again():
                    self._hub.has_room(feed)
        await send({"type": "http.response.body", "body": b""})


def _waker(ready: asyncio.Event) -> Callable[[], None]:
    """For the hub's thread."""
    loop = asyncio.get_running_loop()

    def wake() -> None:
        try:
            loop.call_soon_threadsafe(ready.set)
        except RuntimeError:
            pass  # the loop is closed, and the connection with it

    return wake


async def _pass_on(send: Send, chunk: bytes) -> None:
    await asyncio.wait_for(send({"type": "http.response.body", "body": chunk, "more_body": True}), SEND_PATIENCE_S)


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _conversation_id(scope: Message) -> UUID:
    try:
        return UUID(scope["path_parameters"]["conversation_id"])
    except ValueError:
        raise InvalidRequest("The id of a conversation is a UUID.") from None


def _last_event_id(scope: Message) -> int | None:
    """Where the subscriber left off: the id of the last event that it was sent."""
    given = next((value for name, value in scope["headers"] if name.lower() == b"last-event-id"), b"").strip()
    if not given:
        return None
    if not given.isdigit() or len(given) > 15:
        raise InvalidRequest(
            "Last-Event-ID must be an id that this stream sent.", last_event_id=given[:40].decode("latin-1")
        )
    return min(int(given), now_ms())


async def _refuse(send: Send, refusal: Refusal) -> None:
    headers = []
    if isinstance(refusal, Unauthenticated):
        headers.append((b"www-authenticate", b'Bearer realm="loopd"'))
    if (wait_s := refusal.fields.get("retry_after_s")) is not None:
        headers.append((b"retry-after", str(int(wait_s) + 1).encode()))
    await _answer(send, refusal.status, refusal.type, refusal.message, refusal.fields, headers)


async def _answer(
    send: Send, status: int, kind: str, message: str, fields: Message, headers: list[tuple[bytes, bytes]]
) -> None:
    """The one shape of every error."""
    body = orjson.dumps({"error": {"type": kind, "message": message, "fields": fields}})
    all_headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode()), *headers]
    await send({"type": "http.response.start", "status": status, "headers": all_headers})
    await send({"type": "http.response.body", "body": body})
