"""Who is human-visible: one table, asked in Python and in the database."""

from __future__ import annotations

import pytest

from conversations.models import Message
from conversations.models.message import MessageType
from conversations.visibility import human_visible, is_human_visible
from tests.verbs import post
from tests.world import World

CASES = [
    (MessageType.DEFAULT, True),
    (MessageType.SYSTEM, True),
    (MessageType.STICKER, True),
    (MessageType.TASK_DISPATCH, False),
]


def test_the_table_names_every_type() -> None:
    assert {kind for kind, _ in CASES} == set(MessageType)


@pytest.mark.parametrize(("kind", "visible"), CASES)
def test_python_and_the_database_agree(kind: MessageType, visible: bool) -> None:
    world = World("ann")
    world.channel("x", "ann")
    message = post(world, "ann", "x", message_type=kind)
    assert is_human_visible(kind) is visible
    assert Message.objects.filter(human_visible(), id=message.id).exists() is visible
