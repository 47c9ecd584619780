"""What chat content from outside may not contain: references, the server's part of `meta`, and the blocks of cards.

Actions parse with these; the bare parsers also accept what only the server writes.
"""

from __future__ import annotations

from typing import Any

from . import cards
from .errors import ClientReference, ControlledBlock, ControlledMeta
from .events import Event, Mask, Op, parse_event
from .model import parse_model
from .values import JsonObject

CONTROLLED = ("output", cards.META)
CONTROLLED_TYPES = (cards.REQUEST, cards.REPLY)


def parse_chat_model(raw: Any, path: str = "content") -> JsonObject:
    """A model as a person, an agent or a harness may send it."""
    if isinstance(raw, dict):
        _refuse_blocks(raw.get("blocks"), f"{path}.blocks")
        _refuse_controlled(raw.get("meta"), f"{path}.meta")
    return parse_model(raw, path)


def parse_chat_event(raw: Any) -> Event:
    """An event as a person, an agent or a harness may send it."""
    if isinstance(raw, dict):
        block, model, meta = raw.get("block"), raw.get("model"), raw.get("meta")
        _refuse_block(block, "event.block")
        if isinstance(model, dict):
            _refuse_blocks(model.get("blocks"), "event.model.blocks")
            _refuse_controlled(model.get("meta"), "event.model.meta")
        if raw.get("op") == Op.SET:
            _refuse_masked(raw.get("mask"))
        if raw.get("op") == Op.APPEND and raw.get("mask") == str(Mask("block", ("type",))):
            raise ControlledBlock("event.mask", "the type of a block does not grow")
        if raw.get("op") == Op.ERROR:
            _refuse_controlled(meta, "event.meta")
    return parse_event(raw)


def _refuse_masked(mask: Any) -> None:
    for name in CONTROLLED:
        prefix = str(Mask("meta", (name,)))
        if isinstance(mask, str) and (mask == prefix or mask.startswith(f"{prefix}.")):
            raise ControlledMeta("event.mask", f"meta.{name} is written by the server alone")


def _refuse_blocks(blocks: Any, path: str) -> None:
    if isinstance(blocks, list):
        for at, block in enumerate(blocks):
            _refuse_block(block, f"{path}[{at}]")


def _refuse_block(block: Any, path: str) -> None:
    if not isinstance(block, dict):
        return
    if "ref" in block:
        raise ClientReference(f"{path}.ref", "send the whole block; references are made by the server")
    if block.get("type") in CONTROLLED_TYPES:
        raise ControlledBlock(f"{path}.type", "questions and the replies to them are made by the server")


def _refuse_controlled(meta: Any, path: str) -> None:
    if isinstance(meta, dict):
        for name in CONTROLLED:
            if name in meta:
                raise ControlledMeta(f"{path}.{name}", "is written by the server alone")
