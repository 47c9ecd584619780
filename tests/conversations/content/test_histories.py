"""For any limits, any content and any events: what the store reads is what the pure reducer makes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conversations.agentue.errors import AgentUEError
from conversations.agentue.events import parse_event
from conversations.agentue.reducer import reduce
from conversations.content.codec import encoded
from conversations.content.pages import block_page
from conversations.content.reading import read_blocks, read_content
from conversations.errors import InvalidRequest
from conversations.models import Message, MessagePart
from tests.conversations.agentue.histories import histories, models

from .rows import Desk, apply, limits, parts, places

sizes = st.fixed_dictionaries(
    {"inline_blocks": st.integers(1, 4), "inline_bytes": st.integers(1, 300), "part_bytes": st.integers(1, 300)}
)


@pytest.fixture(scope="module")
def desk(database: None) -> Desk:
    return Desk()


def code_of(action: Callable[[], Any]) -> str | None:
    """The code of the protocol's refusal, wherever on the way it was found."""
    try:
        action()
    except AgentUEError as refused:
        return refused.code
    except InvalidRequest as refused:
        return str(refused.fields["code"])
    return None


def check_rows(message: Message, sizes: dict[str, int]) -> None:
    referenced = [(part, block) for block, part in places(message).items() if part]
    assert sorted(referenced) == sorted((part, block) for part, blocks in parts(message).items() for block in blocks)
    for part in MessagePart.objects.filter(message_id=message.pk):
        assert len(part.content["blocks"]) == 1 or part.size_bytes <= sizes["part_bytes"]


@settings(max_examples=60, deadline=None)
@given(sizes, models(), histories())
def test_the_store_reads_what_the_reducer_makes(
    desk: Desk, sizes: dict[str, int], content: dict[str, Any], events: list[dict[str, Any]]
) -> None:
    with limits(**sizes):
        message = desk.create(content)
        assert encoded(read_content(message)) == encoded(content)
        expected = content
        for event in events:
            made: list[dict[str, Any]] = []
            refused = code_of(lambda: made.append(reduce(expected, parse_event(event))))  # noqa: B023 - called at once
            assert code_of(lambda: apply(message, **event)) == refused  # noqa: B023 - called at once
            expected = made[0] if made else expected
            assert encoded(read_content(message)) == encoded(expected)
        check_rows(message, sizes)
        blocks = expected["blocks"]
        assert read_blocks(message, [block["id"] for block in blocks[::2]]) == blocks[::2]
        assert block_page(message, None, 200).blocks == blocks
