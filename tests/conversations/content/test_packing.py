"""The plan alone, played on rows in memory: any content, any limits, any history."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from conversations.content.codec import encoded, size_bytes
from conversations.content.layout import complete_block, part_of
from conversations.content.limits import Limits
from conversations.content.packing import (
    Plan,
    destination,
    inline_size_bytes,
    last_part,
    part_size_bytes,
    plan_block,
    plan_content,
)

from .rows import text

small_limits = st.builds(
    Limits,
    inline_blocks=st.integers(1, 5),
    inline_bytes=st.integers(1, 400),
    part_bytes=st.integers(1, 500),
)
ids = st.sampled_from([f"b{at}" for at in range(12)])
blocks = st.builds(
    lambda block_id, fill: {"id": block_id, "type": "text", "content": fill},
    ids,
    st.one_of(st.text("aé😀", max_size=8), st.integers(0, 300).map("x".__mul__)),
)
contents = st.lists(blocks, max_size=10, unique_by=lambda block: block["id"])


class Rows:
    """What the database would hold."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.body: dict[str, Any] = {"meta": {}, "blocks": []}
        self.parts: dict[str, dict[str, Any]] = {}
        self.numbers: Iterator[int] = itertools.count()

    def new_id(self) -> str:
        return f"p{next(self.numbers)}"

    def take(self, plan: Plan) -> None:
        assert set(plan.updates) <= set(self.parts)
        assert set(plan.deletes) <= set(self.parts)
        assert not set(plan.updates) & set(plan.deletes)
        for part_id in plan.deletes:
            del self.parts[part_id]
        for part_id, held in (plan.inserts | plan.updates).items():
            assert held, "an empty part"
            self.parts[part_id] = {block["id"]: block for block in held}
        self.body = {**self.body, "blocks": plan.blocks}
        self.check()

    def replace(self, new: list[dict[str, Any]]) -> Plan:
        wanted = {block["id"] for block in new}
        kept = {block["ref"] for block in self.body["blocks"] if "ref" in block and block["id"] in wanted}
        loaded = {part_id: self.parts[part_id] for part_id in kept}
        plan = plan_content(self.body["blocks"], loaded, new, self.limits, self.new_id)
        self.take(plan)
        return plan

    def put(self, block: dict[str, Any]) -> Plan:
        """As the store does for one event: sizes first, then only the part concerned."""
        present = next((each for each in self.body["blocks"] if each["id"] == block["id"]), None)
        source = None if present is None else part_of(present)
        named = source or last_part(self.body)
        part_bytes = 0 if named is None else part_size_bytes(list(self.parts[named].values()))
        old = present if source is None else self.parts[source][block["id"]]
        to = destination(self.body, block, part_bytes, old, self.limits)
        loaded = {part_id: self.parts[part_id] for part_id in (source, to.part_id) if part_id in self.parts}
        plan = plan_block(self.body, block, to, loaded, self.new_id)
        self.take(plan)
        return plan

    def logical(self) -> list[dict[str, Any]]:
        return [complete_block("m", block, self.parts) for block in self.body["blocks"]]

    def check(self) -> None:
        expected = [(block["ref"], block["id"]) for block in self.body["blocks"] if "ref" in block]
        held = [(part_id, block_id) for part_id, part in self.parts.items() for block_id in part]
        assert sorted(expected) == sorted(held), "every block once, nothing unreferenced"
        for part in self.parts.values():
            assert len(part) == 1 or part_size_bytes(list(part.values())) <= self.limits.part_bytes
        inline = [block for block in self.body["blocks"] if "ref" not in block]
        assert len(inline) <= self.limits.inline_blocks
        assert inline_size_bytes(inline) <= self.limits.inline_bytes

    def out(self) -> set[str]:
        return {block["id"] for block in self.body["blocks"] if "ref" in block}


@settings(max_examples=400, deadline=None)
@given(small_limits, contents)
def test_any_content_and_any_limits_read_back_identical(limits: Limits, content: list[dict[str, Any]]) -> None:
    rows = Rows(limits)
    rows.replace(content)
    assert encoded(rows.logical()) == encoded(content)


@settings(max_examples=400, deadline=None)
@given(small_limits, contents, st.lists(st.one_of(blocks, contents), max_size=12))
def test_any_history_reads_back_identical(
    limits: Limits, content: list[dict[str, Any]], steps: list[dict[str, Any] | list[dict[str, Any]]]
) -> None:
    rows = Rows(limits)
    rows.replace(content)
    expected = content
    for step in steps:
        before = rows.out()
        if isinstance(step, list):
            rows.replace(step)
            expected = step
        else:
            rows.put(step)
            at = next((at for at, each in enumerate(expected) if each["id"] == step["id"]), len(expected))
            expected = [*expected[:at], step, *expected[at + 1 :]]
        assert encoded(rows.logical()) == encoded(expected)
        kept = before & {block["id"] for block in expected}
        assert kept <= rows.out(), "what is out stays out"


@settings(max_examples=200, deadline=None)
@given(small_limits, contents)
def test_the_same_content_again_writes_no_part(limits: Limits, content: list[dict[str, Any]]) -> None:
    rows = Rows(limits)
    rows.replace(content)
    assert rows.replace(list(reversed(content))).updates == {}
    again = rows.replace(content)
    assert (again.inserts, again.updates, again.deletes) == ({}, {}, ())


def fresh(limits: Limits, *content: dict[str, Any]) -> Rows:
    rows = Rows(limits)
    rows.replace(list(content))
    return rows


LIMITS = Limits(inline_blocks=2, inline_bytes=200, part_bytes=300)


def test_the_inline_prefix_ends_with_the_first_block_that_does_not_fit() -> None:
    rows = fresh(LIMITS, text("a", 100), text("b", 101), text("c", 50))
    assert rows.out() == {"b", "c"}
    assert len(rows.parts) == 1


def test_the_count_ends_the_prefix_too() -> None:
    assert fresh(LIMITS, *(text(name, 50) for name in "abc")).out() == {"c"}


def test_a_new_block_joins_the_last_part_and_then_opens_another() -> None:
    rows = fresh(LIMITS, text("a", 200), text("b", 150))
    assert list(rows.put(text("c", 136)).updates) == list(rows.parts)  # 13 + 150 + 1 + 136 is just the target
    plan = rows.put(text("d", 50))
    assert (len(plan.inserts), plan.updates) == (1, {})


def test_a_block_larger_than_a_part_is_alone_and_whole() -> None:
    rows = fresh(LIMITS, text("a", 200), text("b", 1000), text("c", 50))
    assert sorted(map(list, rows.parts.values())) == [["b"], ["c"]]


def test_a_part_block_that_outgrows_its_part_moves_to_one_of_its_own() -> None:
    rows = fresh(LIMITS, text("a", 200), text("b", 100), text("c", 100))
    (shared,) = rows.parts
    plan = rows.put(text("b", 190))
    (own,) = plan.inserts
    assert {part_id: list(part) for part_id, part in rows.parts.items()} == {shared: ["c"], own: ["b"]}
    plan = rows.put(text("b", 5000))
    assert (plan.inserts, list(plan.updates)) == ({}, [own])


def test_an_inline_block_that_outgrows_the_budget_moves_out_alone() -> None:
    rows = fresh(LIMITS, text("a", 100), text("b", 100))
    rows.put(text("a", 101))
    assert rows.out() == {"a"}
    rows.put(text("a", 60))
    assert rows.out() == {"a"}


def test_replacing_cleans_kept_parts_and_drops_the_rest() -> None:
    rows = fresh(LIMITS, text("a", 200), *(text(name, 100) for name in "bcdefg"))
    first, second, third = rows.parts
    plan = rows.replace([text("a", 200), text("b", 100), text("d", 100), text("e", 100)])
    assert list(plan.updates) == [first]
    assert plan.deletes == (third,)
    assert {part_id: list(part) for part_id, part in rows.parts.items()} == {first: ["b"], second: ["d", "e"]}


def test_a_changed_type_of_number_is_a_change() -> None:
    rows = fresh(LIMITS, text("a", 200), {"id": "b", "type": "t", "n": 1})
    assert rows.replace([text("a", 200), {"id": "b", "type": "t", "n": True}]).updates
    assert rows.replace([text("a", 200), {"id": "b", "type": "t", "n": 1.0}]).updates


def test_a_block_whose_part_is_lost_is_new_when_it_is_replaced() -> None:
    rows = fresh(LIMITS, text("a", 200), text("b", 100))
    (lost,) = rows.parts
    plan = plan_content(rows.body["blocks"], {}, [text("a", 200), text("b", 50)], LIMITS, rows.new_id)
    assert plan.deletes == (lost,)
    assert [[block["id"] for block in held] for held in plan.inserts.values()] == [["b"]]


def test_sizes_are_those_of_the_stored_json() -> None:
    held = [text("a", 100), {"id": "é", "type": "😀"}]
    assert part_size_bytes(held) == size_bytes({"blocks": held})
    assert part_size_bytes(held[:1]) == size_bytes({"blocks": held[:1]})
