"""Who is online: registered operators and harnesses whose leases stand."""

from __future__ import annotations

from typing import Any

from django.db.models import Q
from django.utils import timezone

from ..models.registry import KINDS, Registered
from .conversations import moment

Entry = tuple[str, Registered]


def online_actors(
    limit: int, *, kind: str | None = None, q: str = "", after: tuple[str, str] | None = None
) -> list[Entry]:
    """At most `limit` of them by kind and key, those after a kind and key. One statement for each kind."""
    found: list[Entry] = []
    for name in sorted(KINDS):
        if len(found) >= limit or (kind is not None and name != kind) or (after is not None and name < after[0]):
            continue
        entries = KINDS[name]._default_manager.filter(expires_at__gt=timezone.now())
        if after is not None and name == after[0]:
            entries = entries.filter(key__gt=after[1])
        if q:
            entries = entries.filter(Q(name__icontains=q) | Q(key__icontains=q))
        found += [(name, entry) for entry in entries.order_by("key")[: limit - len(found)]]
    return found


def render_actor(kind: str, entry: Registered) -> dict[str, Any]:
    return {
        "kind": kind,
        "key": entry.key,
        "name": entry.name,
        "description": entry.description,
        "expires_at": moment(entry.expires_at),
    }
