"""The content model: `{"version", "biz", "meta", "blocks"}`, parsed and validated as a whole.

A model is a plain JSON object, never changed in place: whoever changes it makes a new one that may share parts with
the old. Unknown members of models and blocks are kept as they are.
"""

from __future__ import annotations

from typing import Any

from .errors import (
    BadErrorObject,
    DuplicateBlock,
    IncompleteBlock,
    MalformedReference,
    MissingMember,
    ReferenceVersion,
    TooManyBlocks,
    UnknownVersion,
    WrongType,
)
from .limits import MAX_BLOCK_ID_CHARS, MAX_BLOCKS
from .values import JsonObject, check_value, json_type, require_name, require_object

VERSIONS = ("1.0", "1.1")
REFERENCES_SINCE = "1.1"

MODEL_LEVEL, META_LEVEL, BLOCK_LEVEL = 0, 1, 2
"""How many containers lie around each, which is what nesting is counted from."""


def parse_model(raw: Any, path: str = "model") -> JsonObject:
    """`raw` itself, once it is known to be a valid model, references included (`chat.py` refuses those).

    Raises an `AgentUEError` that names the first offending place.
    """
    model = require_object(raw, path)
    for member in ("version", "biz", "meta", "blocks"):
        if member not in model:
            raise MissingMember(path, f"{member} is missing")
    version = model["version"]
    if not isinstance(version, str) or version not in VERSIONS:
        raise UnknownVersion(f"{path}.version", f"must be one of {', '.join(VERSIONS)}")
    require_name(model["biz"], f"{path}.biz")
    parse_meta(model["meta"], f"{path}.meta")
    _parse_blocks(model["blocks"], version, f"{path}.blocks")
    rest = {key: value for key, value in model.items() if key not in ("meta", "blocks")}
    check_value(rest, path, MODEL_LEVEL)
    return model


def parse_meta(raw: Any, path: str) -> JsonObject:
    meta = require_object(raw, path)
    check_value(meta, path, META_LEVEL)
    check_error_object(meta, path)
    return meta


def check_error_object(meta: JsonObject, path: str) -> None:
    error = meta.get("error")
    if error is None:
        return
    if not isinstance(error, dict):
        raise BadErrorObject(f"{path}.error", f"must be null or an object, not {json_type(error)}")
    for member in ("code", "message"):
        if not isinstance(error.get(member), str):
            raise BadErrorObject(f"{path}.error.{member}", "must be a string")


def parse_block(raw: Any, path: str) -> JsonObject:
    """A complete inline block or a reference, whatever the model's version."""
    block = require_object(raw, path)
    if "id" not in block:
        raise IncompleteBlock(path, "id is missing")
    require_name(block["id"], f"{path}.id", MAX_BLOCK_ID_CHARS)
    if "ref" in block:
        if block.keys() != {"id", "ref"}:
            raise MalformedReference(path, "a reference has id and ref and nothing else")
        if not isinstance(block["ref"], str) or not block["ref"]:
            raise MalformedReference(f"{path}.ref", "must be a filled string")
        require_name(block["ref"], f"{path}.ref")
        return block
    if "type" not in block:
        raise IncompleteBlock(path, "type is missing")
    require_name(block["type"], f"{path}.type")
    check_value(block, path, BLOCK_LEVEL)
    return block


def is_reference(block: JsonObject) -> bool:
    return "ref" in block


def check_reference_version(version: str, path: str) -> None:
    if version != REFERENCES_SINCE:
        raise ReferenceVersion(path, f"is a reference, which needs version {REFERENCES_SINCE}, not {version}")


def check_block_count(count: int, path: str) -> None:
    if count > MAX_BLOCKS:
        raise TooManyBlocks(path, f"has {count} blocks; at most {MAX_BLOCKS} are allowed")


def _parse_blocks(raw: Any, version: str, path: str) -> None:
    if not isinstance(raw, list):
        raise WrongType(path, f"must be a list, not {json_type(raw)}")
    check_block_count(len(raw), path)
    seen: set[str] = set()
    for at, item in enumerate(raw):
        where = f"{path}[{at}]"
        block = parse_block(item, where)
        if is_reference(block):
            check_reference_version(version, where)
        if block["id"] in seen:
            raise DuplicateBlock(f"{where}.id", f"{block['id']!r} is the id of an earlier block")
        seen.add(block["id"])
