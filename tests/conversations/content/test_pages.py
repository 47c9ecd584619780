"""Pages of blocks: by logical position, of one revision."""

from __future__ import annotations

import pytest

from conversations.content.pages import BlockCursor, block_page
from conversations.errors import Conflict, InvalidRequest, NotFound
from conversations.models import Message

from .rows import EMPTY, Desk, Statements, apply, limits, model, text

LAYOUTS = [
    {"inline_blocks": 1, "inline_bytes": 1, "part_bytes": 1},
    {"inline_blocks": 3, "inline_bytes": 400, "part_bytes": 300},
    {"inline_blocks": 100, "inline_bytes": 100_000, "part_bytes": 1000},
]


@pytest.fixture
def desk() -> Desk:
    return Desk()


def pages(message: Message, limit: int) -> list[list[dict[str, object]]]:
    found, cursor = [], None
    while True:
        page = block_page(message, cursor, limit)
        found.append(page.blocks)
        if page.next is None:
            return found
        cursor = BlockCursor.parse(str(page.next))


@pytest.mark.parametrize("sizes", LAYOUTS, ids=["parts", "mixed", "inline"])
@pytest.mark.parametrize("limit", [1, 3, 10, 200])
def test_pages_do_not_depend_on_the_layout(desk: Desk, sizes: dict[str, int], limit: int) -> None:
    blocks = [text(f"b{at}", 60 + 7 * at) for at in range(10)]
    with limits(**sizes):
        message = desk.create(model(*blocks))
        assert pages(message, limit) == [blocks[at : at + limit] for at in range(0, 10, limit)]


def test_a_page_takes_at_most_three_statements(desk: Desk) -> None:
    with limits(**LAYOUTS[0]):
        message = desk.create(model(*(text(f"b{at}", 60) for at in range(50))))
        for limit in (2, 50):
            with Statements() as done:
                block_page(message, None, limit)
            assert done.count() == 3


def test_another_revision_is_a_conflict(desk: Desk) -> None:
    with limits(**LAYOUTS[1]):
        message = desk.create(model(*(text(f"b{at}", 60) for at in range(10))))
        first = block_page(message, None, 4)
        apply(message, op="append", mask="block.content", block={"id": "b9", "content": "more"})
        with pytest.raises(Conflict) as refused:
            block_page(message, first.next, 4)
    assert refused.value.fields == {"revision": 1}
    assert block_page(message, None, 4).revision == 1


def test_nothing_to_page(desk: Desk) -> None:
    message = desk.create(EMPTY)
    page = block_page(message)
    assert (page.blocks, page.next) == ([], None)
    assert block_page(message, BlockCursor(0, 99)).blocks == []


@pytest.mark.parametrize(
    "cursor", ["", "1", "1.", ".1", "a.b", "-1.2", "1.2.3", "1.٣", "9" * 30 + ".1", " 1.2", "1.2\n"]
)
def test_a_cursor_that_no_page_returned(cursor: str) -> None:
    with pytest.raises(InvalidRequest):
        BlockCursor.parse(cursor)


@pytest.mark.parametrize("limit", [0, -1, 201])
def test_the_limit_of_a_page(desk: Desk, limit: int) -> None:
    with pytest.raises(InvalidRequest):
        block_page(desk.create(EMPTY), None, limit)


def test_a_message_that_is_gone(desk: Desk) -> None:
    message = desk.create(EMPTY)
    Message.objects.filter(pk=message.pk).delete()
    with pytest.raises(NotFound):
        block_page(message)
