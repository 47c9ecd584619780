"""What live feeds ask of the database: in batches, never for each token, and content only for what must begin anew."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings

from ..content.reading import stored_part_bytes
from ..errors import TooLarge
from ..models import Message, Scope
from ..models.message import MessageStatus, Purpose
from ..models.scope import ScopeType
from ..visibility import is_human_visible
from .messages import Rendered, messages_by_id, render_messages

MAX_INNER_SCOPES = 1000
"""Process conversations of one conversation that a feed covers; the newest."""
MAX_OPEN = 500
"""Open messages of one conversation that a feed begins with; the newest."""
LATE_EXPIRY = timedelta(minutes=10)
"""An expiry leaves no time of its own in the row; it comes at most so long after the TTL where a server runs."""
_CHUNK = 500


@dataclass(frozen=True, slots=True)
class State:
    """A message without what it says."""

    scope_id: UUID
    revision: int
    status: str
    visible: bool
    purpose: str
    updated_at: datetime

    @property
    def open(self) -> bool:
        return self.status == MessageStatus.STREAMING

    def changed_since(self, when: datetime) -> bool:
        """Whether its content or status may have; an expiry leaves no time of its own, nor need a card's end."""
        return self.updated_at >= when or self.status == MessageStatus.EXPIRED or self.purpose != Purpose.OUTPUT


def inner_scopes(scope_ids: Iterable[UUID]) -> dict[UUID, UUID]:
    """The process conversations among `scope_ids`, with the conversation around each. One statement."""
    found = Scope.objects.filter(id__in=list(scope_ids), type=ScopeType.CONVERSATION, parent_scope__isnull=False)
    return dict(found.values_list("id", "parent_scope_id"))


def scopes_inside(conversation_id: UUID) -> list[UUID]:
    """Its process conversations. One statement."""
    inner = Scope.objects.filter(parent_scope_id=conversation_id, type=ScopeType.CONVERSATION)
    return list(inner.order_by("-id").values_list("id", flat=True)[:MAX_INNER_SCOPES])


def open_messages(scope_ids: Collection[UUID]) -> list[UUID]:
    """Those that are being written, oldest first. One statement."""
    rows = Message.objects.filter(status=MessageStatus.STREAMING, scope_id__in=scope_ids)
    return sorted(rows.order_by("-id").values_list("id", flat=True)[:MAX_OPEN])


def changed_messages(scope_ids: Collection[UUID], since: datetime, limit: int) -> list[UUID]:
    """At most `limit` messages that changed since then and are complete now, oldest first. Two statements."""
    rows = Message.objects.filter(scope_id__in=scope_ids).exclude(status=MessageStatus.STREAMING).order_by()
    found = set(rows.filter(updated_at__gte=since).values_list("id", flat=True)[:limit])
    # An expiry keeps the time of the last output.
    ran_out_at = since - timedelta(seconds=settings.LOOPD_MESSAGE_TTL_S) - LATE_EXPIRY
    expired = Message.objects.filter(scope_id__in=scope_ids, status=MessageStatus.EXPIRED).order_by()
    found.update(expired.filter(updated_at__gte=ran_out_at, updated_at__lt=since).values_list("id", flat=True)[:limit])
    return sorted(found)[:limit]


def states(message_ids: Collection[UUID]) -> dict[UUID, State]:
    """Those that exist. One statement for 500."""
    ids = list(message_ids)
    found: dict[UUID, State] = {}
    for at in range(0, len(ids), _CHUNK):
        rows = Message.objects.filter(id__in=ids[at : at + _CHUNK])
        columns = rows.values_list("id", "scope_id", "revision", "status", "message_type", "purpose", "updated_at")
        for message_id, scope_id, revision, status, kind, purpose, updated_at in columns:
            found[message_id] = State(scope_id, revision, status, is_human_visible(kind), purpose, updated_at)
    return found


def is_open(rendered: Rendered) -> bool:
    return bool(rendered["status"] == MessageStatus.STREAMING)


def is_shown(rendered: Rendered) -> bool:
    """Whether people see it."""
    return is_human_visible(rendered["message_type"])


def snapshots(message_ids: Collection[UUID], max_bytes: int) -> list[Rendered]:
    """Those that still exist, as the API shows them; without content where that is far over `max_bytes`.

    Nine statements, more only where all of them together are over what one answer holds.
    """
    messages = messages_by_id(message_ids)
    sizes = stored_part_bytes([message.id for message in messages])
    small = [message for message in messages if sizes.get(message.id, 0) <= max_bytes]
    large = [message for message in messages if sizes.get(message.id, 0) > max_bytes]
    return [*_whole(small), *render_messages(large, content=False)]


def _whole(messages: Sequence[Message]) -> list[dict[str, Any]]:
    try:
        return render_messages(messages)
    except TooLarge:
        if len(messages) == 1:
            return render_messages(messages, content=False)
        middle = len(messages) // 2
        return [*_whole(messages[:middle]), *_whole(messages[middle:])]
