"""Slack's message text as plain text: mentions by user name, channels by name, links as addresses. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

_TOKEN = re.compile(r"<([^<>]{1,8192})>")
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_LEADING_MENTION = re.compile(r"<@([A-Za-z0-9_-]{1,64})[|>]")


@dataclass(frozen=True, slots=True)
class Names:
    """How ids are called here. `people`: user id to user name; `channels`: channel id to name."""

    people: Mapping[str, str]
    channels: Mapping[str, str]


def plain(text: str, names: Names) -> tuple[str, tuple[str, ...]]:
    """The text as people read it, and the ids of the users that it mentions, each once in order."""
    mentioned: dict[str, None] = {}

    def token(match: re.Match[str]) -> str:
        target, _, label = match[1].partition("|")
        if target.startswith("@"):
            mentioned[target[1:]] = None
        return _token(target, label, names)

    return unescape(_TOKEN.sub(token, text)), tuple(mentioned)


def leading_mention(text: str) -> str:
    """The user id with which older exports begin what somebody did, else an empty string."""
    match = _LEADING_MENTION.match(text)
    return match[1] if match else ""


def unescape(text: str) -> str:
    """The three entities that Slack escapes, the ampersand last."""
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def _token(target: str, label: str, names: Names) -> str:
    """Still escaped, as the text around it."""
    kind, rest = target[:1], target[1:]
    if kind == "@":
        return f"@{names.people.get(rest) or label or rest}"
    if kind == "#":
        return f"#{names.channels.get(rest) or label or rest}"
    if kind == "!":
        return _command(rest, label)
    if not _ADDRESS.match(target):
        return f"<{target}|{label}>" if label else f"<{target}>"
    address = target.removeprefix("mailto:").removeprefix("tel:")
    if not label or label in (target, address, re.sub(r"^https?://", "", target)):
        return address
    return f"{label} ({address})"


def _command(target: str, label: str) -> str:
    name = target.split("^", 1)[0]
    if name == "date":
        return label or target
    if label:
        return label
    return f"@{name}"
