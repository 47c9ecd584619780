"""One Slack message, translated and resolved: what a batch writes, with no Slack left in it but its key."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from ..actions.mentioning import MAX_MENTIONS
from ..actions.reactions import MAX_EMOJI_PER_MESSAGE, MAX_REACTIONS_PER_MESSAGE
from ..agentue.values import JsonObject
from .content import content_of, emoji_name
from .inspection import author_of
from .kinds import Happened, Left, kind_of, payload_of
from .people import Person
from .records import SlackMessage, Stamp
from .report import Report
from .text import Names

REF_TYPE = "slack"


@dataclass(frozen=True, slots=True)
class Entry:
    """A message or, with `activity`, an activity."""

    key: str
    """What marks it as imported: `slack:<channel>:<timestamp>`."""
    stamp: Stamp
    author: Person
    thread: str
    """The root's timestamp where it is a reply."""
    activity: str = ""
    payload: dict[str, Any] | None = None
    content: JsonObject | None = None
    mentions: tuple[UUID, ...] = ()
    reactions: tuple[tuple[str, UUID], ...] = ()
    edited_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Translator:
    """Knows who and what the ids of one export are."""

    people: dict[str, Person]
    names: Names
    member_ids: dict[str, str]

    def entry(self, message: SlackMessage, key: str, report: Report) -> Entry | None:
        """None, with the reason in the report, for what becomes nothing."""
        kind = kind_of(message)
        if isinstance(kind, Left):
            report.skipped[kind.why] += 1
            return None
        author = self.people.get(author_of(message))
        if author is None:
            report.skipped["nothing says who wrote it"] += 1
            return None
        if isinstance(kind, Happened):
            payload = payload_of(message, self.member_ids)
            return Entry(key, message.stamp, author, "", activity=kind.type, payload=payload)
        content, mentioned = content_of(message, self.names)
        if not content["blocks"]:
            report.skipped["empty"] += 1
            return None
        if message.subtype == "thread_broadcast":
            report.notes["a reply that was also shown in its channel; it is in its thread alone"] += 1
        return Entry(
            key,
            message.stamp,
            author,
            message.thread if message.is_reply else "",
            content=content,
            mentions=self._mentions(mentioned),
            reactions=self._reactions(message, report),
            edited_at=message.edited.at if message.edited else None,
        )

    def _mentions(self, mentioned: tuple[str, ...]) -> tuple[UUID, ...]:
        found = dict.fromkeys(self.people[user].member_id for user in mentioned if user in self.people)
        return tuple(found)[:MAX_MENTIONS]

    def _reactions(self, message: SlackMessage, report: Report) -> tuple[tuple[str, UUID], ...]:
        found: dict[tuple[str, UUID], None] = {}
        for name, users in message.reactions:
            emoji = emoji_name(name)
            if not emoji:
                report.notes["a reaction whose name is no name of an emoji"] += 1
                continue
            if len({known for known, _ in found} | {emoji}) > MAX_EMOJI_PER_MESSAGE:
                report.notes[f"a message with more than {MAX_EMOJI_PER_MESSAGE} emoji; the rest is left out"] += 1
                break
            for user in users:
                if user in self.people:
                    found[emoji, self.people[user].member_id] = None
        if len(found) > MAX_REACTIONS_PER_MESSAGE:
            report.notes[f"a message with more than {MAX_REACTIONS_PER_MESSAGE} reactions; the rest is left out"] += 1
        return tuple(found)[:MAX_REACTIONS_PER_MESSAGE]


def key_prefix(channel_id: str) -> str:
    return f"slack:{channel_id}:"
