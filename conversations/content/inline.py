"""Content kept whole in its message's row."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from uuid import UUID

from ..agentue.values import JsonObject
from ..models import Message


def create_content(message: Message, model: JsonObject) -> None:
    """Give a message its first content and insert its row."""
    message.content = model
    message.save(force_insert=True)


def replace_content(message: Message, model: JsonObject) -> None:
    """Set the new content of a locked message; the caller saves the row."""
    message.content = model


def read_contents(message_ids: Sequence[UUID]) -> dict[UUID, JsonObject]:
    """Whole models; one statement."""
    return dict(Message.objects.filter(id__in=message_ids).values_list("id", "content"))


def delete_contents(message_ids: Iterable[UUID]) -> None:
    """Drop what lies outside the messages' rows."""
