"""Which messages lie on either side of a read cursor: one seek each through `messages_scope_seq_uniq`."""

from __future__ import annotations

from uuid import UUID

from ..models import Message


def last_up_to(scope_id: UUID, seq: int) -> UUID | None:
    """The last message with that seq or a smaller one. One statement."""
    found = Message.objects.filter(scope_id=scope_id, seq__lte=seq).order_by("-seq")
    return found.values_list("id", flat=True).first()


def first_after(scope_id: UUID, seq: int) -> UUID | None:
    """The first message past that seq. One statement."""
    found = Message.objects.filter(scope_id=scope_id, seq__gt=seq).order_by("seq")
    return found.values_list("id", flat=True).first()
