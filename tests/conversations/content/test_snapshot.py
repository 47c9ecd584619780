"""A reader beside a writer: what it gets is the content of one revision, whole."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection

from conversations.content import snapshot
from conversations.content.pages import block_page
from conversations.content.reading import read_blocks, read_content, read_contents
from conversations.models import Message, MessagePart
from tests.conversations.racing import race

from .rows import Desk, apply, limits, model, parts, text

SMALL = {"inline_blocks": 1, "inline_bytes": 200, "part_bytes": 4000}
WRITES = 120


def write(message: Message, written: threading.Event) -> None:
    """One event a revision, each growing a block; blocks outgrow parts and move all along."""
    try:
        for revision in range(1, WRITES + 1):
            n = max(n for n in range(4) if revision % (n + 1) == 0)
            apply(message, op="append", mask="block.content", block={"id": f"b{n}", "content": "x" * (revision + 1)})
    finally:
        written.set()


def read_until(written: threading.Event, read: Callable[[], None]) -> int:
    for count in itertools.count(1):
        last = written.is_set()
        read()
        if last:
            return count
    return 0


def expected(revision: int) -> dict[str, int]:
    """The length of each block's text at a revision."""
    lengths = {f"b{n}": 50 for n in range(4)}
    for step in range(1, revision + 1):
        n = max(n for n in range(4) if step % (n + 1) == 0)
        lengths[f"b{n}"] += step + 1
    return lengths


def test_body_and_parts_are_of_one_moment() -> None:
    """Each revision has its own lengths, so an old body with new parts, or the reverse, would show."""
    assert len({tuple(expected(revision).items()) for revision in range(WRITES + 1)}) == WRITES + 1
    blocks = [{"id": f"b{n}", "type": "text", "content": "x" * 50} for n in range(4)]
    with limits(**SMALL):
        message = Desk().create(model(*blocks))
        written = threading.Event()
        seen: set[int] = set()

        def check(revision: int, blocks: list[dict[str, Any]]) -> None:
            lengths = {block["id"]: len(block["content"]) for block in blocks}
            assert lengths == {block_id: expected(revision)[block_id] for block_id in lengths}
            seen.add(revision)

        def whole() -> None:
            row = Message(pk=message.pk)
            blocks = read_content(row)["blocks"]
            check(row.revision, blocks)

        def some() -> None:
            row = Message(pk=message.pk)
            blocks = read_blocks(row, ["b1", "b3"])
            check(row.revision, blocks)

        def paged() -> None:
            page = block_page(Message(pk=message.pk), None, 3)
            check(page.revision, page.blocks)

        results = race(
            [lambda: write(message, written), *(lambda r=r: read_until(written, r) for r in (whole, some, paged))]
        )
        for result in results:
            assert not isinstance(result, BaseException), result
        assert len(parts(message)) >= 2
    assert WRITES in seen
    if connection.vendor != "sqlite":
        assert len(seen) > 3, "the reader never met the writer"


def test_a_block_that_moves_between_two_statements_is_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    with limits(**SMALL):
        message = Desk().create(model(text("a", 100), text("b", 2000), text("c", 1900)))
        read, moved = snapshot.read_snapshots, []

        def move_first(*args: Any, **kwargs: Any) -> Any:
            if kwargs.get("parts") and not moved:
                moved.append(apply(message, op="append", mask="block.content", block={"id": "b", "content": "y" * 999}))
            return read(*args, **kwargs)

        monkeypatch.setattr("conversations.content.reading.read_snapshots", move_first)
        blocks = read_blocks(message, ["b"])
        assert moved
        assert blocks[0]["content"].endswith("y" * 999)
        assert message.revision == 1


def test_a_message_deleted_beside_a_reader_is_gone_and_not_damaged() -> None:
    with limits(**SMALL):
        messages = [Desk().create(model(text("a", 300), text("b", 300))) for _ in range(30)]
    deleted = threading.Event()

    def delete() -> None:
        try:
            for message in messages:
                Message.objects.filter(pk=message.pk).delete()
        finally:
            deleted.set()

    def read() -> None:
        for content in read_contents(messages).values():
            assert len(content["blocks"]) == 2

    for result in race([delete, lambda: read_until(deleted, read)]):
        assert not isinstance(result, BaseException), result
    assert not MessagePart.objects.filter(message__in=messages).exists()
