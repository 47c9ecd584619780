"""How far each actor has consumed a user conversation."""

from __future__ import annotations

from typing import Any

from ..models import ConversationConsumer, Scope
from .json_values import id_text

SHOWN = 200


def consumers_of(scope: Scope) -> list[dict[str, Any]]:
    """At most `SHOWN`, by actor. One statement."""
    rows = ConversationConsumer.objects.filter(scope=scope).order_by("actor_kind", "actor_key")[:SHOWN]
    return [
        {
            "actor": {"kind": row.actor_kind, "key": row.actor_key},
            "process_conversation_id": id_text(row.process_scope_id),
            "end_offset": id_text(row.end_offset),
            "position": id_text(row.position),
            "committed": id_text(row.committed),
        }
        for row in rows
    ]
