"""Pages of a conversation's past: messages and activities, oldest first, around a cursor that must exist."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar
from uuid import UUID

from django.db.models import Model, Q, QuerySet

from ..access import NO_MESSAGE, ScopeAccess
from ..errors import InvalidRequest, NotFound
from ..models import Activity, Message
from ..visibility import human_visible
from .seq_windows import rows_after, rows_before

NO_ACTIVITY = "This activity does not exist."

Row = TypeVar("Row", bound=Model)


@dataclass(frozen=True, slots=True)
class Page(Generic[Row]):
    """`items` in ascending order; the flags say whether there is more on either side."""

    items: list[Row]
    has_more_before: bool
    has_more_after: bool


def history(
    access: ScopeAccess,
    *,
    after: UUID | None = None,
    before: UUID | None = None,
    around: UUID | None = None,
    limit: int = 50,
) -> Page[Message]:
    """Messages in id order, which is seq order, without content; the newest page by default.

    Two statements at most, and more only where much was removed (`seq_windows`). Agents also get the messages that are
    hidden from people. `NotFound` where the cursor is no message of this conversation (any more); `InvalidRequest` for
    more than one cursor.
    """
    shown = human_visible() if access.member.is_person else Q()
    rows = Message.objects.defer("content").filter(shown, scope=access.scope)

    def position(message_id: UUID) -> int:
        seq = Message.objects.filter(id=message_id, scope=access.scope).values_list("seq", flat=True).first()
        if seq is None:
            raise NotFound(NO_MESSAGE)
        return seq

    return _page(rows, access.scope.latest_seq, position, after, before, around, limit)


def activities(
    access: ScopeAccess, *, after: UUID | None = None, before: UUID | None = None, limit: int = 50
) -> Page[Activity]:
    """Activities in seq order; the newest page by default. As cheap as `history`."""
    rows = Activity.objects.filter(scope=access.scope)

    def position(activity_id: UUID) -> int:
        seq = Activity.objects.filter(id=activity_id, scope=access.scope).values_list("seq", flat=True).first()
        if seq is None:
            raise NotFound(NO_ACTIVITY)
        return seq

    return _page(rows, access.scope.latest_activity_seq, position, after, before, None, limit)


def _page(
    rows: QuerySet[Row],
    end: int,
    position: Callable[[UUID], int],
    after: UUID | None,
    before: UUID | None,
    around: UUID | None,
    limit: int,
) -> Page[Row]:
    """`end`: the last seq of the scope, as it was when access was granted."""
    given = [cursor for cursor in (after, before, around) if cursor is not None]
    if len(given) > 1:
        raise InvalidRequest("Give at most one of after, before and around.")
    if not given:
        items, more = _older(rows, end + 1, limit)
        return Page(items, more, False)
    at = position(given[0])
    if after is not None:
        items, more = _newer(rows, at, end, limit)
        return Page(items, True, more)
    if before is not None:
        items, more = _older(rows, at, limit)
        return Page(items, more, True)
    older, more_before = _older(rows, at, limit // 2)
    newer, more_after = _newer(rows, at - 1, end, limit - limit // 2)
    return Page(older + newer, more_before, more_after)


def _older(rows: QuerySet[Row], before: int, limit: int) -> tuple[list[Row], bool]:
    found = rows_before(rows, before=before, count=limit + 1)
    return found[:limit][::-1], len(found) > limit


def _newer(rows: QuerySet[Row], after: int, end: int, limit: int) -> tuple[list[Row], bool]:
    found = rows_after(rows, after=after, upto=max(end, after + 1), count=limit + 1)
    return found[:limit], len(found) > limit
