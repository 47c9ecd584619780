"""A rendered page of messages that fits into one answer."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from ..access import ScopeAccess
from ..errors import TooLarge
from .messages import render_messages
from .timeline import history


def history_page(
    access: ScopeAccess, *, after: UUID | None, before: UUID | None, around: UUID | None, limit: int
) -> dict[str, Any]:
    """`{items, has_more_before, has_more_after}`. A page of large messages is shorter than `limit`, and says so by its
    flags; `TooLarge` only where a single message exceeds what one answer holds."""
    while True:
        page = history(access, after=after, before=before, around=around, limit=limit)
        try:
            items = render_messages(page.items)
        except TooLarge:
            if len(page.items) < 2:
                raise
            limit = len(page.items) // 2
            continue
        return {"items": items, "has_more_before": page.has_more_before, "has_more_after": page.has_more_after}
