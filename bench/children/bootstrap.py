"""Everybody's unread at the first paint: from memory, against one exact grouped COUNT on the same database."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from ..databases import open_database

COUNT = """
    SELECT m.scope_id, COUNT(*)
    FROM scope_memberships p
    JOIN messages m ON m.scope_id = p.scope_id AND m.seq > p.last_read_seq AND m.seq >= p.effective_from_seq
    WHERE p.member_id = %s AND p.status = 'active' AND p.visible = 1 AND m.silent = 0
          AND m.message_type <> 'task_dispatch' AND m.author_id <> %s AND m.notify_principal_id <> %s
    GROUP BY m.scope_id
"""
"""The plain count of messages alone, without mentions, activities, levels or markers: what is least to ask for."""


def measure(scopes: int, unread: int, again: int) -> dict[str, Any]:
    """Milliseconds of the product and of the statement, in turns; and what the product's side ran on the database."""
    open_database()
    from django.db import connection

    from tests.unread.guard import no_unread_sql
    from tests.unread.house import House
    from tests.world import World
    from unread.first_paint import first_paint

    world = World("ann", "ben")
    house = House(world, hears=False)
    _fill(world, scopes, unread)
    _take_in(house, world)
    me = type(world.member["ann"]).objects.select_related("workspace", "user").get(id=world.member["ann"].id)

    paint, statements = _unread_of_first_paint(house, me)
    with no_unread_sql():
        _with_runtime(house, lambda: first_paint(me))
    counted = _count(me)
    taken: dict[str, list[float]] = {"product": [], "baseline": []}
    # SQLite counts in this very thread: its processor time says more than the wall clock of a busy machine.
    clock = time.thread_time if connection.vendor == "sqlite" else time.perf_counter
    for _ in range(again):
        for name, step in (("product", paint), ("baseline", lambda: _count(me))):
            before = clock()
            step()
            taken[name].append((clock() - before) * 1e3)
    shown = {scope: badge["messages"] for scope, badge in paint()["counts"].items()}
    if shown != counted or len(shown) != scopes or set(shown.values()) != {unread}:
        raise AssertionError("the product and the statement disagree")
    return {**taken, "statements": statements()}


def _fill(world: Any, scopes: int, unread: int) -> None:
    """`scopes` channels of two with `unread` messages by ben in each, as rows."""
    from conversations.ids import new_id
    from conversations.models import Membership, Message, Scope
    from tests.verbs import post

    now = datetime.now(UTC)
    ann, ben = world.member["ann"], world.member["ben"]
    world.channel("alone", "ben")
    content = Message.objects.get(id=post(world, "ben", "alone", "Is the build green again?").id).content
    for number in range(scopes):
        scope = Scope.objects.create(
            workspace=world.workspace, type="channel", name=f"c{number}", latest_seq=unread, roster_generation=2
        )
        Membership.objects.bulk_create(
            Membership(
                scope=scope,
                member=member,
                effective_from_seq=1,
                last_read_seq=read,
                membership_generation=1,
                read_generation=1,
            )
            for member, read in ((ann, 0), (ben, unread))
        )
        Message.objects.bulk_create(
            Message(
                id=new_id(),
                scope=scope,
                seq=seq,
                author=ben,
                notify_principal=ben,
                actor_kind=ben.actor_kind,
                actor_key=ben.actor_key,
                content=content,
                created_at=now,
                updated_at=now,
            )
            for seq in range(1, unread + 1)
        )
    from django.db import connection

    with connection.cursor() as cursor:  # the baseline has the statistics that a database in use has
        tables = ("messages", "scope_memberships")
        for statement in ("ANALYZE",) if connection.vendor == "sqlite" else [f"ANALYZE TABLE {t}" for t in tables]:
            cursor.execute(statement)
            cursor.fetchall()


def _take_in(house: Any, world: Any) -> None:
    """The runtime hears of every message, as if it had been running all the time."""
    from conversations.models import Message
    from unread.core.events import Counted, MessageStored

    for scope, seq, author in Message.objects.filter(scope__workspace=world.workspace).values_list(
        "scope_id", "seq", "author_id"
    ):
        facts = Counted(author.int, author.int, True)
        house.runtime.apply([MessageStored(world.id.int, scope.int, 0, seq, facts, 0, 0)])
        house.settle()
    house.load_everybody()


def _unread_of_first_paint(house: Any, me: Any) -> tuple[Callable[[], Any], Callable[[], int]]:
    """All that the first paint does for unread; what it reads for its own sake has been read before."""
    from django.db import connection

    from conversations.queries.sidebar import joined_conversations
    from tests.unread.guard import Statements
    from unread.core.ports import ScopeEvidence
    from unread.shapes import member_json

    runtime, workspace, member = house.runtime, me.workspace_id.int, me.id.int
    rows = joined_conversations(me).joined

    def paint() -> Any:
        noted = runtime.member_version(workspace, member)
        runtime.request_hydrate(workspace, member)
        list(runtime.member_unread(workspace, member).counts)
        evidence = [
            ScopeEvidence(
                scope=row.scope.id.int,
                membership_generation=row.membership.membership_generation,
                read_generation=row.membership.read_generation,
                last_read_seq=row.membership.last_read_seq,
                last_activity_read_seq=row.membership.last_activity_read_seq,
                latest_seq=row.scope.latest_seq,
                latest_activity_seq=row.scope.latest_activity_seq,
            )
            for row in rows
        ]
        runtime.observe(workspace, member, noted, evidence, True)
        return member_json(runtime.member_unread(workspace, member))

    def statements() -> int:
        ran = Statements()
        with connection.execute_wrapper(ran):
            paint()
        return len(ran)

    return paint, statements


def _with_runtime(house: Any, step: Callable[[], object]) -> None:
    from tests.unread.house import as_product

    with as_product(house):
        step()


def _count(me: Any) -> dict[str, int]:
    from uuid import UUID

    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(COUNT, [me.id.hex] * 3)
        return {str(UUID(str(scope))): int(count) for scope, count in cursor.fetchall()}
