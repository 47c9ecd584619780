"""The storage's sizes, from the settings. Bytes are those of the stored JSON."""

from __future__ import annotations

from dataclasses import dataclass

from django.conf import settings


@dataclass(frozen=True, slots=True)
class Limits:
    inline_blocks: int = 32
    """Blocks that stay in the message's row."""
    inline_bytes: int = 65_536
    """Sum of the sizes of those blocks."""
    part_bytes: int = 262_144
    """What one part is packed up to; a single larger block gets a part of its own."""
    row_bytes: int = 6 * 1024 * 1024 - 65_536
    """The largest content of one row: TiDB refuses rows over 6 MiB, of which the other columns get 64 KiB."""
    meta_bytes: int = 262_144
    """A model without its blocks: it lies in the row that every event reads and writes."""
    content_bytes: int = 32 * 1024 * 1024
    """One message, all its rows together."""
    response_bytes: int = 8 * 1024 * 1024
    """What one read may return; above the row limit, so that every block can be read on its own."""


def current_limits() -> Limits:
    return Limits(
        inline_blocks=settings.MESSAGE_INLINE_BLOCKS,
        inline_bytes=min(settings.MESSAGE_INLINE_BYTES, settings.MESSAGE_ROW_BYTES // 2),
        part_bytes=min(settings.MESSAGE_PART_BYTES, settings.MESSAGE_ROW_BYTES),
        row_bytes=settings.MESSAGE_ROW_BYTES,
        meta_bytes=settings.MESSAGE_META_BYTES,
        content_bytes=settings.MESSAGE_CONTENT_BYTES,
        response_bytes=settings.MESSAGE_RESPONSE_BYTES,
    )
