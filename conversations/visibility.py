"""Human-visible: which messages people see. One predicate in Python, and the same one for the database.

Hidden messages take a seq like any other, never count as unread and never touch the visible summary.
"""

from __future__ import annotations

from django.db.models import Q

from .models.message import HIDDEN_TYPES, MessageType

VISIBLE_TYPES = tuple(kind for kind in MessageType if kind not in HIDDEN_TYPES)


def is_human_visible(message_type: str) -> bool:
    return message_type in VISIBLE_TYPES


def human_visible() -> Q:
    """For querysets of messages. Names the visible types, so that `messages_visible_idx` can serve it."""
    return Q(message_type__in=VISIBLE_TYPES)
