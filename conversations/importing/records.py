"""What an export's JSON says, with types: each record checked as it is read, each refusal naming its place."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from .errors import BrokenExport

MAX_MEMBERS = 200_000
MAX_REACTIONS = 1000
"""Distinct emoji on one message."""
MAX_FILES = 100
LATEST_S = 4_102_444_800
"""The year 2100; a timestamp beyond it is not one."""

_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_TS = re.compile(r"[0-9]{1,10}(\.[0-9]{1,6})?")
_BAD_CHARACTERS = re.compile("[\0\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Stamp:
    """A Slack timestamp: the text identifies a message in its channel, `us` are microseconds since 1970."""

    text: str
    us: int

    @property
    def ms(self) -> int:
        return self.us // 1000

    @property
    def at(self) -> datetime:
        return datetime.fromtimestamp(self.us // 1_000_000, UTC).replace(microsecond=self.us % 1_000_000)


@dataclass(frozen=True, slots=True)
class SlackUser:
    id: str
    name: str
    shown: str
    """Display name, else real name, else the name."""
    email: str
    deleted: bool
    bot: bool
    admin: bool


@dataclass(frozen=True, slots=True)
class SlackChannel:
    id: str
    name: str
    kind: str
    """channel, group, dm or mpim."""
    folder: str
    creator: str
    archived: bool
    members: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SlackFile:
    title: str
    url: str
    mimetype: str
    size: int | None
    user: str
    gone: bool
    """Deleted, or hidden by the plan's limit: nothing but its trace is left."""


@dataclass(frozen=True, slots=True)
class SlackAttachment:
    """What an app or an unfolded link added."""

    title: str
    url: str
    text: str


@dataclass(frozen=True, slots=True)
class SlackMessage:
    stamp: Stamp
    subtype: str
    user: str
    bot: str
    bot_name: str
    user_name: str
    """What the message itself says of its author, for those whom `users.json` does not list."""
    text: str
    thread: str
    """The root's timestamp where this is part of a thread, its own included."""
    edited: Stamp | None
    reactions: tuple[tuple[str, tuple[str, ...]], ...] = ()
    files: tuple[SlackFile, ...] = ()
    attachments: tuple[SlackAttachment, ...] = ()
    comment_user: str = ""
    details: dict[str, str] = field(default_factory=dict)
    """topic, purpose, name, old_name, inviter, where given."""

    @property
    def is_reply(self) -> bool:
        return self.thread not in ("", self.stamp.text)


class Fields:
    """One JSON object, asked for members of a type. Missing and null are the same."""

    def __init__(self, raw: Any, where: str) -> None:
        if not isinstance(raw, dict):
            raise BrokenExport(f"{where}: must be an object, not {_named(raw)}.")
        self.raw, self.where = raw, where

    def text(self, name: str, default: str = "") -> str:
        value = self.raw.get(name)
        if value is None:
            return default
        if not isinstance(value, str):
            raise self.wrong(name, "a string", value)
        return _BAD_CHARACTERS.sub("�", value)

    def flag(self, name: str) -> bool:
        value = self.raw.get(name)
        if value is not None and not isinstance(value, bool):
            raise self.wrong(name, "true or false", value)
        return bool(value)

    def whole(self, name: str) -> int | None:
        value = self.raw.get(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**53:
            raise self.wrong(name, "a whole number", value)
        return value

    def id(self, name: str, *, required: bool = False) -> str:
        value = self.text(name)
        if (value or required) and not _ID.fullmatch(value):
            raise BrokenExport(f"{self.where}: {name} {value[:80]!r} is not an id.")
        return value

    def ids(self, name: str, at_most: int) -> tuple[str, ...]:
        values = self.items(name, at_most)
        for value in values:
            if not isinstance(value, str) or not _ID.fullmatch(value):
                raise BrokenExport(f"{self.where}: {name} has {str(value)[:80]!r}, which is not an id.")
        return tuple(dict.fromkeys(values))

    def items(self, name: str, at_most: int) -> list[Any]:
        value = self.raw.get(name)
        if value is None:
            return []
        if not isinstance(value, list):
            raise self.wrong(name, "a list", value)
        if len(value) > at_most:
            raise BrokenExport(f"{self.where}: {name} has {len(value)} entries; at most {at_most} are read.")
        return value

    def inner(self, name: str) -> Fields:
        value = self.raw.get(name)
        return Fields({} if value is None else value, f"{self.where}: {name}")

    def stamp(self, name: str) -> Stamp:
        return parse_stamp(self.raw.get(name), f"{self.where}: {name}")

    def wrong(self, name: str, wanted: str, value: Any) -> BrokenExport:
        return BrokenExport(f"{self.where}: {name} must be {wanted}, not {_named(value)}.")


def parse_stamp(value: Any, where: str) -> Stamp:
    if not isinstance(value, str) or not _TS.fullmatch(value):
        raise BrokenExport(f"{where} {str(value)[:40]!r} is not a timestamp like '1435330110.000002'.")
    seconds, _, rest = value.partition(".")
    us = int(seconds) * 1_000_000 + int(rest.ljust(6, "0") or 0)
    if us == 0 or us >= LATEST_S * 1_000_000:
        raise BrokenExport(f"{where} {value} is not a time between 1970 and 2100.")
    return Stamp(value, us)


def parse_user(raw: Any, where: str) -> SlackUser:
    fields = Fields(raw, where)
    profile = fields.inner("profile")
    name = fields.text("name")
    shown = profile.text("display_name") or profile.text("real_name") or fields.text("real_name") or name
    user_id = fields.id("id", required=True)
    return SlackUser(
        id=user_id,
        name=name or user_id.lower(),
        shown=shown or user_id,
        email=profile.text("email"),
        deleted=fields.flag("deleted"),
        bot=fields.flag("is_bot") or user_id == "USLACKBOT",
        admin=fields.flag("is_admin") or fields.flag("is_owner"),
    )


def parse_channel(raw: Any, kind: str, where: str) -> SlackChannel:
    fields = Fields(raw, where)
    channel_id = fields.id("id", required=True)
    name = fields.text("name")
    if kind in ("channel", "group") and (not name or "/" in name or name in (".", "..")):
        raise BrokenExport(f"{where}: name {name[:80]!r} is not a channel's name.")
    return SlackChannel(
        id=channel_id,
        name=name,
        kind=kind,
        folder=channel_id if kind == "dm" else name or channel_id,
        creator=fields.id("creator"),
        archived=fields.flag("is_archived"),
        members=fields.ids("members", MAX_MEMBERS),
    )


def parse_message(raw: Any, where: str) -> SlackMessage:
    fields = Fields(raw, where)
    if fields.text("type", "message") != "message":
        raise BrokenExport(f"{where}: type {fields.text('type')[:40]!r} is not 'message'.")
    profile, app, edited = fields.inner("user_profile"), fields.inner("bot_profile"), fields.raw.get("edited")
    thread = fields.raw.get("thread_ts")
    parent = fields.raw.get("parent")
    if thread is None and isinstance(parent, dict):
        thread = parent.get("ts")
    files = [fields.raw["file"]] if isinstance(fields.raw.get("file"), dict) else []
    files += fields.items("files", MAX_FILES)
    details = {name: fields.text(name) for name in ("topic", "purpose", "name", "old_name", "inviter")}
    return SlackMessage(
        stamp=fields.stamp("ts"),
        subtype=fields.text("subtype"),
        user=fields.id("user"),
        bot=fields.id("bot_id"),
        bot_name=app.text("name") or fields.text("username"),
        user_name=profile.text("display_name") or profile.text("real_name") or profile.text("name"),
        text=fields.text("text"),
        thread="" if thread is None else parse_stamp(thread, f"{where}: thread_ts").text,
        edited=None if edited is None else fields.inner("edited").stamp("ts"),
        reactions=tuple(_reaction(each, where) for each in fields.items("reactions", MAX_REACTIONS)),
        files=tuple(_file(each, where) for each in files),
        attachments=tuple(_attachment(each, where) for each in fields.items("attachments", MAX_FILES)),
        comment_user=fields.inner("comment").id("user"),
        details={name: value for name, value in details.items() if fields.raw.get(name) is not None},
    )


def _reaction(raw: Any, where: str) -> tuple[str, tuple[str, ...]]:
    fields = Fields(raw, f"{where}: a reaction")
    return fields.text("name"), fields.ids("users", MAX_MEMBERS)


def _file(raw: Any, where: str) -> SlackFile:
    fields = Fields(raw, f"{where}: a file")
    return SlackFile(
        title=fields.text("title") or fields.text("name"),
        url=fields.text("permalink") or fields.text("url_private") or fields.text("external_url"),
        mimetype=fields.text("mimetype"),
        size=fields.whole("size"),
        user=fields.id("user"),
        gone=fields.text("mode") in ("tombstone", "hidden_by_limit"),
    )


def _attachment(raw: Any, where: str) -> SlackAttachment:
    fields = Fields(raw, f"{where}: an attachment")
    return SlackAttachment(
        title=fields.text("title") or fields.text("service_name"),
        url=fields.text("title_link") or fields.text("from_url") or fields.text("original_url"),
        text=fields.text("text") or fields.text("fallback"),
    )


def _named(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "a string", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")
