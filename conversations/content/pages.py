"""A message's blocks a page at a time: by revision and logical position, whatever their physical places."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..agentue.values import JsonObject
from ..errors import Conflict, InvalidRequest, TooLarge
from ..models import Message
from .codec import size_bytes
from .layout import part_ids, part_of
from .limits import Limits, current_limits
from .reading import read_body, read_with_parts, settled
from .snapshot import Snapshot, parts_bytes, resolve_block

MAX_PAGE_BLOCKS = 200
_CURSOR = re.compile(r"([0-9]{1,19})\.([0-9]{1,9})", re.ASCII)


@dataclass(frozen=True, slots=True)
class BlockCursor:
    """Where a page begins, and the revision that all pages of one reading must have."""

    revision: int
    position: int

    def __str__(self) -> str:
        return f"{self.revision}.{self.position}"

    @classmethod
    def parse(cls, text: str) -> BlockCursor:
        match = _CURSOR.fullmatch(text)
        if match is None:
            raise InvalidRequest("This cursor is not one that a page of blocks returned.", cursor=text[:64])
        return cls(int(match[1]), int(match[2]))


@dataclass(frozen=True, slots=True)
class BlockPage:
    blocks: list[JsonObject]
    revision: int
    next: BlockCursor | None


def block_page(message: Message, cursor: BlockCursor | None = None, limit: int = 50) -> BlockPage:
    """At most `limit` blocks, fewer where they would be over the response limit. Three statements at most.

    `Conflict` where the message has another revision than the cursor: begin again without one.
    """
    if not 1 <= limit <= MAX_PAGE_BLOCKS:
        raise InvalidRequest(f"limit must be from 1 to {MAX_PAGE_BLOCKS}.", limit=limit)
    limits = current_limits()
    position = 0 if cursor is None else cursor.position

    def read() -> BlockPage:
        snapshot = read_body(message.pk)
        _require_revision(snapshot, cursor)
        chosen = _affordable(message, snapshot.body["blocks"][position : position + limit], limits)
        if parts := part_ids(chosen):
            snapshot = read_with_parts(message.pk, parts, limits)
            _require_revision(snapshot, cursor)
        return _page(snapshot, position, len(chosen), limits)

    return settled(read)


def _page(snapshot: Snapshot, position: int, count: int, limits: Limits) -> BlockPage:
    blocks: list[JsonObject] = []
    total_bytes = 0
    for stored in snapshot.body["blocks"][position : position + count]:
        block = resolve_block(snapshot, stored)
        total_bytes += size_bytes(block)
        if total_bytes > limits.response_bytes:
            if not blocks:
                raise TooLarge(
                    f"Block {block['id']!r} has {total_bytes} bytes; one answer holds at most {limits.response_bytes}.",
                    limit_bytes=limits.response_bytes,
                )
            break
        blocks.append(block)
    end = position + len(blocks)
    more = end < len(snapshot.body["blocks"])
    return BlockPage(blocks, snapshot.revision, BlockCursor(snapshot.revision, end) if more else None)


def _affordable(message: Message, chosen: list[JsonObject], limits: Limits) -> list[JsonObject]:
    """As many of the chosen blocks as lie in parts that one read may load; at least one."""
    parts = part_ids(chosen)
    if len(parts) <= 1:
        return chosen
    sizes = parts_bytes([message.pk], parts)
    total_bytes = 0
    loaded: set[str] = set()
    for at, block in enumerate(chosen):
        part_id = part_of(block)
        if part_id is None or part_id in loaded:
            continue
        loaded.add(part_id)
        total_bytes += sizes.get(part_id, 0)
        if at and total_bytes > limits.response_bytes:
            return chosen[:at]
    return chosen


def _require_revision(snapshot: Snapshot, cursor: BlockCursor | None) -> None:
    if cursor is not None and snapshot.revision != cursor.revision:
        raise Conflict(
            "The message has changed since this cursor was made; read its blocks from the beginning.",
            revision=snapshot.revision,
        )
