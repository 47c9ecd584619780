"""Who hears live news is who may see the scope, for every kind of scope."""

from __future__ import annotations

import pytest

from conversations.access import see_scope
from conversations.errors import NotFound
from conversations.queries.audience import audiences
from tests.verbs import leave, post, thread
from tests.world import World

PEOPLE = ("ann", "ben", "cat", "dan")


@pytest.fixture(scope="module")
def world() -> World:
    made = World(*PEOPLE)
    made.channel("public", "ann", "ben")
    made.channel("private", "ann", "ben", private=True)
    made.channel("left", "ann", "ben", "cat", private=True)
    leave(made, "ben", "left")
    made.dm("dm", "ann", "ben")
    made.conversation("conversation", "ann", "ben")
    thread(made, "ann", post(made, "ann", "public"), "public thread")
    thread(made, "ann", post(made, "ann", "private"), "private thread")
    return made


@pytest.mark.parametrize("name", ["public", "private", "left", "dm", "conversation", "public thread", "private thread"])
def test_the_audience_is_who_the_gate_lets_see(world: World, name: str) -> None:
    scope, ids = world.scope[name].id, {world.member[who].id for who in PEOPLE}
    found = audiences(world.id, [scope], ids)[scope]
    hears = {who for who in PEOPLE if found is None or world.member[who].id in found}
    assert hears == {who for who in PEOPLE if _sees(world, who, name)}
    assert hears >= {"ann"}


def test_scopes_of_elsewhere_have_no_audience(world: World) -> None:
    assert audiences(World("zoe").id, [world.scope["public"].id], []) == {}


def test_only_those_asked_for_are_named(world: World) -> None:
    scope = world.scope["private"].id
    assert audiences(world.id, [scope], [world.member["ben"].id]) == {scope: frozenset([world.member["ben"].id])}


def _sees(world: World, who: str, name: str) -> bool:
    try:
        see_scope(world.user[who], world.scope[name].id)
    except NotFound:
        return False
    return True
