"""A page of messages as the template draws it: days, who speaks, and text that is safe to show."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from uuid import UUID

from conversations.agentue.text import TEXT_TYPES
from conversations.markdown import MAX_TOTAL_CHARS, render_blocks
from conversations.models import Member
from conversations.queries.members import render_members

from .looks import Avatar, Json, avatar

GROUP_FOR = timedelta(minutes=5)


PREVIEW_CHARS = 16_384


@dataclass(frozen=True, slots=True)
class Text:
    """A text block. `html` is None where it is shown as it was written, `more` what is left out then (characters)."""

    id: str
    html: str | None
    plain: str = ""
    more: int = 0


@dataclass(frozen=True, slots=True)
class Row:
    id: str
    day: date | None
    """Set where a new day begins."""
    author: str
    avatar: Avatar
    is_agent: bool
    to: str
    """Whom it is directed at, or empty."""
    work: str | None
    """The process conversation in which it is worked on."""
    at: datetime
    is_continued: bool
    """By the author of the message above, soon after it."""
    revision: int
    texts: list[Text]
    others: list[str]
    """Types of blocks that are not text."""
    is_edited: bool
    reactions: list[tuple[str, int]]
    thread: Json | None


def rows(messages: list[Json], authors: dict[str, Json]) -> list[Row]:
    found: list[Row] = []
    before: tuple[str, str, datetime] | None = None
    day: date | None = None
    budget = MAX_TOTAL_CHARS
    for message in messages:
        at = datetime.fromisoformat(message["created_at"])
        author = authors[message["author_id"]]
        new_day = at.date() != day
        day = at.date()
        to = _actor_text(message["target"])
        continued = before is not None and before[:2] == (author["id"], to) and at - before[2] < GROUP_FOR
        content = message["content"]
        texts, budget = _texts(message, authors, budget)
        found.append(
            Row(
                id=message["id"],
                day=day if new_day else None,
                author=author["display_name"],
                avatar=avatar(author),
                is_agent=author["actor"]["kind"] != "user",
                to=to,
                work=message["process_conversation_id"],
                at=at,
                is_continued=continued and not new_day and not message["reply_to_id"],
                revision=message["revision"],
                texts=texts,
                others=[str(b.get("type", "untyped")) for b in content["blocks"] if b.get("type") not in TEXT_TYPES],
                is_edited=message["edited_at"] is not None,
                reactions=[(emoji, len(members)) for emoji, members in message["reactions"].items() if members],
                thread=message["thread"] if message["thread"] and message["thread"]["count"] else None,
            )
        )
        before = (author["id"], to, at)
    return found


def _actor_text(actor: Json | None) -> str:
    return f"{actor['kind']}/{actor['key']}" if actor else ""


def _texts(message: Json, authors: dict[str, Json], budget: int) -> tuple[list[Text], int]:
    """An open message is shown as it was written so far. Also returns what is left of `budget` for HTML."""
    people = [authors[member_id] for member_id in message["mentions"] if member_id in authors]
    blocks = [block for block in message["content"]["blocks"] if block.get("type") in TEXT_TYPES]
    html: dict[str, str | None] = {}
    if message["status"] != "streaming":
        mentioned = {member["username"]: member["display_name"] for member in people}
        rendered, budget = render_blocks(blocks, mentioned, budget)
        html = {each["id"]: each["html"] for each in rendered}
    found = []
    for block in blocks:
        text = block["content"] if isinstance(block.get("content"), str) else ""
        if (safe := html.get(block["id"])) is not None:
            found.append(Text(block["id"], safe))
        elif text:
            found.append(Text(block["id"], None, text[:PREVIEW_CHARS], max(0, len(text) - PREVIEW_CHARS)))
    return found, budget


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
