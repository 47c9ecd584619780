"""The first reading: the whole archive parsed and checked, so that nothing is written of one that is broken.

Keeps what the second reading needs (people, channels, their files in order of time) and no messages.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from .archive import Archive
from .errors import BrokenExport
from .kinds import is_known
from .records import SlackChannel, SlackMessage, SlackUser, parse_channel, parse_message, parse_user
from .text import leading_mention

MAX_USERS = 200_000
MAX_CHANNELS = 50_000
MAX_MESSAGES_PER_FILE = 200_000
MAX_MESSAGES = 20_000_000

LISTS = {"channels.json": "channel", "groups.json": "group", "dms.json": "dm", "mpims.json": "mpim"}
_DAY = re.compile(r"[^/]+/\d{4}-\d{2}-\d{2}\.json")


@dataclass(slots=True)
class Day:
    """One file of a channel."""

    name: str
    messages: int
    first_us: int
    last_us: int


@dataclass(slots=True)
class Place:
    """A channel with its files, in order of time."""

    channel: SlackChannel
    days: list[Day] = field(default_factory=list)
    roots: set[str] = field(default_factory=set)
    """Timestamps that replies name as their thread."""

    @property
    def last_us(self) -> int:
        return max((day.last_us for day in self.days), default=0)


@dataclass(slots=True)
class Export:
    """What a checked archive holds."""

    users: dict[str, SlackUser]
    places: list[Place]
    strangers: dict[str, str] = field(default_factory=dict)
    """Authors whom `users.json` does not list, with a name if a message gives one."""
    bots: dict[str, str] = field(default_factory=dict)
    messages: int = 0
    notes: Counter[str] = field(default_factory=Counter)
    """What was passed over, and how often."""


def inspect(archive: Archive, progress: Callable[[], None] = lambda: None) -> Export:
    """Read everything once. `progress` is called for each file. Raises `BrokenExport`."""
    for name in ("users.json", "channels.json"):
        if name not in archive:
            raise BrokenExport(f"The archive has no {name}, so it is not a Slack export.")
    export = Export(users=_users(archive), places=_places(archive))
    by_folder = _by_folder(export)
    for name in sorted(archive.names()):
        progress()
        if name in LISTS or name == "users.json":
            continue
        place = by_folder.get(name.split("/", 1)[0])
        if place is None or not _DAY.fullmatch(name):
            export.notes[f"file not imported: {name.split('/', 1)[0]}{'/…' if '/' in name else ''}"] += 1
            continue
        _read_day(archive, name, place, export)
        if export.messages > MAX_MESSAGES:
            raise BrokenExport(f"The archive has more than {MAX_MESSAGES} messages.")
    for place in export.places:
        place.days.sort(key=lambda day: (day.first_us, day.name))
    return export


def read_day(archive: Archive, name: str) -> list[SlackMessage]:
    """The messages of one file, in order of time."""
    found = [parse_message(raw, f"{name}, message {at}") for at, raw in _listed(archive, name, MAX_MESSAGES_PER_FILE)]
    return sorted(found, key=lambda message: message.stamp.us)


def _read_day(archive: Archive, name: str, place: Place, export: Export) -> None:
    messages = read_day(archive, name)
    if not messages:
        return
    place.days.append(Day(name, len(messages), messages[0].stamp.us, messages[-1].stamp.us))
    export.messages += len(messages)
    for message in messages:
        if message.is_reply:
            place.roots.add(message.thread)
        if not is_known(message.subtype):
            export.notes[f"unknown subtype kept as a message: {message.subtype[:40]}"] += 1
        _note_author(message, export)


def _note_author(message: SlackMessage, export: Export) -> None:
    author = author_of(message)
    if author and author == message.bot:
        export.bots.setdefault(author, message.bot_name)
    elif author and author not in export.users and not export.strangers.get(author):
        export.strangers[author] = message.user_name
    for _, users in message.reactions:
        for user in users:
            if user not in export.users:
                export.strangers.setdefault(user, "")


def author_of(message: SlackMessage) -> str:
    """The id of the user or bot who wrote it, or an empty string where nothing says so."""
    return (
        message.user
        or message.comment_user
        or message.bot
        or leading_mention(message.text)
        or next((file.user for file in message.files if file.user), "")
    )


def _users(archive: Archive) -> dict[str, SlackUser]:
    found: dict[str, SlackUser] = {}
    for at, raw in _listed(archive, "users.json", MAX_USERS):
        user = parse_user(raw, f"users.json, user {at}")
        if user.id in found:
            raise BrokenExport(f"users.json has the id {user.id} twice.")
        found[user.id] = user
    return found


def _places(archive: Archive) -> list[Place]:
    found: dict[str, Place] = {}
    for name, kind in LISTS.items():
        if name not in archive:
            continue
        for at, raw in _listed(archive, name, MAX_CHANNELS):
            channel = parse_channel(raw, kind, f"{name}, channel {at}")
            if channel.id in found:
                raise BrokenExport(f"{name} has the id {channel.id}, which another channel has.")
            found[channel.id] = Place(channel)
    return list(found.values())


def _by_folder(export: Export) -> dict[str, Place]:
    found: dict[str, Place] = {}
    for place in export.places:
        if place.channel.folder in found:
            raise BrokenExport(f"Two channels are named {place.channel.folder!r}.")
        found[place.channel.folder] = place
    return found


def _listed(archive: Archive, name: str, at_most: int) -> Iterator[tuple[int, Any]]:
    raw = archive.read(name)
    if not isinstance(raw, list):
        raise BrokenExport(f"{name} must hold a list.")
    if len(raw) > at_most:
        raise BrokenExport(f"{name} has {len(raw)} entries; at most {at_most} are read.")
    return iter(enumerate(raw, 1))
