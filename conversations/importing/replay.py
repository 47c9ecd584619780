"""An export's messages played over HTTP as live traffic from their authors, at N times the speed of history.

Everything goes through the server, as from any client: authors join, post, reply in threads and react, each by a token
of its own. Long silences are cut, and the number of messages is bounded. What happened besides messages is not played.
"""

from __future__ import annotations

import heapq
import secrets
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from .archive import Archive
from .client import CallFailed, Client
from .content import content_of, emoji_name
from .inspection import Export, Place, author_of, read_day
from .kinds import Kept, kind_of
from .records import SlackMessage
from .text import Names

MAX_REMEMBERED_ROOTS = 20_000


@dataclass(frozen=True, slots=True)
class Speaker:
    """One author: the token to speak by, and what the server calls them."""

    token: str
    username: str
    member_id: str


@dataclass(slots=True)
class Replayed:
    messages: int = 0
    replies: int = 0
    reactions: int = 0
    skipped: Counter[str] = field(default_factory=Counter)

    def lines(self) -> Iterator[str]:
        yield f"Played: {self.messages} messages, {self.replies} of them in threads, {self.reactions} reactions."
        for reason, n in sorted(self.skipped.items(), key=lambda item: (-item[1], item[0])):
            yield f"Skipped: {n} x {reason}."


class Replay:
    """`speakers`: Slack id to speaker. `speed`: seconds of history per second; a silence lasts `max_gap_s` at most."""

    def __init__(
        self,
        client: Client,
        export: Export,
        workspace_id: str,
        speakers: Mapping[str, Speaker],
        *,
        speed: float,
        max_gap_s: float,
        limit: int,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.client, self.export, self.workspace_id, self.speakers = client, export, workspace_id, speakers
        self.speed, self.max_gap_s, self.limit, self.sleep = speed, max_gap_s, limit, sleep
        self.report = Replayed()
        self._run = secrets.token_hex(4)
        self._names = Names(
            people={slack_id: speaker.username for slack_id, speaker in speakers.items()},
            channels={place.channel.id: place.channel.name for place in export.places},
        )
        self._conversations: dict[str, str] = {}
        self._joined: set[tuple[str, str]] = set()
        self._sent: OrderedDict[tuple[str, str], str] = OrderedDict()
        """The last messages that may still get replies: channel and timestamp to message id."""

    def play(self, archive: Archive, progress: Callable[[int], None] = lambda by: None) -> Replayed:
        before_us: int | None = None
        played = 0
        for place, message in in_order_of_time(archive, self.export):
            if played >= self.limit:
                self.report.skipped[f"beyond the limit of {self.limit} messages"] += self.export.messages - played
                break
            played += 1
            progress(1)
            speaker = self.speakers.get(author_of(message))
            if not isinstance(kind_of(message), Kept):
                self.report.skipped["not a message"] += 1
                continue
            if speaker is None:
                self.report.skipped["no token for its author"] += 1
                continue
            if before_us is not None:
                self.sleep(min((message.stamp.us - before_us) / 1e6 / self.speed, self.max_gap_s))
            before_us = message.stamp.us
            try:
                self._say(place, message, speaker)
            except CallFailed as failed:
                if failed.status not in (403, 404, 409):
                    raise
                self.report.skipped[str(failed).split(": ", 1)[1]] += 1
        return self.report

    def _say(self, place: Place, message: SlackMessage, speaker: Speaker) -> None:
        conversation_id = self._conversation(place, speaker)
        if place.channel.kind in ("channel", "group"):
            self._join(conversation_id, speaker)
        root = self._sent.get((place.channel.id, message.thread)) if message.is_reply else None
        target = conversation_id
        if root is not None:
            target = self.client.call(speaker.token, "POST", f"/messages/{root}/thread")["id"]
            self.report.replies += 1
        content, _ = content_of(message, self._names)
        body: dict[str, Any] = {"client_message_id": f"replay:{self._run}:{place.channel.id}:{message.stamp.text}"}
        texts = [block for block in content["blocks"] if block["type"] == "text"]
        if len(texts) == len(content["blocks"]) == 1:
            body["text"] = texts[0]["content"]
        else:
            body["content"] = content
        sent = self.client.call(speaker.token, "POST", f"/conversations/{target}/messages", body)
        self.report.messages += 1
        self._remember((place.channel.id, message.stamp.text), sent["id"])
        self._react(message, sent["id"])

    def _react(self, message: SlackMessage, message_id: str) -> None:
        for name, users in message.reactions:
            emoji = emoji_name(name)
            for user in users:
                if emoji and (speaker := self.speakers.get(user)) is not None:
                    path = f"/messages/{message_id}/reactions/{quote(emoji, safe='')}"
                    try:
                        self.client.call(speaker.token, "PUT", path)
                        self.report.reactions += 1
                    except CallFailed as failed:
                        if failed.status not in (403, 404, 409):
                            raise
                        self.report.skipped["a reaction of somebody who is not in the conversation"] += 1

    def _conversation(self, place: Place, speaker: Speaker) -> str:
        """By name among those that the author sees; made where there is none, with its members as far as known."""
        known = self._conversations.get(place.channel.id)
        if known is not None:
            return known
        members = [self.speakers[user] for user in place.channel.members if user in self.speakers]
        body: dict[str, Any] = {
            "workspace_id": self.workspace_id,
            "member_ids": [each.member_id for each in members if each != speaker][:999],
        }
        if place.channel.kind in ("dm", "mpim"):
            found = self.client.call(speaker.token, "POST", "/conversations", {**body, "type": "dm"})["id"]
        else:
            path = f"/conversations?workspace_id={self.workspace_id}&type=channel"
            listed = self.client.pages(speaker.token, path)
            same = [each["id"] for each in listed if each["name"] == place.channel.name]
            visibility = "public" if place.channel.kind == "channel" else "private"
            body |= {"type": "channel", "name": place.channel.name[:120], "visibility": visibility}
            found = same[0] if same else self.client.call(speaker.token, "POST", "/conversations", body)["id"]
        self._conversations[place.channel.id] = found
        return str(found)

    def _join(self, conversation_id: str, speaker: Speaker) -> None:
        if (conversation_id, speaker.member_id) not in self._joined:
            self.client.call(speaker.token, "POST", f"/conversations/{conversation_id}/members", {})
            self._joined.add((conversation_id, speaker.member_id))

    def _remember(self, key: tuple[str, str], message_id: str) -> None:
        self._sent[key] = message_id
        if len(self._sent) > MAX_REMEMBERED_ROOTS:
            self._sent.popitem(last=False)


def in_order_of_time(archive: Archive, export: Export) -> Iterator[tuple[Place, SlackMessage]]:
    """All messages of all channels, merged; one day of each channel in memory."""

    def of(place: Place) -> Iterator[tuple[int, str, SlackMessage, Place]]:
        for day in place.days:
            for message in read_day(archive, day.name):
                yield message.stamp.us, place.channel.id, message, place

    merged = heapq.merge(*(of(place) for place in export.places), key=lambda item: item[:2])
    return ((place, message) for _, _, message, place in merged)
