"""A rendered page of messages that fits into one answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

from ..access import ScopeAccess
from ..errors import TooLarge
from ..models import Message
from .messages import render_messages
from .timeline import history


def history_page(
    access: ScopeAccess,
    *,
    after: UUID | None,
    before: UUID | None,
    around: UUID | None,
    limit: int,
    settle: Callable[[Sequence[Message]], None] = lambda messages: None,
) -> dict[str, Any]:
    """`{items, has_more_before, has_more_after}`. A page of large messages is shorter than `limit`, and says so by its
    flags; `TooLarge` only where a single message exceeds what one answer holds. `settle` sees them first."""
    while True:
        page = history(access, after=after, before=before, around=around, limit=limit)
        settle(page.items)
        try:
            items = render_messages(page.items)
        except TooLarge:
            if len(page.items) < 2:
                raise
            limit = len(page.items) // 2
            continue
        return {"items": items, "has_more_before": page.has_more_before, "has_more_after": page.has_more_after}
