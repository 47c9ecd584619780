"""What is shown, as JSON values; one shape for answers over HTTP and frames over sockets."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from .core.states import MemberUnread, Shown


def shown_json(shown: Shown) -> dict[str, Any]:
    return {
        "state": shown.state.label,
        "messages": shown.messages,
        "activities": shown.activities,
        "manual": shown.manual,
        "mentions": shown.mentions,
    }


def counts_json(counts: dict[int, Shown]) -> dict[str, Any]:
    return {str(UUID(int=scope)): shown_json(shown) for scope, shown in counts.items()}


def member_json(unread: MemberUnread) -> dict[str, Any]:
    return {
        "state": unread.state,
        "has_unread": unread.has_unread,
        "epoch": unread.epoch,
        "version": unread.version,
        "counts": counts_json(unread.counts),
    }


def unavailable_json() -> dict[str, Any]:
    """The answer of a process that does not own the workspace."""
    return {"state": "unavailable", "has_unread": False, "epoch": 0, "version": 0, "counts": {}}
