"""Pages are found by a seek, however long a conversation is and however much happened elsewhere since."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from conversations.access import ScopeAccess, see_scope
from conversations.actions import marking_unread
from conversations.ids import new_id
from conversations.models import Message, Scope
from conversations.queries.cursors import first_after, last_up_to
from conversations.queries.timeline import history
from tests.world import World

MANY = 5000
EMPTY = {"version": "1.1", "biz": "chat", "meta": {}, "blocks": []}


@pytest.fixture(scope="module")
def access() -> ScopeAccess:
    """A conversation of `MANY` messages, then another one with as many and later ones."""
    world = World("ann")
    for name in ("x", "y"):
        world.channel(name, "ann")
        _fill(world, name)
    if connection.vendor == "mysql":
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE TABLE messages")
            cursor.fetchall()
    Scope.objects.filter(workspace=world.workspace).update(latest_seq=MANY)
    return see_scope(world.user["ann"], world.scope["x"].id)


def _fill(world: World, name: str) -> None:
    author, now = world.member["ann"], timezone.now()
    Message.objects.bulk_create(
        (
            Message(
                id=new_id(),
                scope=world.scope[name],
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


PAGES: dict[str, Callable[[ScopeAccess, Message], Any]] = {
    "newest": lambda access, middle: history(access),
    "before": lambda access, middle: history(access, before=middle.id),
    "after": lambda access, middle: history(access, after=middle.id),
    "around": lambda access, middle: history(access, around=middle.id),
    "rows to be marked unread": lambda access, middle: marking_unread._rows_from(access.scope, MANY - 20),
    "previous message": lambda access, middle: last_up_to(access.scope.id, middle.seq),
    "next message": lambda access, middle: first_after(access.scope.id, middle.seq),
}


def _rows_read() -> dict[str, int]:
    """What this connection has read so far; reading it costs a few rows of its own."""
    with connection.cursor() as cursor:
        cursor.execute("SHOW SESSION STATUS LIKE 'Handler_%'")
        counters = {row[0]: int(row[1]) for row in cursor.fetchall()}
    return {name: n for name, n in counters.items() if name.startswith(("Handler_read", "Handler_icp_attempts"))}


@pytest.mark.parametrize("name", PAGES)
def test_a_page_reads_its_own_rows_only(access: ScopeAccess, name: str, on_mariadb: None) -> None:
    middle = Message.objects.get(scope=access.scope, seq=MANY // 2)
    before = _rows_read()
    PAGES[name](access, middle)
    after = _rows_read()
    read = {counter: after[counter] - before[counter] for counter in after}
    assert sum(read.values()) < 500, read


@pytest.mark.parametrize("name", PAGES)
def test_a_page_has_no_sort_and_no_scan(access: ScopeAccess, name: str) -> None:
    if connection.vendor != "sqlite":
        pytest.skip("on MariaDB the rows read are counted instead")
    middle = Message.objects.get(scope=access.scope, seq=MANY // 2)
    with CaptureQueriesContext(connection) as queries:
        PAGES[name](access, middle)
    for query in list(queries):
        with connection.cursor() as cursor:
            cursor.execute(f"EXPLAIN QUERY PLAN {query['sql']}")
            plan = " ".join(str(row[-1]) for row in cursor.fetchall())
        assert "SCAN" not in plan
        assert "TEMP B-TREE" not in plan
