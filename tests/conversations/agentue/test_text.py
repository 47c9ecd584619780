"""Texts of models, and models of texts."""

from __future__ import annotations

from typing import Any

import pytest

from conversations.agentue.errors import BadString
from conversations.agentue.text import plain_text, preview, text_model

from .golden import EMPTY


def model(*blocks: dict[str, Any], **meta: Any) -> dict[str, Any]:
    return {**EMPTY, "meta": meta, "blocks": [{"id": str(at), **block} for at, block in enumerate(blocks)]}


def test_a_text_and_back() -> None:
    made = text_model("hello\n@erin")
    assert made == {
        "version": "1.1",
        "biz": "chat",
        "meta": {},
        "blocks": [{"id": "text", "type": "text", "content": "hello\n@erin"}],
    }
    assert plain_text(made) == "hello\n@erin"


def test_a_text_that_is_none() -> None:
    with pytest.raises(BadString):
        text_model("half \ud83d")


def test_only_prose_is_text() -> None:
    blocks = [
        {"type": "text", "content": "one"},
        {"type": "tool", "content": "@nobody"},
        {"type": "text", "content": ["list"]},
        {"type": "text"},
        {"type": "markdown", "content": "two"},
    ]
    assert plain_text(model(*blocks)) == "one\n\ntwo"


@pytest.mark.parametrize(
    "given, expected",
    [
        (model({"type": "text", "content": "  a\n\n b\t c "}), "a b c"),
        (model({"type": "tool", "name": "grep"}, {"type": "text", "content": "found"}), "found"),
        (model({"type": "text", "content": " "}, {"type": "ask", "title": "Which?"}), "Which?"),
        (model({"type": "result", "content": {"n": 1}}), "[result]"),
        (model(error={"code": "c", "message": "went wrong"}), "went wrong"),
        (model(), ""),
        (model({"type": "text", "content": "x" * 1_000_000}), "x" * 159 + "…"),
    ],
)
def test_preview(given: dict[str, Any], expected: str) -> None:
    assert preview(given) == expected


def test_a_block_that_is_not_loaded_has_no_preview() -> None:
    assert preview({**EMPTY, "blocks": [{"id": "a", "ref": "r"}]}) == ""


def test_an_empty_text() -> None:
    assert plain_text(text_model("")) == ""
