"""What chat content from outside may not contain."""

from __future__ import annotations

from typing import Any

import pytest

from conversations.agentue.chat import parse_chat_event, parse_chat_model
from conversations.agentue.errors import AgentUEError, ClientReference, ControlledBlock, ControlledMeta

from .golden import EMPTY, cases

REFERENCES = [
    {"id": "a", "ref": "opaque"},
    {"id": "a", "ref": None},
    {"id": "a", "type": "text", "ref": "opaque"},
    {"ref": {"k": 1}},
]


@pytest.mark.parametrize("block", REFERENCES, ids=repr)
def test_a_client_makes_no_reference(block: dict[str, Any]) -> None:
    model = {**EMPTY, "blocks": [{"id": "z", "type": "text"}, block]}
    with pytest.raises(ClientReference, match=r"content\.blocks\[1\]\.ref"):
        parse_chat_model(model)
    with pytest.raises(ClientReference, match=r"event\.model\.blocks\[1\]\.ref"):
        parse_chat_event({"op": "start", "seq": 1, "model": model})
    with pytest.raises(ClientReference, match=r"event\.block\.ref"):
        parse_chat_event({"op": "set", "seq": 1, "block": block})
    with pytest.raises(ClientReference):
        parse_chat_event({"op": "append", "seq": 1, "mask": "block.content", "block": {**block, "content": "x"}})


def test_a_field_named_ref_inside_a_block_is_data() -> None:
    block = {"id": "a", "type": "tool", "tool": {"ref": "refs/heads/main"}}
    assert parse_chat_model({**EMPTY, "blocks": [block]})["blocks"] == [block]
    assert parse_chat_event(
        {"op": "set", "seq": 1, "mask": "block.tool.ref", "block": {"id": "a", "tool": {"ref": "x"}}}
    )


@pytest.mark.parametrize(
    "event",
    [
        {"op": "set", "mask": "meta.output", "meta": {"output": 1}},
        {"op": "set", "mask": "meta.output.fingerprint", "meta": {"output": {"fingerprint": "f"}}},
        {"op": "start", "model": {**EMPTY, "meta": {"output": None}}},
        {"op": "error", "mask": "meta.error", "meta": {"error": {"code": "c", "message": "m"}, "output": 1}},
    ],
    ids=lambda event: event.get("mask", event["op"]),
)
def test_meta_output_is_the_servers(event: dict[str, Any]) -> None:
    with pytest.raises(ControlledMeta):
        parse_chat_event({**event, "seq": 1})


def test_meta_output_in_a_model() -> None:
    with pytest.raises(ControlledMeta, match=r"content\.meta\.output"):
        parse_chat_model({**EMPTY, "meta": {"output": {}}})


def test_a_similar_name_is_free() -> None:
    for name in ("outputs", "humans"):
        assert parse_chat_event({"op": "set", "seq": 1, "mask": f"meta.{name}.x", "meta": {name: {"x": 1}}})
    assert parse_chat_model({**EMPTY, "blocks": [{"id": "a", "type": "human"}]})


@pytest.mark.parametrize("kind", ["human_request", "human_reply"])
def test_cards_are_the_servers(kind: str) -> None:
    block = {"id": "a", "type": kind}
    model = {**EMPTY, "blocks": [{"id": "z", "type": "text"}, block]}
    with pytest.raises(ControlledBlock, match=r"content\.blocks\[1\]\.type"):
        parse_chat_model(model)
    for event in (
        {"op": "start", "model": model},
        {"op": "set", "block": block},
        {"op": "set", "mask": "block.type", "block": block},
        {"op": "append", "mask": "block.content", "block": {**block, "content": "x"}},
        {"op": "append", "mask": "block.type", "block": {"id": "a", "type": kind[1:]}},
    ):
        with pytest.raises(ControlledBlock):
            parse_chat_event({**event, "seq": 1})
    with pytest.raises(ControlledMeta, match=r"content\.meta\.human"):
        parse_chat_model({**EMPTY, "meta": {"human": {}}})


@pytest.mark.parametrize("kind, member", [("invalid_models", "model"), ("rejected_events", "event")])
def test_whatever_the_protocol_refuses_chat_refuses(kind: str, member: str) -> None:
    for name, case in cases(kind):
        if kind == "invalid_models":
            with pytest.raises(AgentUEError):
                parse_chat_model(case[member])
        else:
            try:
                parse_chat_event(case[member])
            except AgentUEError:
                continue
            assert case["initial"], name  # refused by the model it meets, which test_golden plays
