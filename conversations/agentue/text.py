"""Plain text and models: the model made from a text, and the text to be read out of a model."""

from __future__ import annotations

from typing import Any

from .model import parse_model
from .values import JsonObject

TEXT_BLOCK_ID = "text"
TEXT_TYPES = ("text", "markdown")
"""Blocks whose string `content` is prose written by the author."""
PREVIEW_CHARS = 160
_PREVIEW_SOURCE_CHARS = 4 * PREVIEW_CHARS
_TITLE_FIELDS = ("title", "prompt", "name", "content", "label", "value")


def text_model(text: str) -> JsonObject:
    """The model of a message that is one text. Raises an `AgentUEError` where the text is not valid."""
    block = {"id": TEXT_BLOCK_ID, "type": "text", "content": text}
    return parse_model({"version": "1.1", "biz": "chat", "meta": {}, "blocks": [block]}, "content")


def plain_text(model: JsonObject) -> str:
    """Every text block in order, joined by blank lines: what mentions and search look at."""
    return "\n\n".join(text for text in map(_prose, model["blocks"]) if text)


def preview(model: JsonObject, max_chars: int = PREVIEW_CHARS) -> str:
    """One line for lists: the beginning of the text, else a title of some block, else the first block's type."""
    blocks = model["blocks"]
    for block in blocks:
        if line := _one_line(_prose(block), max_chars):
            return line
    for block in blocks:
        for field in _TITLE_FIELDS:
            if line := _one_line(block.get(field), max_chars):
                return line
    error = model["meta"].get("error")
    if isinstance(error, dict) and (line := _one_line(error.get("message"), max_chars)):
        return line
    named = next((block["type"] for block in blocks if "type" in block), "")
    return f"[{named}]" if named else ""


def _prose(block: JsonObject) -> str:
    content = block.get("content")
    return content if block.get("type") in TEXT_TYPES and isinstance(content, str) else ""


def _one_line(value: Any, max_chars: int) -> str:
    if not isinstance(value, str):
        return ""
    line = " ".join(value[: max(_PREVIEW_SOURCE_CHARS, 4 * max_chars)].split())
    return line if len(line) <= max_chars else line[: max_chars - 1].rstrip() + "…"
