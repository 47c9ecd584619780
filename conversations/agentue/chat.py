"""What chat content from outside may not contain: references, and the part of `meta` that is the server's.

Actions parse with these; the bare parsers also accept what only the server writes.
"""

from __future__ import annotations

from typing import Any

from .errors import ClientReference, ControlledMeta
from .events import Event, Mask, Op, parse_event
from .model import parse_model
from .values import JsonObject

CONTROLLED = "output"


def parse_chat_model(raw: Any, path: str = "content") -> JsonObject:
    """A model as a person, an agent or a harness may send it."""
    if isinstance(raw, dict):
        _refuse_references(raw.get("blocks"), f"{path}.blocks")
        _refuse_controlled(raw.get("meta"), f"{path}.meta")
    return parse_model(raw, path)


def parse_chat_event(raw: Any) -> Event:
    """An event as a person, an agent or a harness may send it."""
    if isinstance(raw, dict):
        block, model, meta = raw.get("block"), raw.get("model"), raw.get("meta")
        if isinstance(block, dict) and "ref" in block:
            raise ClientReference("event.block.ref", "send the whole block; references are made by the server")
        if isinstance(model, dict):
            _refuse_references(model.get("blocks"), "event.model.blocks")
            _refuse_controlled(model.get("meta"), "event.model.meta")
        if raw.get("op") == Op.SET and _masks_controlled(raw.get("mask")):
            raise ControlledMeta("event.mask", f"meta.{CONTROLLED} is written by the server alone")
        if raw.get("op") == Op.ERROR:
            _refuse_controlled(meta, "event.meta")
    return parse_event(raw)


def _masks_controlled(mask: Any) -> bool:
    prefix = str(Mask("meta", (CONTROLLED,)))
    return isinstance(mask, str) and (mask == prefix or mask.startswith(f"{prefix}."))


def _refuse_references(blocks: Any, path: str) -> None:
    if not isinstance(blocks, list):
        return
    for at, block in enumerate(blocks):
        if isinstance(block, dict) and "ref" in block:
            raise ClientReference(f"{path}[{at}].ref", "send the whole block; references are made by the server")


def _refuse_controlled(meta: Any, path: str) -> None:
    if isinstance(meta, dict) and CONTROLLED in meta:
        raise ControlledMeta(f"{path}.{CONTROLLED}", "is written by the server alone")
