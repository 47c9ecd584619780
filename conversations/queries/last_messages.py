"""The newest visible message of each of many scopes, as a line for lists."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.db.models import OuterRef, Subquery

from ..content.previews import read_previews
from ..models import Message, Scope
from ..visibility import human_visible
from .members import render_members


def last_messages(scope_ids: Sequence[UUID]) -> dict[UUID, dict[str, Any]]:
    """`{id, author, preview, created_at}` by scope. Three statements for any number of scopes, four where
    a text is large.

    Each scope costs one seek at the end of `messages_scope_seq_uniq`; nothing is counted. One content at a time is
    parsed.
    """
    newest = Message.objects.filter(human_visible(), scope=OuterRef("pk")).order_by("-seq").values("id")[:1]
    found = Scope.objects.filter(id__in=scope_ids, latest_seq__gt=0).values_list("id", Subquery(newest))
    ids = [message_id for _, message_id in found if message_id is not None]
    if not ids:
        return {}
    messages = Message.objects.defer("content").select_related("author", "author__user").filter(id__in=ids)
    previews = read_previews(ids)
    return {message.scope_id: _line(message, previews.get(message.id, "")) for message in messages}


def _line(message: Message, preview: str) -> dict[str, Any]:
    return {
        "id": str(message.id),
        "author": render_members([message.author])[0],
        "preview": preview,
        "created_at": message.created_at.isoformat().replace("+00:00", "Z"),
    }
