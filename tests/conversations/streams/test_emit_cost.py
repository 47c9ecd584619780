"""An event costs the same in a message of 5 MB as in a small one, in statements and in bytes."""

from __future__ import annotations

import pytest
from django.db import connection

from tests.conversations.content.rows import EMPTY, Statements, text
from tests.conversations.content.test_cost import Traffic, traffic
from tests.verbs import post
from tests.world import World

from .answers import emit, end, more, stage

__all__ = ["traffic"]
SMALL, LARGE, BLOCK_BYTES = 6, 106, 50_000
"""One block stays inline and five fill a part, so both end in a part that is as full."""
EVENTS = {
    "append": more(1, " word", "last"),
    "set": {"op": "set", "seq": 1, "block": {"id": "new", "type": "text", "content": "x"}},
    "meta": {"op": "set", "seq": 1, "mask": "meta.stage", "meta": {"stage": "x"}},
    "ping": {"op": "ping", "seq": 0},
    "end": end(1),
}


@pytest.fixture(scope="module")
def world() -> World:
    return stage()


def answer_of(world: World, blocks: int) -> object:
    """An open message of that many blocks, the last one short."""
    listed = [text(f"b{at}", BLOCK_BYTES) for at in range(blocks)]
    return post(world, "bot", "x", content={**EMPTY, "blocks": [*listed, text("last", 1000)]}, stream=True)


@pytest.mark.parametrize("name", EVENTS)
def test_the_size_of_the_message_does_not_count(world: World, name: str, traffic: Traffic) -> None:
    costs = []
    for blocks in (SMALL, LARGE):
        answer = answer_of(world, blocks)
        traffic.read_bytes = traffic.written_bytes = 0
        with Statements() as done:
            emit(world, answer, EVENTS[name])  # type: ignore[arg-type]
        costs.append(([sql.split()[0] for sql in done.sql], traffic.read_bytes, traffic.written_bytes))
    (few, read, written), (many, much_read, much_written) = costs
    directory_bytes = 80 * (LARGE - SMALL)
    assert many == few
    assert len(many) <= 12
    assert much_read <= read + directory_bytes < 400_000
    assert much_written <= written + directory_bytes < 400_000


def test_sizes_are_summed_from_an_index(world: World) -> None:
    """In a row the size lies behind the content, which some databases have to walk through."""
    if connection.vendor != "sqlite":
        pytest.skip("plans are read from SQLite here")
    answer = answer_of(world, SMALL)
    with Statements() as done:
        emit(world, answer, EVENTS["append"])  # type: ignore[arg-type]
    (sum_of_sizes,) = [sql for sql in done.sql if "SUM" in sql]
    with connection.cursor() as cursor:
        cursor.execute("EXPLAIN QUERY PLAN " + sum_of_sizes.replace("%s", "1"))
        plan = " ".join(str(each[-1]) for each in cursor.fetchall())
    assert "COVERING INDEX message_parts_sizes_idx" in plan
