"""One line of each of many messages, for lists, without reading them whole."""

from __future__ import annotations

from collections.abc import Collection
from uuid import UUID

from ..agentue.text import plain_text, preview
from ..agentue.values import JsonObject
from ..models import Message, MessagePart
from .layout import open_body, open_part, part_ids

MAX_PREVIEWED_BYTES = 1024 * 1024
"""A larger block is not read for the sake of its first line; the list then shows what else the message has."""


def read_previews(message_ids: Collection[UUID]) -> dict[UUID, str]:
    """A preview by message id, "" where there is nothing to show. One statement, two where a text begins in no row.

    One body at a time is parsed. Between the two statements a block may move: its preview is then missing once.
    """
    lines: dict[UUID, str] = {}
    elsewhere: dict[str, tuple[UUID, JsonObject]] = {}
    for message_id, stored in (
        Message.objects.filter(id__in=message_ids).values_list("id", "content").iterator(chunk_size=20)
    ):
        body = open_body(message_id, stored)
        here = {**body, "blocks": [block for block in body["blocks"] if "ref" not in block]}
        lines[message_id] = preview(here)
        if (parts := part_ids(body["blocks"])) and not plain_text(here).strip():
            elsewhere[parts[0]] = (message_id, here)
            lines[message_id] = lines[message_id] or "…"
    if elsewhere:
        readable = MessagePart.objects.filter(id__in=list(elsewhere), size_bytes__lte=MAX_PREVIEWED_BYTES)
        for part_id, stored in readable.values_list("id", "content").iterator(chunk_size=20):
            message_id, here = elsewhere[str(part_id)]
            held = open_part(message_id, str(part_id), stored)
            lines[message_id] = preview({**here, "blocks": [*here["blocks"], *held.values()]})
    return lines
