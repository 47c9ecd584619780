"""Damage is an error, never an empty body."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import pytest

from conversations.content.pages import block_page
from conversations.content.reading import read_blocks, read_content, read_contents
from conversations.content.refusals import StorageError
from conversations.errors import Refusal
from conversations.ids import new_id
from conversations.models import Message, MessagePart

from .rows import Desk, apply, limits, model, parts, places, replace, text

SMALL = {"inline_blocks": 1, "inline_bytes": 200, "part_bytes": 300}


@pytest.fixture
def message() -> Message:
    with limits(**SMALL):
        return Desk().create(model(*(text(name, 120) for name in "abcde")))


def first_part(message: Message) -> MessagePart:
    return MessagePart.objects.get(pk=places(message)["b"])


def change(message: Message, edit: Callable[[list[dict[str, Any]]], Any]) -> None:
    part = first_part(message)
    edit(part.content["blocks"])
    part.save()


def missing_part(message: Message) -> None:
    first_part(message).delete()


def foreign_part(message: Message) -> None:
    with limits(**SMALL):
        other = Desk().create(model(*(text(name, 120) for name in "abcde")))
    content = Message.objects.values_list("content", flat=True).get(pk=message.pk)
    content["blocks"][1]["ref"] = places(other)["b"]
    Message.objects.filter(pk=message.pk).update(content=content)


def wrong_block(message: Message) -> None:
    change(message, lambda blocks: blocks[0].update(id="other"))


def nested_reference(message: Message) -> None:
    change(message, lambda blocks: blocks.__setitem__(0, {"id": "b", "ref": str(new_id())}))


def twice(message: Message) -> None:
    change(message, lambda blocks: blocks.append(blocks[0]))


def no_blocks(message: Message) -> None:
    MessagePart.objects.filter(pk=first_part(message).pk).update(content={"something": "else"})


def unknown_reference(message: Message) -> None:
    content = Message.objects.values_list("content", flat=True).get(pk=message.pk)
    content["blocks"][1]["ref"] = "no id at all"
    Message.objects.filter(pk=message.pk).update(content=content)


def no_model(message: Message) -> None:
    Message.objects.filter(pk=message.pk).update(content=[])


DAMAGE = [missing_part, foreign_part, wrong_block, nested_reference, twice, no_blocks, unknown_reference, no_model]


@pytest.mark.parametrize("damage", DAMAGE)
def test_reading_damaged_content(message: Message, damage: Callable[[Message], None], caplog: Any) -> None:
    damage(message)
    for read in (
        read_content,
        lambda message: read_contents([message]),
        lambda message: read_blocks(message, ["b"]),
        block_page,
    ):
        caplog.clear()
        with caplog.at_level(logging.ERROR), pytest.raises(StorageError, match=str(message.pk)) as failed:
            read(message)
        assert not isinstance(failed.value, Refusal)
        assert str(message.pk) in caplog.text


@pytest.mark.parametrize("damage", DAMAGE)
def test_changing_a_damaged_block(message: Message, damage: Callable[[Message], None]) -> None:
    damage(message)
    with limits(**SMALL), pytest.raises(StorageError, match=str(message.pk)):
        apply(message, op="append", mask="block.content", block={"id": "b", "content": "x"})
    message.refresh_from_db(fields=["revision"])
    assert message.revision == 0


@pytest.mark.parametrize("damage", [missing_part, wrong_block])
def test_the_rest_of_the_message_is_still_there(message: Message, damage: Callable[[Message], None]) -> None:
    damage(message)
    assert read_blocks(message, ["a", "d"]) == [text("a", 120), text("d", 120)]


@pytest.mark.parametrize("damage", DAMAGE)
def test_replacing_the_content_mends_the_message(message: Message, damage: Callable[[Message], None]) -> None:
    damage(message)
    with limits(**SMALL):
        replace(message, model(text("b", 60), text("e", 60)))
        assert read_content(message) == model(text("b", 60), text("e", 60))
        held = sorted(block for ids in parts(message).values() for block in ids)
        assert held == [block for block, part in places(message).items() if part]


def test_a_lone_block_whose_part_is_lost_is_not_written_into_nothing(message: Message) -> None:
    with limits(**SMALL):
        replace(message, model(text("a", 120), text("d", 120)))
        MessagePart.objects.filter(message_id=message.pk).delete()
        with pytest.raises(StorageError):
            apply(message, op="set", block=text("d", 100))
