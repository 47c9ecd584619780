"""Lists take the same number of statements for one row and for many."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connection, transaction

from conversations.actions.memberships import begin_memberships, end_memberships
from conversations.ids import new_id
from conversations.locking import lock_scope
from conversations.models import Member, Membership, Scope
from conversations.queries.conversations import listed_scopes, render_conversations
from conversations.queries.directory import find_by_name
from conversations.queries.sidebar import joined_conversations
from tests import verbs
from tests.world import World


@contextmanager
def statements() -> Iterator[list[str]]:
    ran: list[str] = []

    def note(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        ran.append(sql)
        return execute(sql, params, many, context)

    with connection.execute_wrapper(note):
        yield ran


def count(work: Callable[[], Any]) -> int:
    with statements() as ran:
        work()
    return len(ran)


@pytest.fixture
def world() -> World:
    world = World("ann", "ben", "cat")
    world.channel("x", "ann", "ben")
    world.dm("d", "ann", "ben")
    root = verbs.post(world, "ann", "x")
    verbs.thread(world, "ann", root, "t")
    verbs.post(world, "ann", "t")
    return world


def more(world: World, times: int) -> None:
    for n in range(times):
        world.channel(f"x{n}", "ann", "ben")
        root = verbs.post(world, "ann", f"x{n}")
        verbs.thread(world, "ann", root, f"t{n}")
        world.add(f"extra{n}")
        world.dm(f"d{n}", "ann", f"extra{n}")
        verbs.post(world, "ann", f"d{n}")


def test_lists_cost_the_same_for_few_and_for_many(world: World) -> None:
    ann = world.member["ann"]

    def sidebar() -> list[Any]:
        return render_conversations(ann, [row.scope for row in joined_conversations(ann).joined])

    def listed() -> list[Any]:
        return render_conversations(ann, list(listed_scopes(ann)))

    def directory() -> Any:
        return find_by_name(ann, "")

    few = [count(work) for work in (sidebar, listed, directory)]
    more(world, 12)
    assert [count(work) for work in (sidebar, listed, directory)] == few
    assert len(sidebar()) == 3 + 36
    assert few[0] <= 9


def test_nothing_is_counted_to_show_a_conversation(world: World) -> None:
    with statements() as ran:
        render_conversations(world.member["ann"], list(listed_scopes(world.member["ann"])))
    assert not [sql for sql in ran if "COUNT(" in sql.upper() or "MAX(" in sql.upper()]


def test_a_roster_begins_in_the_same_number_of_statements_for_one_and_for_many(world: World) -> None:
    people = [f"p{n}" for n in range(30)]
    world.add(*people)
    members = [world.member[name] for name in people]

    def begin(some: list[Any], name: str) -> None:
        scope = world.channel(name, "ann")
        with transaction.atomic(), statements() as ran:
            facts = begin_memberships(lock_scope(world.id, scope.id), some)
        assert [fact.roster_generation for fact in facts] == [2 + n for n in range(len(some))]
        seen.append(len(ran))

    seen: list[int] = []
    begin(members[:1], "one")
    begin(members, "many")
    assert seen[0] == seen[1]


def test_the_sidebar_puts_unread_first_then_the_newest_and_says_whether_it_is_all(world: World) -> None:
    more(world, 3)
    verbs.archive(world, "ann", "x2")
    ann = world.member["ann"]
    names = {scope.id: name for name, scope in world.scope.items()}
    everything = joined_conversations(ann)
    assert everything.complete
    assert len(everything.joined) == Membership.objects.filter(member=ann, status="active").count()
    assert [names[row.scope.id] for row in everything.joined][:2] == ["d2", "t2"]
    assert names[everything.joined[-1].scope.id] == "x2"
    some = joined_conversations(ann, limit=2, first=[world.scope["x"].id])
    assert not some.complete
    assert names[some.joined[0].scope.id] == "x"
    assert len(some.joined) == 2
    assert joined_conversations(world.member["cat"]).joined == []


def test_places_end_together(world: World) -> None:
    scopes = [world.channel(f"y{n}", "ben") for n in range(3)]
    with transaction.atomic():
        locked = [lock_scope(world.id, scope.id) for scope in scopes]
        facts = end_memberships(locked, world.member["ben"])
    assert [fact.scope_id for fact in facts] == [scope.id for scope in scopes]
    assert {Scope.objects.get(id=scope.id).roster_generation for scope in scopes} == {2}
    assert not begin_nobody(world)


def begin_nobody(world: World) -> list[Any]:
    """A member without a row is passed over like a deactivated one."""
    ghost = Member(id=new_id(), workspace=world.workspace, actor_key="ghost")
    with transaction.atomic():
        return begin_memberships(lock_scope(world.id, world.scope["x"].id), [ghost])
