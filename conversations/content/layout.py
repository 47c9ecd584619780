"""What lies in the rows: a body whose blocks are inline or references, and parts that hold complete blocks.

A reference is `{"id": <block id>, "ref": <part id>}`. Everything that does not add up is a `StorageError`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from ..agentue.values import JsonObject
from .refusals import StorageError

_PART_ID = re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")

PartBlocks = dict[str, JsonObject]
"""The blocks of one part by id, in stored order."""


def reference(block_id: str, part_id: str) -> JsonObject:
    return {"id": block_id, "ref": part_id}


def part_of(block: JsonObject) -> str | None:
    """The part that holds a block of a body; None where it is inline."""
    part_id: str | None = block.get("ref")
    return part_id


def part_ids(blocks: Iterable[JsonObject]) -> list[str]:
    """The parts that the given blocks of a body lie in, once each, in the blocks' order."""
    return list(dict.fromkeys(block["ref"] for block in blocks if "ref" in block))


def members(body: JsonObject, part_id: str) -> list[str]:
    """The ids of the blocks that a body expects in one part."""
    return [block["id"] for block in body["blocks"] if block.get("ref") == part_id]


def open_body(message_id: Any, stored: Any) -> JsonObject:
    """A message row's content, checked for the shape that everything here relies on."""
    blocks = stored.get("blocks") if isinstance(stored, dict) else None
    if not isinstance(blocks, list) or not isinstance(stored.get("meta"), dict):
        raise StorageError(f"message {message_id}: its content is no model")
    for block in blocks:
        if not isinstance(block, dict) or not isinstance(block.get("id"), str):
            raise StorageError(f"message {message_id}: a block has no id")
        if "ref" in block and (len(block) != 2 or not _PART_ID.fullmatch(str(block["ref"]))):
            raise StorageError(f"message {message_id}: the reference of block {block['id']!r} is malformed")
    body: JsonObject = stored
    return body


def open_part(message_id: Any, part_id: str, stored: Any) -> PartBlocks:
    blocks = stored.get("blocks") if isinstance(stored, dict) else None
    if not isinstance(blocks, list):
        raise StorageError(f"message {message_id}: part {part_id} holds no blocks")
    found: PartBlocks = {}
    for block in blocks:
        if not isinstance(block, dict) or not isinstance(block.get("id"), str):
            raise StorageError(f"message {message_id}: part {part_id} holds a block without id")
        if "ref" in block:
            raise StorageError(f"message {message_id}: part {part_id} holds a reference, of block {block['id']!r}")
        if block["id"] in found:
            raise StorageError(f"message {message_id}: part {part_id} holds block {block['id']!r} twice")
        found[block["id"]] = block
    return found


def complete_block(message_id: Any, block: JsonObject, parts: Mapping[str, PartBlocks]) -> JsonObject:
    """The complete block. `parts` holds parts of this very message, so a foreign one counts as missing."""
    part_id = part_of(block)
    if part_id is None:
        return block
    if part_id not in parts:
        raise MissingPart(f"message {message_id}: part {part_id} of block {block['id']!r} is missing")
    if block["id"] not in parts[part_id]:
        raise MissingPart(f"message {message_id}: part {part_id} does not hold block {block['id']!r}")
    return parts[part_id][block["id"]]


class MissingPart(StorageError):
    """A reference leads nowhere: damage, or a body and parts that were not read at one moment."""
