"""Cards are found by their deadlines, however many messages their workspace has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from conversations.actions.card_ends import time_out_due
from conversations.ids import new_id
from conversations.models import Message
from conversations.queries.cards import cards_to_answer
from tests.conversations.test_page_plans import EMPTY, MANY, _rows_read
from tests.world import World

from .desk import asked, stage

SEARCHES: dict[str, Callable[[World], Any]] = {
    "those to answer": lambda world: cards_to_answer(world.member["ben"], None, 51),
    "the next page": lambda world: cards_to_answer(world.member["ben"], (timezone.now(), new_id()), 51),
    "those that are due": lambda world: time_out_due([world.id], 100),
}


@pytest.fixture(scope="module")
def world() -> World:
    made = stage()
    author, now = made.member["ann"], timezone.now()
    Message.objects.bulk_create(
        (
            Message(
                id=new_id(),
                scope=made.scope["c"],
                seq=seq,
                author=author,
                notify_principal=author,
                actor_kind="user",
                actor_key="ann",
                content=EMPTY,
                created_at=now,
                updated_at=now,
            )
            for seq in range(1, MANY + 1)
        ),
        batch_size=500,
    )
    type(made.scope["c"]).objects.filter(id=made.scope["c"].id).update(latest_seq=MANY)
    for n in range(3):
        asked(made, effect_key=str(n), timeout_s=600)
    if connection.vendor == "mysql":
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE TABLE messages")
            cursor.fetchall()
    return made


@pytest.mark.parametrize("name", SEARCHES)
def test_only_cards_are_read(world: World, name: str, on_mariadb: None) -> None:
    before = _rows_read()
    SEARCHES[name](world)
    after = _rows_read()
    read = {counter: after[counter] - before[counter] for counter in after}
    assert sum(read.values()) < 500, read


@pytest.mark.parametrize("name", SEARCHES)
def test_the_index_of_deadlines_leads(world: World, name: str) -> None:
    if connection.vendor != "sqlite":
        pytest.skip("on MariaDB the rows read are counted instead")
    with CaptureQueriesContext(connection) as queries:
        SEARCHES[name](world)
    [query] = list(queries)
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN QUERY PLAN {query['sql']}")
        plan = [str(row[-1]) for row in cursor.fetchall()]
    [messages] = [line for line in plan if " messages " in line]
    assert "human_due_at" in messages
    assert not any("SCAN" in line or "TEMP B-TREE FOR ORDER BY" in line for line in plan), plan
