"""What a feed of a conversation sends: server-sent events whose data are AgentUE envelopes, told apart by `stream_id`.

`start` brings the model and, beside it, the `message` without its content; where the model is too large for a feed it
brings `fetch: true` instead, and the message is to be read. `end` also carries the message's `status`.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

import orjson

MAX_SNAPSHOT_BYTES = 256 * 1024
"""Of a model in a `start`; a longer one is to be fetched."""
PING = b": ping\n\n"
RESYNC = b"event: resync\ndata: {}\n\n"
"""More has changed than a feed tells one by one: read the history again."""


def opening(retry_ms: int, position: int) -> bytes:
    """First of all: how soon to come back, and from where, should the connection break before anything was sent."""
    return b"retry: %d\nid: %d\n\n" % (retry_ms, position)


def placed(frame: bytes, position: int) -> bytes:
    """The frame with the id to resume from; none where position is 0, as what is still missing came before it."""
    return b"id: %d\n" % position + frame if position else frame


def event(body: bytes) -> bytes:
    return b"data: " + body + b"\n\n"


def start(rendered: dict[str, Any]) -> bytes:
    """Of a message as the API shows it, with or without its content."""
    meta = {name: value for name, value in rendered.items() if name not in ("content", "error")}
    envelope = {"op": "start", "seq": rendered["revision"], "stream_id": rendered["id"]}
    if "content" in rendered:
        body = orjson.dumps({**envelope, "model": rendered["content"], "message": meta})
        if len(body) <= MAX_SNAPSHOT_BYTES:
            return event(body)
    return event(orjson.dumps({**envelope, "fetch": True, "message": meta}))


def end(message_id: UUID | str, seq: int, status: str) -> bytes:
    return event(orjson.dumps({"op": "end", "seq": seq, "stream_id": str(message_id), "status": status}))
