"""Losing access ends a feed, before anything that was said later is told."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from django.contrib.auth import get_user_model
from django.utils import timezone

from conversations.actions.workspace_members import deactivate_member
from conversations.delivery.memory import InProcessBridge
from conversations.delivery.switchboard import SWEEP_S
from conversations.models import ApiToken
from conversations.models.scope import Visibility
from tests.conversations.content.rows import Statements
from tests.conversations.streams.answers import begin, emit, opened
from tests.conversations.streams.answers import stage as cast_of_answers
from tests.verbs import join, leave, post, publicise, rename, thread
from tests.world import World

from .stage import Stage, Watcher


@pytest.fixture
def world() -> World:
    made = cast_of_answers()
    made.channel("p", "ann", "ben", "bot", private=True)
    return made


@pytest.fixture
def stage(world: World) -> Iterator[Stage]:
    with Stage(world, InProcessBridge()) as made:
        yield made


LOSSES: dict[str, Callable[[World], object]] = {
    "removed": lambda world: leave(world, "ben", "p", by="ann"),
    "left": lambda world: leave(world, "ben", "p"),
    "deactivated": lambda world: deactivate_member(
        user=world.user["ann"], workspace_id=world.id, member_id=world.member["ben"].id
    ),
}


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("scope", ["p", "t"])
def test_whoever_loses_access_hears_nothing_more(stage: Stage, world: World, name: str, scope: str) -> None:
    root = post(world, "ann", "p")
    thread(world, "ann", root, "t")
    answer = opened(world, scope=scope)
    gone, stays = stage.watch("ben", scope), stage.watch("ann", scope)
    LOSSES[name](world)
    said = post(world, "ann", scope, "between us")
    emit(world, answer, begin(1, text="secret"))
    stage.settle()
    assert gone.closed
    assert str(said.id) not in gone.models
    assert gone.text(answer) == ""
    assert (stays.closed, stays.text(said), stays.text(answer)) == (False, "between us", "secret")


def test_a_channel_made_private_ends_the_feeds_of_outsiders(stage: Stage, world: World) -> None:
    outsider, member = stage.watch("cat", "x"), stage.watch("ben", "x")
    publicise(world, "ann", "x", Visibility.PRIVATE)
    post(world, "ann", "x")
    stage.settle()
    assert (outsider.closed, outsider.order) == (True, [])
    assert (member.closed, len(member.order)) == (False, 2)


def test_what_takes_no_access_ends_nothing(stage: Stage, world: World) -> None:
    pages = [stage.watch(who, "x") for who in ("ann", "ben", "cat")]
    leave(world, "ben", "x")
    join(world, "cat", "x")
    rename(world, "ann", "x", "other")
    leave(world, "ben", "p")
    stage.settle()
    assert not any(page.closed for page in pages)


def test_an_access_lost_while_the_feed_was_opened(stage: Stage, world: World) -> None:
    """Admitted, then removed, then entered: no fact will tell it."""
    page = Watcher(stage.hub, world, "ben", world.scope["p"])
    stage._unsubscribe()
    leave(world, "ben", "p", by="ann")
    stage.watchers.append(page)
    stage.settle()
    assert page.closed


LOGINS: dict[str, Callable[[World], object]] = {
    "revoked": lambda world: ApiToken.objects.filter(user=world.user["ben"]).update(revoked_at=timezone.now()),
    "disabled": lambda world: get_user_model().objects.filter(pk=world.user["ben"].pk).update(is_active=False),
}


@pytest.mark.parametrize("name", LOGINS)
def test_a_login_that_ended_is_found_by_the_sweep(stage: Stage, world: World, name: str) -> None:
    gone, stays = stage.watch("ben"), stage.watch("ann")
    LOGINS[name](world)
    stage.later(SWEEP_S / 2)
    assert not gone.closed
    stage.later(SWEEP_S)
    assert (gone.closed, stays.closed) == (True, False)


def test_the_sweep_costs_the_same_for_many(stage: Stage, world: World) -> None:
    def cost() -> int:
        with Statements() as done:
            stage.later(SWEEP_S + 1)
        return len(done.sql)

    stage.watch("ben", "p")
    one = cost()
    for who in ("ann", "ben", "bot"):
        for scope in ("x", "p"):
            stage.watch(who, scope)
    assert cost() == one <= 5


def test_a_lost_workspace_ends_its_feeds_alone(stage: Stage, world: World) -> None:
    other = cast_of_answers()
    here = stage.watch()
    there = Watcher(stage.hub, other, "ann", other.scope["x"])
    stage.watchers.append(there)
    stage.settle()
    stage.hub.lost(world.id, 1)
    stage.settle()
    assert (here.closed, there.closed) == (True, False)
