"""Many new messages with their first contents in few statements, for imports."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..agentue.values import JsonObject
from ..models import Message
from .codec import size_bytes
from .limits import current_limits
from .store import prepare_content, write_parts

_INSERT_BYTES = 4 * 1024 * 1024
_INSERT_ROWS = 500


def create_contents(contents: Iterable[tuple[Message, JsonObject]]) -> None:
    """Insert unsaved messages, as `create_content` does one by one. Raises `TooLarge` before anything is written."""
    limits = current_limits()
    planned = [(message, prepare_content(message, model, limits)) for message, model in contents]
    batch: list[Message] = []
    pending_bytes = 0
    for message, _ in planned:
        size = size_bytes(message.content)
        if batch and (pending_bytes + size > _INSERT_BYTES or len(batch) >= _INSERT_ROWS):
            _insert(batch)
            batch, pending_bytes = [], 0
        batch.append(message)
        pending_bytes += size
    _insert(batch)
    for message, plan in planned:
        if plan.inserts:
            write_parts(message.pk, plan)


def _insert(messages: Sequence[Message]) -> None:
    if messages:
        Message.objects.bulk_create(messages)
