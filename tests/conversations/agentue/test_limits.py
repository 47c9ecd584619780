"""The defined answer to what no friendly client sends."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from conversations.agentue import errors
from conversations.agentue.events import parse_event
from conversations.agentue.limits import INTEGER_MAX, INTEGER_MIN, MAX_BLOCKS, MAX_DEPTH, SEQ_MAX
from conversations.agentue.model import parse_model
from conversations.agentue.reducer import reduce

from .golden import EMPTY


def with_meta(**meta: Any) -> dict[str, Any]:
    return {**EMPTY, "meta": meta}


@pytest.mark.parametrize(
    "seq", [True, False, 1.0, 1.5, -1, SEQ_MAX + 1, 10**400, math.nan, math.inf, "1", None, [1]], ids=repr
)
def test_seq_is_a_whole_number_that_browsers_can_count(seq: Any) -> None:
    with pytest.raises(errors.BadSequence, match=r"event\.seq: must be a whole number from 0 to 9007199254740991"):
        parse_event({"op": "ping", "seq": seq})


@pytest.mark.parametrize("seq", [0, 1, SEQ_MAX])
def test_seq_in_range(seq: int) -> None:
    assert parse_event({"op": "ping", "seq": seq}).seq == seq


@pytest.mark.parametrize(
    "number",
    [math.nan, math.inf, -math.inf, INTEGER_MAX + 1, INTEGER_MIN - 1, 10**400],
    ids=lambda n: f"{n:.3}" if isinstance(n, float) else f"{n.bit_length()} bits",
)
def test_numbers_that_nothing_keeps(number: Any) -> None:
    with pytest.raises(errors.BadNumber, match=r"content\.meta\.deep\[1\]\.n"):
        parse_model(with_meta(deep=[0, {"n": number}]), "content")
    with pytest.raises(errors.BadNumber):
        parse_event({"op": "ping", "seq": 1, "ts": number})


@pytest.mark.parametrize("number", [INTEGER_MAX, INTEGER_MIN, 1e308, -0.0, 5e-324])
def test_numbers_at_the_edge_are_kept(number: Any) -> None:
    assert parse_model(with_meta(n=number))["meta"]["n"] == number


def test_a_million_blocks_are_refused_by_their_number() -> None:
    block = {"id": "a", "type": "text"}
    with pytest.raises(errors.TooManyBlocks, match="1000000 blocks; at most 10000"):
        parse_model({**EMPTY, "blocks": [block] * 1_000_000})


def test_the_last_block_fits_and_one_more_does_not() -> None:
    model = parse_model({**EMPTY, "blocks": [{"id": f"b{at}", "type": "text"} for at in range(MAX_BLOCKS - 1)]})
    model = reduce(model, parse_event({"op": "set", "seq": 1, "block": {"id": "last", "type": "text"}}))
    for event in (
        {"op": "set", "seq": 2, "block": {"id": "more", "type": "text"}},
        {"op": "append", "seq": 2, "mask": "block.content", "block": {"id": "more", "type": "text", "content": "x"}},
    ):
        with pytest.raises(errors.TooManyBlocks):
            reduce(model, parse_event(event))
    assert reduce(model, parse_event({"op": "set", "seq": 2, "block": {"id": "b0", "type": "tool"}}))


def nested(levels: int) -> Any:
    value: Any = []
    for _ in range(levels - 1):
        value = [value]
    return value


def test_nesting_ends_at_the_limit() -> None:
    assert parse_model(with_meta(deep=nested(MAX_DEPTH - 2)))
    with pytest.raises(errors.TooDeep):
        parse_model(with_meta(deep=nested(MAX_DEPTH - 1)))


def test_bottomless_nesting_exhausts_nothing() -> None:
    bottomless = nested(200_000)
    try:
        with pytest.raises(errors.TooDeep):
            parse_model(with_meta(deep=bottomless))
        with pytest.raises(errors.TooDeep):
            parse_event({"op": "set", "seq": 1, "mask": "meta.deep", "meta": {"deep": bottomless}})
    finally:
        while bottomless:  # freeing it level by level spares the interpreter's own recursion
            bottomless = bottomless.pop()


def test_a_wide_value_is_walked_and_kept() -> None:
    wide = list(range(300_000))
    assert parse_model(with_meta(wide=wide))["meta"]["wide"] is wide


def deep_patch(levels: int) -> dict[str, Any]:
    keys = ["d"] * levels
    payload: Any = []
    for key in reversed(keys):
        payload = {key: payload}
    return {"op": "set", "seq": 1, "mask": ".".join(["meta", *keys]), "meta": payload}


def test_a_patched_model_is_no_deeper_than_a_sent_one() -> None:
    model = reduce(EMPTY, parse_event(deep_patch(MAX_DEPTH - 2)))
    assert parse_model(model) is model
    with pytest.raises(errors.TooDeep):
        parse_event(deep_patch(MAX_DEPTH - 1))


@pytest.mark.parametrize("value", [object(), {1: "a"}, b"bytes", {1, 2}, (1, 2)], ids=lambda v: type(v).__name__)
def test_what_json_does_not_have(value: Any) -> None:
    with pytest.raises(errors.NotJson):
        parse_model(with_meta(value=value))


def test_a_text_of_megabytes_passes() -> None:
    text = "é" * 3_000_000
    model = parse_model({**EMPTY, "blocks": [{"id": "a", "type": "text", "content": text}]})
    event = parse_event({"op": "append", "seq": 1, "mask": "block.content", "block": {"id": "a", "content": "!"}})
    assert reduce(model, event)["blocks"][0]["content"] == text + "!"


def test_every_refusal_has_its_own_code() -> None:
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, errors.AgentUEError)]
    assert len({kind.code for kind in kinds}) == len(kinds) > 20


def test_json_text_cannot_smuggle_anything_in() -> None:
    """The standard parser reads `NaN`, `1e400` and escaped halves: the model refuses what it made of them."""
    for text in ("NaN", "Infinity", "1e400", '"\\ud800"', "1" * 30, '{"k": [-Infinity]}'):
        with pytest.raises((errors.BadNumber, errors.BadString)):
            parse_model(with_meta(value=json.loads(text)))
