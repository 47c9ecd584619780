"""Rosters under concurrent writers with connections of their own, on whatever database the run has."""

from __future__ import annotations

import random
import threading
from collections import defaultdict
from typing import Any

import pytest
from django.db import transaction

from conversations import publish
from conversations.actions import joining, workspace_members
from conversations.actions.memberships import join_thread_members
from conversations.actions.scopes import create_channel, open_dm
from conversations.actions.threads import open_thread
from conversations.actions.workspace_members import update_member
from conversations.errors import Conflict, NotFound, Refusal
from conversations.events import Fact, MembershipChanged, ScopeStateChanged
from conversations.locking import lock_scope
from conversations.models import Member, Membership, Scope
from conversations.models.workspace import MemberStatus, Role
from tests import verbs
from tests.world import World, facts_of

from .projection import Rosters
from .racing import race

PEOPLE = ("ann", "ben", "cat", "dan", "eve", "fay")


@pytest.fixture
def world() -> World:
    return World(*PEOPLE)


def unexpected(results: list[Any]) -> list[Any]:
    return [result for result in results if isinstance(result, Exception) and not isinstance(result, Refusal)]


def flat(batches: list[tuple[Fact, ...]]) -> list[Fact]:
    return [fact for batch in batches for fact in batch]


def test_a_dm_opened_by_both_at_once_is_one(world: World) -> None:
    ids = {name: world.member[name].id for name in PEOPLE}
    calls = [
        lambda who=who, to=to: open_dm(user=world.user[who], workspace_id=world.id, member_ids=[ids[to]])
        for who, to in [("ann", "ben"), ("ben", "ann")] * 4
    ]
    with facts_of(world) as batches:
        results = race(calls)
    assert not unexpected(results)
    assert len({scope.id for scope, _ in results}) == 1
    assert sum(new for _, new in results) == 1
    assert [f.roster_generation for f in flat(batches) if isinstance(f, MembershipChanged)] == [1, 2]


def test_a_channel_name_taken_by_many_at_once_is_taken_once(world: World) -> None:
    results = race(
        lambda who=who: create_channel(user=world.user[who], workspace_id=world.id, name="Launch") for who in PEOPLE
    )
    assert sum(isinstance(result, Scope) for result in results) == 1
    assert sum(isinstance(result, Conflict) for result in results) == len(PEOPLE) - 1


def test_a_thread_opened_by_many_at_once_is_one(world: World) -> None:
    world.channel("x", *PEOPLE)
    root = verbs.post(world, "ann", "x")
    results = race(lambda who=who: open_thread(user=world.user[who], message_id=root.id) for who in PEOPLE)
    assert not unexpected(results)
    assert len({thread.id for thread, _ in results}) == 1
    assert sum(new for _, new in results) == 1
    assert Scope.objects.filter(root_message_id=root.id).count() == 1


def test_a_storm_of_joins_and_leaves_keeps_generations_contiguous(world: World) -> None:
    """And what listeners heard, in whatever order, is what the rows hold."""
    world.channel("x", "ann", "ben", "cat")
    thread = verbs.thread(world, "ann", verbs.post(world, "ben", "x"), "t")
    before = Rosters.fresh(world.id)

    def live(who: str) -> None:
        rng = random.Random(who)
        for _ in range(12):
            move = rng.choice(["join", "leave", "thread", "archive", "restore"])
            try:
                if move == "join":
                    verbs.join(world, who, "x")
                elif move == "leave":
                    verbs.leave(world, who, "x")
                elif move == "thread":
                    verbs.join(world, who, "t")
                elif who == "ann":
                    {"archive": verbs.archive, "restore": verbs.restore}[move](world, who, rng.choice("xt"))
            except Refusal:
                pass

    with facts_of(world) as batches:
        results = race(lambda who=who: live(who) for who in PEOPLE)
    assert not unexpected(results)
    facts = flat(batches)
    random.Random(1).shuffle(facts)
    assert before.apply([*facts, *facts]).same_as(Rosters.fresh(world.id))
    by_scope: defaultdict[Any, list[int]] = defaultdict(list)
    for fact in facts:
        if isinstance(fact, (MembershipChanged, ScopeStateChanged)):
            by_scope[fact.scope_id].append(fact.roster_generation)
    for scope_id, generations in by_scope.items():
        end = Scope.objects.get(id=scope_id).roster_generation
        assert sorted(generations) == list(range(end - len(generations) + 1, end + 1))
    assert not _in_thread_without_channel(world, thread)


def test_writing_in_a_thread_while_leaving_its_channel_leaves_nobody_behind(world: World) -> None:
    world.channel("x", *PEOPLE)
    thread = verbs.thread(world, "ann", verbs.post(world, "ann", "x"), "t")
    calls = [lambda who=who: verbs.post(world, who, "t") for who in PEOPLE[1:]]
    calls += [lambda who=who: verbs.leave(world, who, "x") for who in PEOPLE[1:]]
    results = race(calls)
    assert not unexpected(results)
    assert not _in_thread_without_channel(world, thread)


def test_leaving_waits_for_a_thread_that_is_being_joined(
    world: World, on_mariadb: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Staged: the joiner has looked at the place in the channel and has not committed when the other one leaves."""
    world.channel("x", "ann", "ben")
    thread = verbs.thread(world, "ann", verbs.post(world, "ann", "x"), "t")
    joining_now, looked, looked_again = threading.Event(), threading.Event(), threading.Event()
    look = joining._threads_with

    def looking(*args: Any) -> set[Any]:
        (looked_again if looked.is_set() else looked).set()
        return look(*args)

    monkeypatch.setattr(joining, "_threads_with", looking)

    def join_slowly() -> None:
        with transaction.atomic():
            locked = lock_scope(world.id, thread.id)
            publish.publish_on_commit(join_thread_members(locked, [world.member["ben"]], 1))
            joining_now.set()
            assert looked.wait(30)
            assert not looked_again.wait(0.5), "the place in the channel ended under the joiner"

    def leave() -> bool:
        assert joining_now.wait(30)
        return verbs.leave(world, "ben", "x")

    assert race([join_slowly, leave]) == [None, True]
    assert not _in_thread_without_channel(world, thread)


def test_joining_while_being_deactivated_leaves_no_place_behind(world: World) -> None:
    for name in "abcd":
        world.channel(name, "ann")

    def join_all() -> None:
        for name in "abcd":
            try:
                verbs.join(world, "ben", name)
            except (NotFound, Conflict):
                return

    def deactivate() -> None:
        workspace_members.deactivate_member(
            user=world.user["ann"], workspace_id=world.id, member_id=world.member["ben"].id
        )

    results = race([join_all, deactivate, join_all])
    assert not unexpected(results)
    assert not Membership.objects.filter(member=world.member["ben"], status="active").exists()


def test_two_admins_who_demote_each_other_leave_one(world: World) -> None:
    Member.objects.filter(id=world.member["ben"].id).update(role=Role.ADMIN)

    def demote(by: str, whom: str, **change: Any) -> Member:
        return update_member(user=world.user[by], workspace_id=world.id, member_id=world.member[whom].id, **change)

    results = race(
        [
            lambda: demote("ann", "ben", role=Role.MEMBER),
            lambda: demote("ben", "ann", status=MemberStatus.DEACTIVATED),
        ]
    )
    assert not unexpected(results)
    admins = Member.objects.filter(workspace=world.workspace, role=Role.ADMIN, status=MemberStatus.ACTIVE)
    assert admins.count() == 1


def test_joining_gives_up_where_threads_are_joined_without_end(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.channel("x", "ann", "ben")
    monkeypatch.setattr(joining, "_end", lambda *_: None)
    with pytest.raises(Conflict):
        verbs.leave(world, "ben", "x")


def _in_thread_without_channel(world: World, thread: Scope) -> list[Membership]:
    inside = set(Membership.objects.filter(scope=thread.parent_scope_id, status="active").values_list("member_id"))
    return [row for row in Membership.objects.filter(scope=thread, status="active") if (row.member_id,) not in inside]
