"""A page of messages as the template draws it: days, who speaks, and text that is safe to show."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from uuid import UUID

from conversations.agentue.text import TEXT_TYPES, plain_text
from conversations.models import Member
from conversations.queries.members import render_members

from .looks import Avatar, Json, avatar

GROUP_FOR = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class Row:
    id: str
    day: date | None
    """Set where a new day begins."""
    author: str
    avatar: Avatar
    is_agent: bool
    at: datetime
    is_continued: bool
    """By the author of the message above, soon after it."""
    text: str
    others: list[str]
    """Types of blocks that are not text."""
    is_edited: bool
    reactions: list[tuple[str, int]]
    thread: Json | None


def rows(messages: list[Json], authors: dict[str, Json]) -> list[Row]:
    found: list[Row] = []
    before: tuple[str, datetime] | None = None
    day: date | None = None
    for message in messages:
        at = datetime.fromisoformat(message["created_at"])
        author = authors[message["author_id"]]
        new_day = at.date() != day
        day = at.date()
        continued = before is not None and before[0] == author["id"] and at - before[1] < GROUP_FOR
        content = message["content"]
        found.append(
            Row(
                id=message["id"],
                day=day if new_day else None,
                author=author["display_name"],
                avatar=avatar(author),
                is_agent=author["actor"]["kind"] != "user",
                at=at,
                is_continued=continued and not new_day and not message["reply_to_id"],
                text=plain_text(content),
                others=[str(b.get("type", "untyped")) for b in content["blocks"] if b.get("type") not in TEXT_TYPES],
                is_edited=message["edited_at"] is not None,
                reactions=[(emoji, len(members)) for emoji, members in message["reactions"].items() if members],
                thread=message["thread"] if message["thread"] and message["thread"]["count"] else None,
            )
        )
        before = (author["id"], at)
    return found


def authors_of(messages: list[Json]) -> dict[str, Json]:
    """Everybody whom a page of messages names: authors, the mentioned, those who reacted. One statement."""
    ids: set[str] = set()
    for message in messages:
        ids.add(message["author_id"])
        ids.update(message["mentions"])
        for members in message["reactions"].values():
            ids.update(members)
    found = Member.objects.select_related("user").filter(id__in=[UUID(value) for value in ids])
    return {member["id"]: member for member in render_members(found)}
