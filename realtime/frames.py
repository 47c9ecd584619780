"""What goes to a socket: one function for each type of frame, rendered once, sent to many.

Every frame is one JSON object in a text message with `type`. The shapes are the contract of `docs/realtime.md`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson

from unread.core.states import MemberDelta, MemberUnread
from unread.shapes import member_json

MAX_MESSAGE_BYTES = 64 * 1024
"""Of a message in a frame; of a longer one the frame tells only how to fetch it."""


def render(kind: str, values: Mapping[str, Any]) -> str:
    return orjson.dumps({"type": kind, **values}).decode()


def hello(heartbeat_s: float) -> str:
    return render("hello", {"heartbeat_s": heartbeat_s})


def heartbeat(now: datetime) -> str:
    return render("heartbeat", {"ts": now.isoformat().replace("+00:00", "Z")})


def resync() -> str:
    """Frames were left out: whatever the page shows besides unread must be read again."""
    return render("resync", {})


def error(kind: str, message: str, fields: Mapping[str, Any] | None = None) -> str:
    return render("error", {"error": {"type": kind, "message": message, "fields": dict(fields or {})}})


def unread_snapshot(unread: MemberUnread) -> str:
    return render("unread.snapshot", member_json(unread))


def unread_delta(delta: MemberDelta) -> str:
    return render("unread.delta", {"since": delta.since, **member_json(delta.unread)})


def message(kind: str, rendered: Mapping[str, Any]) -> str:
    """`message.created` or `message.updated`: the message itself, or where to fetch it."""
    text = render(kind, rendered)
    if len(text) > MAX_MESSAGE_BYTES // 4 and len(text.encode()) > MAX_MESSAGE_BYTES:
        kept = {name: rendered[name] for name in ("id", "conversation_id", "revision")}
        return render(kind, {**kept, "fetch": True})
    return text


def message_deleted(message_id: UUID, conversation_id: UUID) -> str:
    return render("message.deleted", {"id": message_id, "conversation_id": conversation_id})


def reaction_updated(message_id: UUID, conversation_id: UUID, reactions: Mapping[str, Any]) -> str:
    """All reactions of a message, as they are now."""
    values = {"message_id": message_id, "conversation_id": conversation_id, "reactions": reactions}
    return render("reaction.updated", values)


def activity_created(rendered: Mapping[str, Any]) -> str:
    """An activity has a `type` of its own, so it goes inside."""
    return render("activity.created", {"conversation_id": rendered["conversation_id"], "activity": rendered})


def conversation_updated(shared: Mapping[str, Any], members_changed: Collection[UUID]) -> str:
    """What is the same for everybody who sees it, inside for its `type`; who joined or left reads their part again."""
    changed = list(members_changed)
    conversation = {**shared, "members_changed": changed}
    values = {"id": shared["id"], "conversation_id": shared["id"], "conversation": conversation}
    return render("conversation.updated", {**values, "members_changed": changed})


def conversation_lost(conversation_id: UUID, members_changed: Collection[UUID]) -> str:
    """For those among `members_changed` who may not see it any more."""
    values = {"id": conversation_id, "conversation_id": conversation_id, "conversation": None}
    return render("conversation.updated", {**values, "members_changed": list(members_changed)})


def member_updated(rendered: Mapping[str, Any]) -> str:
    return render("member.updated", {"member": rendered})


def read_updated(conversation_id: UUID, last_read_seq: int, last_activity_read_seq: int) -> str:
    values = {
        "conversation_id": conversation_id,
        "last_read_seq": last_read_seq,
        "last_activity_read_seq": last_activity_read_seq,
    }
    return render("read.updated", values)
