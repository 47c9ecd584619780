"""Pages of `{items, next}`: ordered by a UUIDv7, the cursor is the last id of the page before."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any
from uuid import UUID

from rest_framework.request import Request

from conversations.errors import InvalidRequest

DEFAULT_LIMIT, MAX_LIMIT = 50, 200


def limit_of(request: Request, default: int = DEFAULT_LIMIT, at_most: int = MAX_LIMIT) -> int:
    raw = request.query_params.get("limit")
    if raw is None:
        return default
    if not (raw.isascii() and raw.isdigit()) or not 1 <= int(raw[:9]) <= at_most:
        raise InvalidRequest(f"limit must be a whole number from 1 to {at_most}.", limit=raw[:40])
    return int(raw)


def uuid_of(request: Request, name: str) -> UUID | None:
    """A query parameter that is a UUID; None where it is absent or empty."""
    raw = request.query_params.get(name)
    if not raw:
        return None
    try:
        return UUID(raw)
    except ValueError:
        raise InvalidRequest(f"{name} must be a UUID.", **{name: raw[:80]}) from None


def uuids_of(request: Request, name: str, at_most: int) -> list[UUID] | None:
    """A comma separated list of UUIDs in a query parameter; None where it is absent."""
    raw = request.query_params.get(name)
    if raw is None:
        return None
    parts = [part for part in raw.split(",", at_most + 1) if part]
    if len(parts) > at_most:
        raise InvalidRequest(f"{name} may list at most {at_most} ids.")
    try:
        return [UUID(part) for part in parts]
    except ValueError:
        raise InvalidRequest(f"{name} must be a comma separated list of UUIDs.") from None


def flag_of(request: Request, name: str) -> bool | None:
    raw = request.query_params.get(name)
    if raw is None or raw == "":
        return None
    if raw not in ("true", "false"):
        raise InvalidRequest(f"{name} must be true or false.", **{name: raw[:40]})
    return raw == "true"


def text_of(request: Request, name: str, at_most: int) -> str:
    """A trimmed text in a query parameter; empty where it is absent."""
    raw = request.query_params.get(name, "").strip()
    if len(raw) > at_most or "\x00" in raw:
        raise InvalidRequest(f"{name} may have at most {at_most} characters.", **{name: raw[:40]})
    return raw


def choice_of(request: Request, name: str, choices: Iterable[str]) -> str | None:
    """One of the choices in a query parameter; None where it is absent or empty."""
    raw = request.query_params.get(name)
    if not raw:
        return None
    if raw not in (known := list(choices)):
        raise InvalidRequest(f"{name} must be one of {', '.join(known)}.", **{name: raw[:40]})
    return raw


def page(
    queryset: Any, request: Request, render: Callable[[list[Any]], list[Any]], newest_first: bool = False
) -> dict[str, Any]:
    """One page of a queryset by primary key, ascending (or newest first): one statement."""
    limit, cursor = limit_of(request), uuid_of(request, "cursor")
    ordered = queryset.order_by("-pk" if newest_first else "pk")
    if cursor is not None:
        ordered = ordered.filter(**{"pk__lt" if newest_first else "pk__gt": cursor})
    rows = list(ordered[: limit + 1])
    more = len(rows) > limit
    rows = rows[:limit]
    return {"items": render(rows), "next": str(rows[-1].pk) if more else None}
