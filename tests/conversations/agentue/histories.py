"""Hypothesis strategies for models and for events that often, but not always, fit them."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

NAMES = ("content", "items", "tool", "lang", "type", "a", "b", "__proto__", "error", "id")
IDS = ("a", "b", "c", "é", "toString")

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**53) + 1, 2**53 - 1),
    st.floats(allow_nan=False, allow_infinity=False).filter(lambda x: not x.is_integer()),
    texts,
)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(NAMES), inner, max_size=3)),
    max_leaves=6,
)
names = st.sampled_from(NAMES)
ids = st.sampled_from(IDS)
contents = st.one_of(texts, st.lists(values, max_size=3), st.none())


@st.composite
def inline_blocks(draw: Any, block_ids: Any = ids) -> dict[str, Any]:
    fields = draw(st.dictionaries(st.sampled_from(("items", "tool", "lang", "a")), values, max_size=2))
    return {"id": draw(block_ids), "type": draw(st.sampled_from(("text", "tool", "frame"))), **fields} | (
        {"content": draw(contents)} if draw(st.booleans()) else {}
    )


@st.composite
def models(draw: Any) -> dict[str, Any]:
    blocks = draw(st.lists(inline_blocks(), max_size=4, unique_by=lambda block: block["id"]))
    meta = draw(st.dictionaries(st.sampled_from(("a", "b", "tool")), values, max_size=2))
    return {"version": draw(st.sampled_from(("1.0", "1.1"))), "biz": "chat", "meta": meta, "blocks": blocks}


def at_path(keys: list[str], value: Any) -> dict[str, Any]:
    for key in reversed(keys):
        value = {key: value}
    return dict(value)


@st.composite
def events(draw: Any, references: bool = False) -> dict[str, Any]:
    """One envelope without its `seq`; references only where asked for."""
    op = draw(
        st.sampled_from(["start", "put", "put", "patch", "patch", "meta", "append", "append", "error", "ping", "end"])
    )
    if op == "start":
        return {"op": "start", "model": draw(models())}
    if op == "put":
        if references and draw(st.booleans()):
            return {"op": "set", "block": {"id": draw(ids), "ref": draw(st.sampled_from(("r", "s")))}}
        return {"op": "set", "block": draw(inline_blocks())}
    if op == "meta":
        keys = draw(st.lists(names, min_size=1, max_size=3))
        return {"op": "set", "mask": ".".join(["meta", *keys]), "meta": at_path(keys, draw(values))}
    if op == "patch":
        keys = draw(st.lists(names.filter(lambda name: name != "id"), min_size=1, max_size=3))
        block = {"id": draw(ids), **at_path(keys, draw(values))}
        return {"op": "set", "mask": ".".join(["block", *keys]), "block": block}
    if op == "append":
        field = draw(st.sampled_from(("content", "content", "items", "tool", "lang")))
        block = draw(inline_blocks()) if draw(st.booleans()) else {"id": draw(ids)}
        return {"op": "append", "mask": f"block.{field}", "block": {**block, field: draw(contents)}}
    if op == "error":
        error = {"code": draw(texts), "message": draw(texts)}
        return {"op": "error", "mask": "meta.error", "meta": {"error": error}}
    return {"op": op}


@st.composite
def histories(draw: Any, references: bool = False) -> list[dict[str, Any]]:
    found = draw(st.lists(events(references=references), max_size=12))
    return [{**event, "seq": at} for at, event in enumerate(found, 1)]
