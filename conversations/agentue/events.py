"""The event envelope: `{op, seq, stream_id?, ts?, event_type?}` and, by op, `mask`, `model`, `meta` and `block`."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from .errors import (
    BadErrorObject,
    BadMask,
    BadNumber,
    BadSequence,
    BlockedPath,
    IncompleteBlock,
    MalformedReference,
    MissingMember,
    MissingValue,
    NotAppendable,
    ProtectedField,
    UnknownMember,
    UnknownOp,
)
from .limits import MAX_BLOCK_ID_CHARS, MAX_MASK_CHARS, SEQ_MAX
from .model import BLOCK_LEVEL, META_LEVEL, check_error_object, parse_block, parse_meta, parse_model
from .values import JsonObject, check_value, json_type, require_name, require_object

PROTECTED_FIELDS = ("id", "ref")


class Op(StrEnum):
    START = "start"
    SET = "set"
    APPEND = "append"
    ERROR = "error"
    PING = "ping"
    END = "end"


_ENVELOPE = frozenset({"op", "seq", "stream_id", "ts", "event_type"})
_PAYLOAD = frozenset({"mask", "model", "meta", "block"})
_PAYLOAD_OF = {
    Op.START: frozenset({"model"}),
    Op.SET: frozenset({"mask", "meta", "block"}),
    Op.APPEND: frozenset({"mask", "block"}),
    Op.ERROR: frozenset({"mask", "meta"}),
    Op.PING: frozenset(),
    Op.END: frozenset(),
}


@dataclass(frozen=True, slots=True)
class Mask:
    """Where a patch goes: `root` is `meta` or `block`, `keys` the path below it."""

    root: str
    keys: tuple[str, ...]

    def __str__(self) -> str:
        return ".".join((self.root, *self.keys))


@dataclass(frozen=True, slots=True)
class Event:
    """A valid event; members that its op does not have are empty. Nothing in it may be changed in place.

    `raw` is the envelope as it came, for publishing.
    """

    op: Op
    seq: int
    mask: Mask | None
    model: JsonObject
    meta: JsonObject
    block: JsonObject
    raw: JsonObject

    @property
    def block_id(self) -> str | None:
        """The one block that this event touches."""
        return self.block.get("id")


def parse_event(raw: Any) -> Event:
    """Validates an envelope and its payload on their own, without a model. Raises an `AgentUEError`."""
    envelope = require_object(raw, "event")
    op = _parse_op(envelope)
    for name in envelope:
        if name not in _ENVELOPE and name not in _PAYLOAD:
            raise UnknownMember("event", f"has a member {str(name)[:40]!r} that envelopes do not have")
        if name in _PAYLOAD and name not in _PAYLOAD_OF[op]:
            raise UnknownMember(f"event.{name}", f"does not belong to op {op.value}")
    seq = _parse_seq(envelope)
    mask = _parse_mask(envelope["mask"]) if "mask" in envelope else None
    _check_stamps(envelope)
    _PAYLOAD_CHECKS[op](envelope, mask)
    payload = {name: envelope.get(name, {}) for name in ("model", "meta", "block")}
    return Event(op=op, seq=seq, mask=mask, raw=envelope, **payload)


def value_at(root: JsonObject, keys: tuple[str, ...], path: str) -> Any:
    """The value that a payload holds at the masked path."""
    value: Any = root
    for key in keys:
        if not isinstance(value, dict):
            raise BlockedPath(path, f"must be an object, not {json_type(value)}")
        if key not in value:
            raise MissingValue(path, f"{key[:40]} is missing, though the mask names it")
        value, path = value[key], f"{path}.{key[:40]}"
    return value


def _parse_op(envelope: JsonObject) -> Op:
    if "op" not in envelope:
        raise MissingMember("event", "op is missing")
    try:
        return Op(envelope["op"])
    except ValueError:
        raise UnknownOp("event.op", f"must be one of {', '.join(Op)}") from None


def _parse_seq(envelope: JsonObject) -> int:
    if "seq" not in envelope:
        raise MissingMember("event", "seq is missing")
    seq = envelope["seq"]
    if type(seq) is not int or not 0 <= seq <= SEQ_MAX:
        raise BadSequence("event.seq", f"must be a whole number from 0 to {SEQ_MAX}")
    return seq


def _parse_mask(raw: Any) -> Mask:
    if not isinstance(raw, str):
        raise BadMask("event.mask", f"must be a string, not {json_type(raw)}")
    check_value(raw, "event.mask", 0)
    if len(raw) > MAX_MASK_CHARS:
        raise BadMask("event.mask", f"has {len(raw)} characters; at most {MAX_MASK_CHARS} are allowed")
    root, *keys = raw.split(".")
    if root not in ("meta", "block") or not keys or not all(keys):
        raise BadMask("event.mask", "must be meta.<path> or block.<path>, the names of the path joined by dots")
    return Mask(root, tuple(keys))


def _check_stamps(envelope: JsonObject) -> None:
    for name in ("stream_id", "event_type"):
        if name in envelope:
            require_name(envelope[name], f"event.{name}")
    if "ts" in envelope:
        ts = envelope["ts"]
        if isinstance(ts, bool) or not isinstance(ts, (int, float)):
            raise BadNumber("event.ts", f"must be a number (milliseconds since 1970), not {json_type(ts)}")
        check_value(ts, "event.ts", 0)


def _check_start(envelope: JsonObject, mask: Mask | None) -> None:
    parse_model(_member(envelope, "model", "start needs a model"), "event.model")


def _check_set(envelope: JsonObject, mask: Mask | None) -> None:
    if mask is None:
        _bar_member(envelope, "meta", "needs a mask that says which path it sets")
        parse_block(_member(envelope, "block", "set without a mask needs a block"), "event.block")
    elif mask.root == "meta":
        _bar_member(envelope, "block", "does not belong to a mask of meta")
        meta = require_object(_member(envelope, "meta", "a mask of meta needs meta"), "event.meta")
        value = value_at(meta, mask.keys, "event.meta")
        check_value(meta, "event.meta", META_LEVEL)
        if mask.keys == ("error",):
            check_error_object({"error": value}, "event.meta")
    else:
        _check_block_patch(envelope, mask)


def _check_append(envelope: JsonObject, mask: Mask | None) -> None:
    if mask is None:
        raise MissingMember("event", "append needs a mask")
    if mask.root != "block" or len(mask.keys) != 1:
        raise BadMask("event.mask", "append extends one field: block.<field>")
    value = _check_block_patch(envelope, mask)
    if not isinstance(value, (str, list)):
        raise NotAppendable(f"event.{mask}", f"must be a string or a list, not {json_type(value)}")


def _check_block_patch(envelope: JsonObject, mask: Mask) -> Any:
    """The value that the patch brings."""
    if mask.keys[0] in PROTECTED_FIELDS:
        raise ProtectedField("event.mask", f"{mask} cannot be changed")
    _bar_member(envelope, "meta", "does not belong to a mask of block")
    block = require_object(_member(envelope, "block", "a mask of block needs a block"), "event.block")
    if "id" not in block:
        raise IncompleteBlock("event.block", "id is missing")
    require_name(block["id"], "event.block.id", MAX_BLOCK_ID_CHARS)
    if "ref" in block:
        raise MalformedReference("event.block.ref", "a patch cannot carry a reference")
    check_value(block, "event.block", BLOCK_LEVEL)
    return value_at(block, mask.keys, "event.block")


def _check_error(envelope: JsonObject, mask: Mask | None) -> None:
    if mask != Mask("meta", ("error",)):
        raise BadMask("event.mask", "op error needs the mask meta.error")
    meta = require_object(_member(envelope, "meta", "op error needs meta.error"), "event.meta")
    if not isinstance(meta.get("error"), dict):
        raise BadErrorObject("event.meta.error", "must be an object with string code and message")
    parse_meta(meta, "event.meta")


def _check_nothing(envelope: JsonObject, mask: Mask | None) -> None:
    """`ping` and `end` carry no payload, which the member table has ensured."""


def _member(envelope: JsonObject, name: str, message: str) -> Any:
    if name not in envelope:
        raise MissingMember("event", message)
    return envelope[name]


def _bar_member(envelope: JsonObject, name: str, message: str) -> None:
    if name in envelope:
        raise UnknownMember(f"event.{name}", message)


_PAYLOAD_CHECKS = {
    Op.START: _check_start,
    Op.SET: _check_set,
    Op.APPEND: _check_append,
    Op.ERROR: _check_error,
    Op.PING: _check_nothing,
    Op.END: _check_nothing,
}
