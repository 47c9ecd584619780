"""Values as JSON carries them, the same over HTTP and over sockets."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID


def moment(at: datetime | None) -> str | None:
    """RFC 3339 in UTC, with microseconds."""
    return None if at is None else at.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def id_text(value: UUID | None) -> str | None:
    return None if value is None else str(value)
