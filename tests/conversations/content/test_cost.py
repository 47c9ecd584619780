"""An event into a large message costs what one into a small message costs: counted in statements and bytes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from conversations.content.codec import StoredJSONDecoder, StoredJSONEncoder
from conversations.content.reading import read_content
from conversations.models import Message

from .rows import Desk, Statements, apply, model, text

BLOCK_BYTES = 50_000
PART_BYTES = 262_144
ROW_BYTES = 80_000
"""What the message's own row may have here: the inline budget, and a reference for each block."""


@dataclass
class Traffic:
    read_bytes: int = 0
    written_bytes: int = 0


@pytest.fixture
def traffic(monkeypatch: pytest.MonkeyPatch) -> Traffic:
    """The content that passes between the store and the database."""
    counted = Traffic()
    decode, encode = StoredJSONDecoder.decode, StoredJSONEncoder.encode

    def counting_decode(self: Any, s: Any, *args: Any) -> Any:
        counted.read_bytes += len(s)
        return decode(self, s, *args)

    def counting_encode(self: Any, o: Any) -> str:
        done = encode(self, o)
        counted.written_bytes += len(done)
        return done

    monkeypatch.setattr(StoredJSONDecoder, "decode", counting_decode)
    monkeypatch.setattr(StoredJSONEncoder, "encode", counting_encode)
    return counted


def message_of(blocks: int) -> Message:
    return Desk().create(model(*(text(f"b{at}", BLOCK_BYTES) for at in range(blocks))))


EVENTS = {
    "append to an inline block": {"op": "append", "mask": "block.content", "block": {"id": "b0", "content": "."}},
    "append to an early part": {"op": "append", "mask": "block.content", "block": {"id": "b2", "content": "."}},
    "append to the last block": {"op": "append", "mask": "block.content", "block": {"id": "last", "content": "."}},
    "outgrow a part": {"op": "append", "mask": "block.content", "block": {"id": "b2", "content": "." * 70_000}},
    "a new block": {"op": "set", "block": {"id": "new", "type": "text", "content": "x" * 100}},
    "meta": {"op": "set", "mask": "meta.stage", "meta": {"stage": "x"}},
    "end": {"op": "end"},
}
AT_MOST = {"meta": 2, "end": 2, "append to an inline block": 3, "outgrow a part": 6}


def cost(message: Message, event: dict[str, Any], traffic: Traffic) -> tuple[list[str], Traffic]:
    """The statements, and the bytes that they moved."""
    traffic.read_bytes = traffic.written_bytes = 0
    with Statements() as done:
        apply(message, **event)
    statements = [sql for sql in done.sql if not sql.startswith(("BEGIN", "COMMIT"))]
    return statements, Traffic(traffic.read_bytes, traffic.written_bytes)


@pytest.mark.parametrize("event", EVENTS.values(), ids=EVENTS)
def test_the_size_of_the_message_does_not_count(event: dict[str, Any], traffic: Traffic) -> None:
    small, large = message_of(10), message_of(100)
    for message in (small, large):
        apply(message, op="set", block=text("last", 1000))
    few, little = cost(small, event, traffic)
    many, much = cost(large, event, traffic)
    name = next(name for name, each in EVENTS.items() if each is event)
    assert many == few
    assert len(many) <= AT_MOST.get(name, 5)
    assert much.read_bytes <= ROW_BYTES + PART_BYTES
    assert much.written_bytes <= ROW_BYTES + PART_BYTES + 150_000
    directory_bytes = 90 * 80
    assert much.read_bytes <= little.read_bytes + directory_bytes
    assert much.written_bytes <= little.written_bytes + directory_bytes


def test_events_of_meta_read_no_part(traffic: Traffic) -> None:
    message = message_of(100)
    statements, moved = cost(message, EVENTS["meta"], traffic)
    assert not any("message_parts" in sql for sql in statements)
    assert moved.read_bytes < ROW_BYTES
    statements, moved = cost(message, EVENTS["end"], traffic)
    assert moved.written_bytes == 0


def test_replacing_a_block_that_is_alone_in_its_part_does_not_read_it(traffic: Traffic) -> None:
    message = Desk().create(model(text("a", 100), text("b", 3_000_000)))
    _, moved = cost(message, {"op": "set", "block": text("b", 2_000_000)}, traffic)
    assert moved.read_bytes < 1000
    assert read_content(message)["blocks"][1] == text("b", 2_000_000)


def test_lists_without_content_read_none(traffic: Traffic) -> None:
    message = message_of(20)
    traffic.read_bytes = 0
    assert list(Message.objects.defer("content").filter(pk=message.pk))
    assert traffic.read_bytes == 0
