"""Writing and reading through the store: real rows, real commits."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import transaction

from conversations.agentue.events import parse_event
from conversations.content import store
from conversations.content.reading import read_blocks, read_content, read_contents
from conversations.errors import InvalidRequest, NotFound, TooLarge
from conversations.models import Message, MessagePart

from .rows import EMPTY, Desk, Statements, apply, limits, model, parts, places, replace, text

SMALL = {"inline_blocks": 2, "inline_bytes": 200, "part_bytes": 300}


@pytest.fixture
def desk() -> Desk:
    return Desk()


def test_small_content_stays_in_its_row(desk: Desk) -> None:
    content = model(text("a", 100), k=[1, 1.0, True, None, "é😀\u2028\u0000"])
    message = desk.create(content)
    assert read_content(message) == content
    assert parts(message) == {}


def test_unknown_members_and_the_version_are_kept(desk: Desk) -> None:
    with limits(**SMALL):
        content = {**model(*(text(name, 90) for name in "abcde")), "version": "1.0", "x_model": {"k": 1}}
        message = desk.create(content)
        assert parts(message)
        assert read_content(message) == content


def test_content_reads_the_same_wherever_it_lies(desk: Desk) -> None:
    content = model(*(text(f"b{at}", 120) for at in range(20)), text("big", 5000), text("last", 60))
    with limits(**SMALL):
        message = desk.create(content)
        assert len(parts(message)) == 12
        assert [ids for ids in parts(message).values() if "big" in ids] == [["big"]]
    assert read_content(message) == content


def test_the_default_budgets(desk: Desk) -> None:
    message = desk.create(model(*(text(f"b{at}", 100) for at in range(40))))
    assert [block for block, part in places(message).items() if part] == [f"b{at}" for at in range(32, 40)]
    message = desk.create(model(text("a", 65_536), text("b", 100)))
    assert [part is None for part in places(message).values()] == [True, False]
    message = desk.create(model(text("a", 65_537)))
    assert [part is None for part in places(message).values()] == [False]


def test_a_streamed_answer_grows_out_of_its_row(desk: Desk) -> None:
    with limits(**SMALL):
        message = desk.create(EMPTY)
        apply(message, op="append", mask="block.content", block=text("a", 150))
        assert places(message) == {"a": None}
        for _ in range(10):
            apply(message, op="append", mask="block.content", block={"id": "a", "content": "y" * 50})
        apply(message, op="append", mask="block.content", block=text("b", 100))
        apply(message, op="set", mask="meta.stage", meta={"stage": "done"})
        apply(message, op="error", mask="meta.error", meta={"error": {"code": "c", "message": "m"}})
        apply(message, op="end")
        read = read_content(message)
        assert sorted(parts(message).values()) == [["a"], ["b"]]
    assert read["blocks"][0]["content"].endswith("x" + "y" * 500)
    assert read["meta"] == {"stage": "done", "error": {"code": "c", "message": "m"}}
    assert message.revision == 15


def test_a_part_block_that_outgrows_its_part_moves_with_its_reference(desk: Desk) -> None:
    with limits(**SMALL):
        message = desk.create(model(text("a", 200), text("b", 100), text("c", 100)))
        ((shared, _),) = parts(message).items()
        apply(message, op="append", mask="block.content", block={"id": "b", "content": "y" * 200})
        held = parts(message)
        own = next(part for part in held if part != shared)
        assert held == {shared: ["c"], own: ["b"]}
        assert places(message) == {"a": None, "b": own, "c": shared}


def test_start_replaces_everything(desk: Desk) -> None:
    with limits(**SMALL):
        message = desk.create(model(*(text(name, 150) for name in "abcdef"), stage=1))
        apply(message, op="start", model=model(text("z", 50)))
        assert parts(message) == {}
        assert read_content(message) == model(text("z", 50))


def test_replacing_writes_only_what_changed(desk: Desk) -> None:
    with limits(**SMALL):
        content = model(*(text(f"b{at}", 120) for at in range(12)))
        message = desk.create(content)
        before = parts(message)
        content["blocks"][5] = text("b5", 110)
        del content["blocks"][9:11]
        with Statements() as done:
            replace(message, content)
        assert read_content(message) == content
        assert done.count("UPDATE", "message_parts") == 1
        assert done.count("DELETE", "message_parts") == 1
        assert done.count("INSERT", "message_parts") == 0
        assert set(parts(message)) < set(before)


def test_nothing_moves_back_in(desk: Desk) -> None:
    with limits(**SMALL):
        message = desk.create(model(text("a", 500)))
        replace(message, model(text("a", 50)))
        apply(message, op="set", block=text("a", 40))
        assert list(parts(message).values()) == [["a"]]
        assert read_content(message) == model(text("a", 40))


def test_deleting_leaves_no_orphan(desk: Desk) -> None:
    with limits(**SMALL):
        one, other = (desk.create(model(*(text(name, 150) for name in "abcd"))) for _ in range(2))
    with transaction.atomic():
        store.delete_contents([one.pk])
        Message.objects.filter(pk=one.pk).delete()
    assert not MessagePart.objects.filter(message_id=one.pk).exists()
    assert read_content(other)
    Message.objects.filter(pk=other.pk).delete()
    assert not MessagePart.objects.filter(message_id=other.pk).exists()


def test_a_refused_event_writes_nothing(desk: Desk) -> None:
    with limits(**SMALL):
        message = desk.create(model(text("a", 150), text("b", 150), text("n", 60)))
        before = (places(message), parts(message), read_content(message))
        for event in (
            {"op": "append", "mask": "block.content", "block": {"id": "b", "content": ["list"]}},
            {"op": "set", "mask": "block.type", "block": {"id": "b", "type": ""}},
            {"op": "set", "mask": "block.content", "block": {"id": "nope", "content": "x"}},
            {"op": "set", "mask": "meta.error", "meta": {"error": None}, "block": {"id": "b"}},
        ):
            with pytest.raises((InvalidRequest, ValueError)):
                apply(message, **event)
        assert (places(message), parts(message), read_content(message)) == before
    assert message.revision == 0


def test_the_store_takes_no_references(desk: Desk) -> None:
    reference = {"id": "a", "ref": "opaque"}
    message = desk.create(EMPTY)
    with pytest.raises(InvalidRequest, match="references are made by the server"), transaction.atomic():
        store.replace_content(message, model(reference))
    with pytest.raises(InvalidRequest, match="references are made by the server"), transaction.atomic():
        store.apply_event(message, parse_event({"op": "set", "seq": 1, "block": reference}))
    with pytest.raises(InvalidRequest, match="references are made by the server"), transaction.atomic():
        store.apply_event(message, parse_event({"op": "start", "seq": 1, "model": model(reference)}))


def test_refusals_carry_code_and_path(desk: Desk) -> None:
    message = desk.create(model(text("a", 60)))
    with pytest.raises(InvalidRequest) as refused:
        apply(message, op="set", mask="block.content.x", block={"id": "a", "content": {"x": 1}})
    assert refused.value.fields == {"code": "blocked_path", "path": "model.blocks[0].content"}


def test_rolling_back_takes_parts_and_references_along(desk: Desk) -> None:
    with limits(**SMALL):
        message = desk.create(model(text("a", 200), text("b", 100), text("c", 100)))
        before = (places(message), parts(message))
        with transaction.atomic():
            apply(message, op="append", mask="block.content", block={"id": "b", "content": "y" * 500})
            assert places(message) != before[0]
            transaction.set_rollback(True)
        assert (places(message), parts(message)) == before


def test_reading_many_takes_one_statement_and_skips_the_missing(desk: Desk) -> None:
    with limits(**SMALL):
        contents = [model(*(text(f"b{at}", 120) for at in range(count))) for count in (0, 1, 5, 9)]
        messages = [desk.create(content) for content in contents]
    gone = desk.create(EMPTY)
    Message.objects.filter(pk=gone.pk).delete()
    with Statements() as done:
        found = read_contents([*messages, gone])
    assert found == {message.pk: content for message, content in zip(messages, contents, strict=True)}
    assert done.count() == 1
    assert read_contents([]) == {}
    with pytest.raises(NotFound):
        read_content(gone)


def test_a_read_brings_the_columns_of_its_moment(desk: Desk) -> None:
    message = desk.create(EMPTY, status="streaming")
    seen = Message.objects.defer("content").get(pk=message.pk)
    apply(message, op="append", mask="block.content", block=text("a", 60))
    Message.objects.filter(pk=message.pk).update(status="completed")
    assert seen.revision == 0
    assert read_content(seen)["blocks"]
    assert (seen.revision, seen.status) == (1, "completed")


def test_reading_some_blocks(desk: Desk) -> None:
    with limits(**SMALL):
        message = desk.create(model(*(text(f"b{at}", 120) for at in range(12))))
    with Statements() as done:
        assert read_blocks(message, ["b7", "b0", "b7"]) == [text("b0", 120), text("b7", 120)]
    assert done.count() == 2
    with Statements() as done:
        assert read_blocks(message, ["b0"]) == [text("b0", 120)]
    assert done.count() == 1
    assert read_blocks(message, []) == []
    with pytest.raises(NotFound) as refused:
        read_blocks(message, ["b1", "zz"])
    assert refused.value.fields == {"block_ids": ["zz"]}
    with pytest.raises(InvalidRequest):
        read_blocks(message, map(str, range(201)))


def test_the_deepest_content_that_is_accepted_can_be_stored(desk: Desk) -> None:
    deep: Any = "x"
    for _ in range(25):
        deep = [deep]
    content = model({"id": "a", "type": "t", "deep": deep}, deep=[deep])
    with limits(inline_bytes=1):
        message = desk.create(content)
        assert parts(message)
    assert read_content(message) == content


def test_too_many_blocks_by_events(desk: Desk) -> None:
    message = desk.create(model(*({"id": f"b{at}", "type": "t"} for at in range(10_000))))
    with pytest.raises(TooLarge) as refused:
        apply(message, op="set", block={"id": "more", "type": "t"})
    assert refused.value.fields["code"] == "too_many_blocks"
    assert len(read_content(message)["blocks"]) == 10_000
