"""Text blocks of messages as HTML, in three statements for any number of messages."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any
from uuid import UUID

from ..content.reading import read_contents
from ..markdown import MAX_TOTAL_CHARS, render_blocks
from ..models import Member, Message
from .mentions import mentions_of


def rendered_blocks(messages: Sequence[Message], only: Collection[str] = ()) -> list[dict[str, Any]]:
    """`{id, revision, blocks}` by message, in the given order; of blocks those named, or all where none is.

    `TooLarge` where all bodies together are.
    """
    bodies = read_contents(messages)
    mentions = mentions_of([message.id for message in messages])
    names = _names({member_id for ids in mentions.values() for member_id in ids})
    left = MAX_TOTAL_CHARS
    found = []
    for message in messages:
        if (body := bodies.get(message.id)) is None:
            continue
        mentioned = dict(names[member_id] for member_id in mentions.get(message.id, ()) if member_id in names)
        wanted = [block for block in body["blocks"] if block["id"] in only] if only else body["blocks"]
        blocks, left = render_blocks(wanted, mentioned, left)
        found.append({"id": str(message.id), "revision": message.revision, "blocks": blocks})
    return found


def _names(member_ids: set[UUID]) -> dict[UUID, tuple[str, str]]:
    """Username and display name."""
    if not member_ids:
        return {}
    rows = Member.objects.select_related("user").filter(id__in=member_ids)
    return {member.id: (member.user.username, member.display_name) for member in rows}
