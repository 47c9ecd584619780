"""What a row of the task outbox says to the runtime."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from conversations.activity_types import HIGH_SIGNAL
from conversations.models import TaskAttentionOutbox

from ..core.events import Counted, MessageChange, TaskAttention

MESSAGE, ACTIVITY, REMOVAL = "message", "activity", "removal"


class Malformed(Exception):
    """The row does not say what a row of its kind says."""


def read_event(row: TaskAttentionOutbox) -> TaskAttention:
    """Raises `Malformed`."""
    try:
        said = {MESSAGE: _message, ACTIVITY: _activity, REMOVAL: _removal}[row.kind](row.payload)
        recipients = tuple(dict.fromkeys(_id(member) for member in row.human_recipients))
        return TaskAttention(row.workspace_id.int, row.scope_id.int, 0, recipients, **said)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise Malformed(f"{row.kind}: {type(error).__name__}: {error}") from error


def _message(payload: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "message_seq": int(payload["seq"]),
        "facts": _counted(payload, "mentions"),
        "activity_seq": int(payload.get("activity_seq") or 0),
        "actor": _id(payload["author"]),
        "rewind_generation": int(payload.get("rewind_generation") or 0),
    }


def _activity(payload: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "activity_seq": int(payload.get("activity_seq") or payload["seq"]),
        "actor": _id(payload["author"]),
        "activity_counts": payload["type"] in HIGH_SIGNAL,
    }


def _removal(payload: Mapping[str, Any]) -> dict[str, Any]:
    removed = payload.get("changes") or [payload]
    return {
        "changes": tuple(_change(each) for each in removed),
        "changed_for": tuple(_people(each.get("recipients")) for each in removed),
        "rewind_generation": int(payload["rewind_generation"]),
    }


def _change(removed: Mapping[str, Any]) -> MessageChange:
    edited = removed.get("mentions_after") is not None
    after = _counted(removed, "mentions_after") if edited else None
    return MessageChange(int(removed["seq"]), _counted(removed, "mentions"), after)


def _people(members: Any) -> frozenset[int] | None:
    return None if members is None else frozenset(_id(member) for member in members)


def _counted(payload: Mapping[str, Any], mentions: str) -> Counted:
    author = _id(payload["author"])
    return Counted(
        author=author,
        principal=_id(payload["principal"]) if payload.get("principal") else author,
        counts=bool(payload.get("counts", True)),
        mentions=tuple(_id(member) for member in payload.get(mentions) or ()),
    )


def _id(value: Any) -> int:
    return UUID(str(value)).int
