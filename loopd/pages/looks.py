"""How people and conversations look on the first screen; `view/avatar.js` and `store/names.js` do it alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

HUES = 10
MAX_NAMES = 4
SECTIONS = (
    ("channel", "Channels"),
    ("conversation", "Agent conversations"),
    ("dm", "Direct messages"),
    ("task", "Tasks"),
    ("thread", "Threads"),
)
ONLY_UNREAD = ("task", "thread")
"""Listed only while they show something or are open."""
_ICONS = {"dm": "person", "thread": "thread", "task": "check", "conversation": "spark"}
_COUNTED = ("ready", "snapshot_serving")
_MOST_SHOWN = 99

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Avatar:
    hue: int
    initials: str
    is_agent: bool


@dataclass(frozen=True, slots=True)
class Badge:
    text: str
    """Empty for a manual marker, which is a dot."""
    spoken: str
    is_hint: bool


@dataclass(frozen=True, slots=True)
class Item:
    """A line of the sidebar."""

    conversation: Json
    name: str
    icon: str
    avatar: Avatar | None
    people: int
    """How many others are in a group DM, else 0."""
    badge: Badge | None
    is_mentioned: bool
    is_open: bool


@dataclass(frozen=True, slots=True)
class Section:
    type: str
    title: str
    items: list[Item]


def avatar(member: Json) -> Avatar:
    return Avatar(
        hue=int(member["id"][-2:], 16) % HUES,
        initials=initials(member["display_name"]),
        is_agent=member["actor"]["kind"] != "user",
    )


def initials(name: str) -> str:
    words = name.split()
    if not words:
        return "?"
    return (words[0][0] + (words[-1][0] if len(words) > 1 else "")).upper()


def conversation_name(conversation: Json, me: Json) -> str:
    if conversation["name"]:
        return str(conversation["name"])
    if conversation["type"] == "dm":
        names = [member["display_name"] for member in _others(conversation, me)]
        if not names:
            return f"{me['display_name']} (you)"
        rest = len(names) - MAX_NAMES
        return ", ".join(names[:MAX_NAMES]) + (f" and {rest} more" if rest > 0 else "")
    if conversation["type"] == "thread":
        return "Thread"
    actor = conversation.get("actor")
    return f"Conversation of {actor['key']}" if actor else "Conversation"


def conversation_icon(conversation: Json) -> str:
    if conversation["type"] == "channel":
        return "lock" if conversation["visibility"] == "private" else "hash"
    return _ICONS.get(conversation["type"], "hash")


def badge(entry: Json | None) -> Badge | None:
    if entry is None:
        return None
    count = entry["messages"] + entry["activities"] if entry["state"] in _COUNTED else 0
    if count == 0:
        return Badge("", "marked unread", False) if entry["manual"] else None
    hint = entry["state"] == "snapshot_serving"
    spoken = f"{'about ' if hint else ''}{count} unread"
    if entry["mentions"]:
        spoken += f", {entry['mentions']} mentioning you"
    return Badge(f"{_MOST_SHOWN}+" if count > _MOST_SHOWN else str(count), spoken, hint)


def sections(conversations: list[Json], counts: dict[str, Json], me: Json, open_id: str | None) -> list[Section]:
    """The sidebar: channels by name, the rest newest first; archived ones and those not joined are left out."""
    listed = [c for c in conversations if c["joined"] and not c["archived"]]
    found = []
    for kind, title in SECTIONS:
        items = [_item(c, counts.get(c["id"]), me, open_id) for c in listed if c["type"] == kind]
        if kind in ONLY_UNREAD:
            items = [item for item in items if item.badge or item.is_open]
        if kind == "channel":
            items.sort(key=lambda item: item.name.casefold())
        else:
            items.sort(key=lambda item: item.conversation["visible_last_message_at"] or "", reverse=True)
        if items or kind in ("channel", "dm"):
            found.append(Section(kind, title, items))
    return found


def _item(conversation: Json, entry: Json | None, me: Json, open_id: str | None) -> Item:
    others = _others(conversation, me) if conversation["type"] == "dm" else []
    one = (others or [me])[0] if conversation["type"] == "dm" and len(others) < 2 else None
    return Item(
        conversation=conversation,
        name=conversation_name(conversation, me),
        icon=conversation_icon(conversation),
        avatar=avatar(one) if one else None,
        people=len(others) if len(others) > 1 else 0,
        badge=badge(entry),
        is_mentioned=bool(entry and entry["mentions"]),
        is_open=conversation["id"] == open_id,
    )


def _others(conversation: Json, me: Json) -> list[Json]:
    return [member for member in conversation["members"] or () if member["id"] != me["id"]]
