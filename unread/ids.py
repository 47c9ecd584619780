"""Ids between the tables and the runtime."""

from __future__ import annotations

from typing import Any


def key(value: int) -> str:
    """An id as every engine compares it: 32 hexadecimal digits."""
    return f"{value:032x}"


def id_of(value: Any) -> int:
    """An id column's value as the runtime's integer; 0 for NULL."""
    return int(str(value).replace("-", ""), 16) if value is not None else 0
