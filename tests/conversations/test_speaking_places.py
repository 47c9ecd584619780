"""Who may speak where, for every kind of conversation; and where an agent's inner work is shown."""

from __future__ import annotations

import pytest

from conversations.ids import new_id
from conversations.models import Scope
from conversations.models.scope import ScopeType, Visibility
from tests.verbs import leave, post, thread
from tests.world import World

WHO = ("ann", "ben", "cat", "bot", "spy", "eve")
"""ann: admin and opener; ben: member; cat: of the workspace only; bot: an agent inside; spy: an agent outside."""

PLACES = {
    #            ann  ben  cat  bot  spy  eve
    "public": (201, 201, 409, 201, 409, 404),
    "private": (201, 201, 404, 201, 404, 404),
    "dm": (201, 201, 404, 404, 404, 404),
    "user": (201, 201, 404, 201, 404, 404),
    "inner": (201, 403, 404, 201, 404, 404),
    "thread": (201, 201, 409, 201, 409, 404),
    "private thread": (201, 201, 404, 201, 404, 404),
    "task": (201, 201, 201, 201, 201, 404),
}


@pytest.fixture(scope="module")
def world() -> World:
    made = World("ann", "ben", "cat", agents=("bot", "spy"), strangers=("eve",))
    made.channel("public", "ann", "ben", "bot")
    made.channel("private", "ann", "ben", "bot", private=True)
    made.dm("dm", "ann", "ben")
    made.conversation("user", "ann", "ben", "bot")
    made.scope["inner"] = inner(made, made.scope["user"], "operator", "bot")
    thread(made, "ann", post(made, "ann", "public"), "thread")
    thread(made, "ann", post(made, "ann", "private"), "private thread")
    made.scope["task"] = Scope.objects.create(
        id=new_id(),
        workspace=made.workspace,
        type=ScopeType.TASK,
        name="task",
        created_by=made.member["ann"],
        visibility=Visibility.PUBLIC,
    )
    return made


def inner(world: World, parent: Scope, kind: str, key: str) -> Scope:
    return Scope.objects.create(
        id=new_id(),
        workspace=world.workspace,
        type=ScopeType.CONVERSATION,
        parent_scope=parent,
        actor_kind=kind,
        actor_key=key,
        created_by=world.member["ann"],
    )


@pytest.mark.parametrize(
    ("place", "who", "status"),
    [(place, who, status) for place, row in PLACES.items() for who, status in zip(WHO, row, strict=True)],
)
def test_who_may_speak_where(world: World, place: str, who: str, status: int) -> None:
    path = f"/conversations/{world.scope[place].id}/messages"
    assert world.call(who, "POST", path, {"text": "hello"}).status == status
    seen = status not in (404,)
    assert (world.call(who, "GET", path).status == 200) == seen


def test_leaving_the_parent_silences_one_in_its_threads() -> None:
    world = World("ann", "ben")
    world.channel("x", "ann", "ben")
    thread(world, "ben", post(world, "ann", "x"), "t")
    leave(world, "ben", "x")
    assert world.call("ben", "POST", f"/conversations/{world.scope['t'].id}/messages", {"text": "a"}).status == 409


def test_the_inner_conversation_is_the_targets_for_people_and_the_speakers_for_agents() -> None:
    world = World("ann", agents=("bot", "spy"))
    world.conversation("c", "ann", "bot", "spy")
    of_bot = inner(world, world.scope["c"], "operator", "bot")
    of_role = inner(world, world.scope["c"], "operator", "bot/writer")

    def shown(who: str, **said: object) -> str | None:
        message = post(world, who, "c", **said)
        return world.call("ann", "GET", f"/messages/{message.id}")["process_conversation_id"]

    assert shown("ann") is None
    assert shown("ann", target=("operator", "bot")) == str(of_bot.id)
    assert shown("ann", target=("operator", "bot/writer")) == str(of_role.id)
    assert shown("bot") == str(of_bot.id)
    assert shown("bot", actor=("operator", "bot/writer")) == str(of_role.id)
    assert shown("bot", actor=("operator", "bot/reader")) == str(of_bot.id), "a role without one of its own"
    assert shown("spy", target=("operator", "bot")) is None, "the speaker's, not the target's"
    made = shown("ann", target=("operator", "spy"))
    assert made not in (None, str(of_bot.id), str(of_role.id))
    assert shown("spy") == made
