"""Activities as the API shows them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..models import Activity
from .json_values import moment


def render_activities(activities: Iterable[Activity]) -> list[dict[str, Any]]:
    """No statement."""
    return [
        {
            "id": str(activity.id),
            "conversation_id": str(activity.scope_id),
            "seq": activity.seq,
            "type": activity.type,
            "ref_type": activity.ref_type,
            "ref": activity.ref,
            "actor_id": str(activity.actor_id),
            "payload": activity.payload,
            "created_at": moment(activity.created_at),
        }
        for activity in activities
    ]
