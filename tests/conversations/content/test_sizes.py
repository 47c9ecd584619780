"""Limits of rows, messages and answers: respected, or refused with what is allowed."""

from __future__ import annotations

from typing import Any

import pytest

from conversations.content.codec import row_bytes, size_bytes
from conversations.content.pages import block_page
from conversations.content.reading import read_blocks, read_content, read_contents
from conversations.errors import TooLarge
from conversations.models import Message, MessagePart

from .rows import EMPTY, Desk, apply, limits, model, parts, text


@pytest.fixture
def desk() -> Desk:
    return Desk()


def test_a_block_over_the_row_limit_is_refused_and_nothing_is_written(desk: Desk) -> None:
    with limits(row_bytes=2000), pytest.raises(TooLarge, match="block 'b' is larger") as refused:
        desk.create(model(text("a", 100), text("b", 2001)))
    assert refused.value.fields == {"limit_bytes": 2000, "block_id": "b"}
    assert not Message.objects.filter(scope=desk.scope).exists()


def test_a_block_cannot_grow_over_the_row_limit(desk: Desk) -> None:
    with limits(row_bytes=2000, inline_bytes=500):
        message = desk.create(model(text("a", 1900)))
        with pytest.raises(TooLarge):
            apply(message, op="append", mask="block.content", block={"id": "a", "content": "y" * 120})
        assert read_content(message) == model(text("a", 1900))
        assert message.revision == 0


def test_numbers_are_measured_as_tidb_stores_them(desk: Desk) -> None:
    dense = {"id": "a", "type": "t", "numbers": [1] * 600_000}
    assert size_bytes(dense) < 1_300_000
    assert row_bytes(dense, 6_000_000) > 7_500_000
    with pytest.raises(TooLarge, match="block 'a'"):
        desk.create(model(dense))
    assert row_bytes({"blocks": [1] * 1000}, 6_000_000) == size_bytes({"blocks": [1] * 1000})


def test_meta_has_a_limit_of_its_own(desk: Desk) -> None:
    with limits(meta_bytes=300):
        with pytest.raises(TooLarge, match="meta"):
            desk.create(model(k="x" * 300))
        message = desk.create(model(text("a", 100), k="x" * 100))
        with pytest.raises(TooLarge, match="meta"):
            apply(message, op="set", mask="meta.more", meta={"more": "x" * 200})


def test_a_long_directory_is_refused(desk: Desk) -> None:
    with limits(row_bytes=3000, inline_blocks=1, part_bytes=500), pytest.raises(TooLarge, match="list of blocks"):
        desk.create(model(*(text(f"b{at}", 60) for at in range(60))))


def test_a_message_has_a_limit(desk: Desk) -> None:
    sizes = {"content_bytes": 3000, "inline_bytes": 500, "part_bytes": 800}
    with limits(**sizes):
        with pytest.raises(TooLarge, match="at most 3000 bytes"):
            desk.create(model(*(text(f"b{at}", 700) for at in range(5))))
        message = desk.create(model(*(text(f"b{at}", 700) for at in range(3))))
        apply(message, op="set", block=text("c", 300))
        with pytest.raises(TooLarge, match="at most 3000 bytes"):
            apply(message, op="set", block=text("d", 500))
        with pytest.raises(TooLarge, match="at most 3000 bytes"):
            apply(message, op="append", mask="block.content", block={"id": "b1", "content": "y" * 600})
        apply(message, op="set", block=text("b1", 100))
        apply(message, op="set", block=text("d", 500))


def test_a_message_over_its_limit_may_still_shrink_and_end(desk: Desk) -> None:
    message = desk.create(model(*(text(f"b{at}", 700) for at in range(5))))
    with limits(content_bytes=2000):
        apply(message, op="set", block=text("b1", 100))
        apply(message, op="end")


def test_an_answer_has_a_limit(desk: Desk) -> None:
    with limits(inline_bytes=500, part_bytes=800):
        content = model(*(text(f"b{at}", 700) for at in range(6)))
        message = desk.create(content)
    with limits(response_bytes=2000, part_bytes=800):
        with pytest.raises(TooLarge, match="one answer holds at most 2000"):
            read_content(message)
        with pytest.raises(TooLarge, match="one answer holds at most 2000"):
            read_blocks(message, ["b0", "b1", "b2"])
        assert read_blocks(message, ["b1", "b5"]) == [text("b1", 700), text("b5", 700)]
        page = block_page(message)
        assert page.blocks == content["blocks"][:2]
        assert page.next is not None
        assert block_page(message, page.next).blocks == content["blocks"][2:4]


def test_inline_content_counts_in_an_answer(desk: Desk) -> None:
    messages = [desk.create(model(text("a", 900))) for _ in range(3)]
    with limits(response_bytes=2000):
        assert len(read_contents(messages[:2])) == 2
        with pytest.raises(TooLarge):
            read_contents(messages)


def test_one_block_over_the_answers_limit(desk: Desk) -> None:
    message = desk.create(model(text("a", 5000)))
    with limits(response_bytes=2000), pytest.raises(TooLarge, match="one answer holds at most 2000"):
        block_page(message)
    with limits(response_bytes=2000), pytest.raises(TooLarge):
        read_blocks(message, ["a"])


def test_a_megabyte_block_is_never_cut(desk: Desk) -> None:
    block = text("a", 5 * 1024 * 1024, "y")
    message = desk.create(model(text("z", 80), block))
    assert list(parts(message).values()) == [["a"]]
    assert read_content(message) == model(text("z", 80), block)
    assert MessagePart.objects.get(message_id=message.pk).size_bytes == 5 * 1024 * 1024 + 13


def test_sizes_count_bytes_and_not_characters(desk: Desk) -> None:
    wide: dict[str, Any] = {"id": "a", "type": "text", "content": "漢" * 100}
    with limits(inline_bytes=size_bytes(wide) - 1):
        message = desk.create(model(wide))
        assert parts(message)
    assert desk.create(EMPTY)
