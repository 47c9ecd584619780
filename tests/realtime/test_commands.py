"""What a client may say over a socket, and what it hears otherwise."""

from __future__ import annotations

import json
from uuid import UUID

import pytest

from realtime.commands import BURST, COMMANDS_PER_SECOND, Allowance, BadCommand, Ping, Read, Resync, parse

ONE, TWO = UUID(int=1), UUID(int=2)


def test_the_three_commands() -> None:
    assert parse('{"type": "ping"}') == Ping()
    assert parse('{"type": "unread.resync", "more": 1}') == Resync()
    read = json.dumps({"type": "read", "conversation_id": str(ONE), "message_id": str(TWO)})
    assert parse(read) == Read(ONE, TWO)


@pytest.mark.parametrize(
    "text",
    [
        None,
        "",
        "ping",
        "[]",
        "{}",
        '{"type": 1}',
        '{"type": "typing"}',
        '{"type": "read"}',
        '{"type": "read", "conversation_id": 3, "message_id": 4}',
        '{"type": "read", "conversation_id": "x", "message_id": "y"}',
        '{"type": "ping", "pad": "' + "x" * 5000 + '"}',
    ],
)
def test_anything_else_is_refused_with_a_reason(text: str | None) -> None:
    with pytest.raises(BadCommand) as refused:
        parse(text)
    assert len(str(refused.value)) > 10


def test_an_allowance_ends_and_refills() -> None:
    now = 100.0
    allowance = Allowance(lambda: now)
    taken = 0
    while allowance.take():
        taken += 1
    assert taken == int(BURST)
    now += 1 / COMMANDS_PER_SECOND + 0.001
    assert allowance.take()
    assert not allowance.take()
    now += 3600
    assert sum(allowance.take() for _ in range(1000)) == int(BURST)
