"""Where blocks lie: pure planning from an old layout and new logical content to the rows that change.

Blocks stay inline, in order, until the budget of blocks or bytes is reached; all later ones go to parts. What is out
stays out. A new block joins the last part before it where it fits there; a part never grows past its target by a
second block, so only a single block makes a larger part.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from ..agentue.values import JsonObject
from .codec import encoded, size_bytes
from .layout import PartBlocks, members, part_ids, part_of, reference
from .limits import Limits

_EMPTY_PART_BYTES = len(b'{"blocks":[]}')


@dataclass(frozen=True, slots=True)
class Plan:
    """`blocks` is what the message's row holds from now on; the rest are the parts to write, each as a whole."""

    blocks: list[JsonObject]
    inserts: dict[str, list[JsonObject]] = field(default_factory=dict)
    updates: dict[str, list[JsonObject]] = field(default_factory=dict)
    deletes: tuple[str, ...] = ()


def part_size_bytes(blocks: list[JsonObject]) -> int:
    """The size of a part's stored content."""
    return _EMPTY_PART_BYTES + sum(size_bytes(block) for block in blocks) + max(0, len(blocks) - 1)


def inline_size_bytes(blocks: list[JsonObject]) -> int:
    return sum(size_bytes(block) for block in blocks if part_of(block) is None)


class _Bin:
    """A part being packed."""

    __slots__ = ("blocks", "id", "size")

    def __init__(self, part_id: str) -> None:
        self.id = part_id
        self.blocks: list[JsonObject] = []
        self.size = _EMPTY_PART_BYTES

    def takes(self, size: int, target: int) -> bool:
        return not self.blocks or self.size + 1 + size <= target

    def add(self, block: JsonObject, size: int) -> None:
        self.size += size + (1 if self.blocks else 0)
        self.blocks.append(block)


def plan_content(
    old: list[JsonObject],
    old_parts: Mapping[str, PartBlocks],
    new: list[JsonObject],
    limits: Limits,
    new_part_id: Callable[[], str],
) -> Plan:
    """The layout for whole new content in place of `old`, the blocks of the old body ([] for a new message).

    `old_parts` must hold every old part that still has one of the new blocks' ids; the others are dropped. A block
    whose part is damaged counts as new, so that replacing the content mends the message.
    """
    places = _known_places(old, old_parts)
    bins: dict[str, _Bin] = {}
    assigned: dict[str, _Bin] = {}
    sizes = {block["id"]: size_bytes(block) for block in new}
    for block in _in_stored_order(new, places, old_parts):
        part_id = places[block["id"]] or ""
        kept = bins.setdefault(part_id, _Bin(part_id))
        if kept.takes(sizes[block["id"]], limits.part_bytes):
            kept.add(block, sizes[block["id"]])
            assigned[block["id"]] = kept

    body: list[JsonObject] = []
    created: list[_Bin] = []
    tail: _Bin | None = None
    inline_count = inline_bytes = 0
    for block in new:
        block_id, size = block["id"], sizes[block["id"]]
        if block_id in assigned:
            tail = assigned[block_id]
            body.append(reference(block_id, tail.id))
            continue
        may_stay = (block_id in places and places[block_id] is None) or (block_id not in places and tail is None)
        if may_stay and inline_count < limits.inline_blocks and inline_bytes + size <= limits.inline_bytes:
            inline_count, inline_bytes = inline_count + 1, inline_bytes + size
            body.append(block)
            continue
        if tail is None or not tail.takes(size, limits.part_bytes):
            tail = _Bin(new_part_id())
            created.append(tail)
        tail.add(block, size)
        body.append(reference(block_id, tail.id))
    return Plan(
        blocks=body,
        inserts={each.id: each.blocks for each in created},
        updates={each.id: each.blocks for each in bins.values() if _changed(each.blocks, old_parts[each.id])},
        deletes=tuple(part_id for part_id in part_ids(old) if part_id not in bins),
    )


@dataclass(frozen=True, slots=True)
class Destination:
    """Where one changed block goes. `part_id` None with `inline` False: a part of its own."""

    inline: bool
    part_id: str | None = None


def destination(
    body: JsonObject, block: JsonObject, part_bytes: int, old_block: JsonObject | None, limits: Limits
) -> Destination:
    """Decides for one new or changed block by sizes alone, before anything but its own part is loaded.

    `part_bytes` is the stored size of the block's own part or, where it has none, of the last part of the body;
    `old_block` is the block as it was, None for a new one or where it is alone in its part.
    """
    blocks: list[JsonObject] = body["blocks"]
    size = size_bytes(block)
    present = next((each for each in blocks if each["id"] == block["id"]), None)
    if present is not None and (part_id := part_of(present)) is not None:
        if len(members(body, part_id)) == 1 or old_block is None:
            return Destination(inline=False, part_id=part_id)
        stays = part_bytes - size_bytes(old_block) + size <= limits.part_bytes
        return Destination(inline=False, part_id=part_id if stays else None)
    last = last_part(body)
    inline_bytes = inline_size_bytes(blocks) + size
    if present is not None:
        if inline_bytes - size_bytes(present) <= limits.inline_bytes:
            return Destination(inline=True)
    elif last is None and len(blocks) < limits.inline_blocks and inline_bytes <= limits.inline_bytes:
        return Destination(inline=True)
    fits = last is not None and part_bytes + 1 + size <= limits.part_bytes
    return Destination(inline=False, part_id=last if fits else None)


def last_part(body: JsonObject) -> str | None:
    """The part that new blocks join: that of the last block that is out."""
    return next((part_of(block) for block in reversed(body["blocks"]) if part_of(block) is not None), None)


def plan_block(
    body: JsonObject,
    block: JsonObject,
    to: Destination,
    parts: Mapping[str, PartBlocks],
    new_part_id: Callable[[], str],
) -> Plan:
    """The layout once `block`, new or changed, has gone where `destination` says.

    `parts` holds the part it goes to and the part it comes from, unless it is alone there.
    """
    blocks = list(body["blocks"])
    at = next((at for at, each in enumerate(blocks) if each["id"] == block["id"]), len(blocks))
    source = part_of(blocks[at]) if at < len(blocks) else None
    inserts: dict[str, list[JsonObject]] = {}
    updates: dict[str, list[JsonObject]] = {}
    if to.inline:
        blocks[at : at + 1] = [block]
    elif to.part_id is not None:
        blocks[at : at + 1] = [reference(block["id"], to.part_id)]
        updates[to.part_id] = list({**parts.get(to.part_id, {}), block["id"]: block}.values())
    else:
        own = new_part_id()
        blocks[at : at + 1] = [reference(block["id"], own)]
        inserts[own] = [block]
        if source is not None:
            updates[source] = [each for block_id, each in parts[source].items() if block_id != block["id"]]
    return Plan(blocks=blocks, inserts=inserts, updates=updates)


def _known_places(old: list[JsonObject], old_parts: Mapping[str, PartBlocks]) -> dict[str, str | None]:
    places = {block["id"]: part_of(block) for block in old}
    return {
        block_id: part_id
        for block_id, part_id in places.items()
        if part_id is None or block_id in old_parts.get(part_id, {})
    }


def _in_stored_order(
    new: list[JsonObject], places: Mapping[str, str | None], old_parts: Mapping[str, PartBlocks]
) -> list[JsonObject]:
    """The new blocks that are out already, part by part as they are stored: moving blocks about rewrites no part."""
    out = {block["id"]: block for block in new if places.get(block["id"]) is not None}
    order = {block_id: at for part in old_parts.values() for at, block_id in enumerate(part)}
    return sorted(out.values(), key=lambda block: order[block["id"]])


def _changed(blocks: list[JsonObject], before: PartBlocks) -> bool:
    """By bytes: `1`, `1.0` and `true` are equal in Python."""
    return encoded(blocks) != encoded(list(before.values()))
