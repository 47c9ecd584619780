"""Who is mentioned in messages."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from uuid import UUID

from ..models import MessageMention


def mentions_of(message_ids: Iterable[UUID]) -> dict[UUID, tuple[UUID, ...]]:
    """Mentioned members of each message, in order of their ids; one statement. Messages without any are absent."""
    found: dict[UUID, list[UUID]] = defaultdict(list)
    rows = MessageMention.objects.filter(message_id__in=list(message_ids)).values_list("message_id", "member_id")
    for message_id, member_id in rows:
        found[message_id].append(member_id)
    return {message_id: tuple(sorted(members)) for message_id, members in found.items()}
