"""`reduce(model, event)`: the model after the event, as a new object; neither argument is ever changed.

The result shares what did not change with its arguments. The sequence of events (who may send which `seq` next, and
what a repeated one means) is the caller's: the reducer applies what it is given.
"""

from __future__ import annotations

from typing import Any

from .errors import BlockedPath, IncompleteBlock, MissingBlock, NotAppendable, UnresolvedReference
from .events import Event, Mask, Op, value_at
from .model import (
    check_block_count,
    check_error_object,
    check_reference_version,
    is_reference,
    parse_block,
)
from .values import JsonObject, json_type, require_name


def reduce(model: JsonObject, event: Event) -> JsonObject:
    """Applies a parsed event to a parsed model. Raises an `AgentUEError` where the two do not fit."""
    if event.op is Op.START:
        return event.model
    if event.op in (Op.PING, Op.END):
        return model
    if event.mask is not None and event.mask.root == "meta":
        return _patch_meta(model, event, event.mask)
    if event.mask is None:
        return _put_block(model, event.block)
    if event.op is Op.APPEND:
        return _append(model, event.block, event.mask.keys[0])
    return _patch_block(model, event.block, event.mask)


def _patch_meta(model: JsonObject, event: Event, mask: Mask) -> JsonObject:
    value = value_at(event.meta, mask.keys, "event.meta")
    meta = _assign(model["meta"], mask.keys, value, "model.meta")
    check_error_object(meta, "model.meta")
    return {**model, "meta": meta}


def _put_block(model: JsonObject, block: JsonObject) -> JsonObject:
    if is_reference(block):
        check_reference_version(model["version"], "event.block")
    return _with_block(model, _position(model, block["id"]), block)


def _patch_block(model: JsonObject, payload: JsonObject, mask: Mask) -> JsonObject:
    at = _position(model, payload["id"])
    if at is None:
        raise MissingBlock("event.block.id", f"{payload['id']!r} is no block of this model")
    value = value_at(payload, mask.keys, "event.block")
    block = _assign(_resolved(model, at), mask.keys, value, f"model.blocks[{at}]")
    require_name(block["type"], f"model.blocks[{at}].type")
    return _with_block(model, at, block)


def _append(model: JsonObject, payload: JsonObject, field: str) -> JsonObject:
    at = _position(model, payload["id"])
    if at is None:
        if "type" not in payload:
            raise IncompleteBlock(
                "event.block", f"{payload['id']!r} is no block of this model, and without a type it cannot become one"
            )
        return _with_block(model, None, parse_block(payload, "event.block"))
    old, more = _resolved(model, at), payload[field]
    before = old.get(field)
    joined: Any
    if before is None:
        joined = more
    elif isinstance(before, str) and isinstance(more, str):
        joined = before + more
    elif isinstance(before, list) and isinstance(more, list):
        joined = [*before, *more]
    else:
        raise NotAppendable(f"event.block.{field}", f"{json_type(more)} cannot extend {json_type(before)}")
    block = {**old, field: joined}
    require_name(block["type"], f"model.blocks[{at}].type")
    return _with_block(model, at, block)


def _position(model: JsonObject, block_id: str) -> int | None:
    return next((at for at, block in enumerate(model["blocks"]) if block["id"] == block_id), None)


def _resolved(model: JsonObject, at: int) -> JsonObject:
    block: JsonObject = model["blocks"][at]
    if is_reference(block):
        raise UnresolvedReference(f"model.blocks[{at}]", f"the body of {block['id']!r} is not here to be changed")
    return block


def _with_block(model: JsonObject, at: int | None, block: JsonObject) -> JsonObject:
    blocks = list(model["blocks"])
    if at is None:
        blocks.append(block)
        check_block_count(len(blocks), "model.blocks")
    else:
        blocks[at] = block
    return {**model, "blocks": blocks}


def _assign(root: JsonObject, keys: tuple[str, ...], value: Any, path: str) -> JsonObject:
    """A copy of `root` with `value` at `keys`; missing and null objects on the way are created."""
    result = dict(root)
    holder = result
    for key in keys[:-1]:
        path = f"{path}.{key[:40]}"
        child = holder.get(key)
        if child is not None and not isinstance(child, dict):
            raise BlockedPath(path, f"is {json_type(child)}, so nothing can be set below it")
        holder[key] = dict(child or {})
        holder = holder[key]
    holder[keys[-1]] = value
    return result
