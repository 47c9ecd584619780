"""Canonical form and sha256: what "the same event" and "the same content" mean when something is sent twice.

Stable against the order of keys; `1`, `1.0`, `true` and `"1"` are four different values.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from .events import Event
from .values import JsonObject


def canonical(value: Any) -> bytes:
    """UTF-8 JSON with sorted keys and no spaces. `value` must have been validated."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.encode()


def content_fingerprint(content: Any) -> str:
    """64 hex digits for a model, or any JSON that stands for one request."""
    return hashlib.sha256(canonical(content)).hexdigest()


def event_fingerprint(event: Event, status: str | None = None) -> str:
    """64 hex digits for what an event does: its op, seq, mask and payload, and the status that came with it.

    `ts`, `stream_id` and `event_type` change nothing in a model, and a retry may stamp them anew: they do not count.
    """
    body: JsonObject = {
        name: event.raw[name] for name in ("op", "seq", "mask", "model", "meta", "block") if name in event.raw
    }
    return content_fingerprint({"event": body, "status": status})
