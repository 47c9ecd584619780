"""What becomes of each subtype of a Slack message: a message, a low-signal activity, or nothing, and why."""

from __future__ import annotations

from dataclasses import dataclass

from .. import activity_types
from .records import SlackMessage


@dataclass(frozen=True, slots=True)
class Kept:
    """A message."""


@dataclass(frozen=True, slots=True)
class Happened:
    """An activity of this type."""

    type: str


@dataclass(frozen=True, slots=True)
class Left:
    """Nothing, and why."""

    why: str


Kind = Kept | Happened | Left

_KEPT = frozenset(
    {
        "",
        "me_message",
        "bot_message",
        "slackbot_response",
        "file_share",
        "file_comment",
        "file_mention",
        "thread_broadcast",
    }
)
_HAPPENED = {
    "channel_join": activity_types.MEMBER_JOINED,
    "group_join": activity_types.MEMBER_JOINED,
    "channel_leave": activity_types.MEMBER_LEFT,
    "group_leave": activity_types.MEMBER_LEFT,
    "channel_topic": activity_types.TOPIC,
    "group_topic": activity_types.TOPIC,
    "channel_purpose": activity_types.TOPIC,
    "group_purpose": activity_types.TOPIC,
    "channel_name": activity_types.RENAME,
    "group_name": activity_types.RENAME,
    "channel_archive": activity_types.ARCHIVED,
    "group_archive": activity_types.ARCHIVED,
    "channel_unarchive": activity_types.RESTORED,
    "group_unarchive": activity_types.RESTORED,
    "channel_convert_to_private": activity_types.VISIBILITY,
}
_LEFT = {
    "pinned_item": "a pin; pins are not imported",
    "unpinned_item": "a pin; pins are not imported",
    "bot_add": "an app was added; apps are not imported",
    "bot_remove": "an app was removed; apps are not imported",
    "app_conversation_join": "an app was added; apps are not imported",
    "tombstone": "deleted in Slack",
    "message_deleted": "deleted in Slack",
    "message_changed": "a record of an edit; the edited message itself is imported",
    "message_replied": "a record of a reply; the reply itself is imported",
    "reply_broadcast": "a record of a reply; the reply itself is imported",
    "reminder_add": "a reminder; reminders are not imported",
    "huddle_thread": "a huddle; calls are not imported",
    "sh_room_created": "a call; calls are not imported",
    "sh_room_shared": "a call; calls are not imported",
    "ekm_access_denied": "withheld by Slack",
    "channel_posting_permissions": "a permission; permissions are not imported",
}


def kind_of(message: SlackMessage) -> Kind:
    """A subtype that nobody knows is kept as a message where it says something."""
    subtype = message.subtype
    if subtype in _HAPPENED:
        return Happened(_HAPPENED[subtype])
    if subtype in _LEFT:
        return Left(_LEFT[subtype])
    if not (message.text.strip() or message.files or message.attachments):
        return Left("empty")
    if subtype in _KEPT or message.text.strip():
        return Kept()
    return Left(f"unknown subtype {subtype[:40]}")


def is_known(subtype: str) -> bool:
    return subtype in _KEPT or subtype in _HAPPENED or subtype in _LEFT


def payload_of(message: SlackMessage, names: dict[str, str]) -> dict[str, str]:
    """What an activity carries. `names`: user id to member id."""
    details = message.details
    if "purpose" in message.subtype:
        return {"purpose": details.get("purpose", "")[:4000]}
    if "topic" in message.subtype:
        return {"topic": details.get("topic", "")[:4000]}
    if message.subtype.endswith("_name"):
        return {"from": details.get("old_name", "")[:200], "to": details.get("name", "")[:200]}
    if message.subtype.endswith(("_join", "_leave")) and (member_id := names.get(message.user)):
        return {"member_id": member_id}
    return {}
