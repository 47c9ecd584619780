"""Process conversations, and actors that consume a user conversation: at least once, in order, nothing skipped."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from django.db import connections

from conversations.ids import new_id
from conversations.models import ConversationConsumer, Message, Scope
from conversations.models.scope import ScopeType
from tests import verbs as do
from tests.conversations.streams.answers import emit, end
from tests.world import World


def agent(world: World, name: str, role: str = "") -> tuple[str, str]:
    return "operator", world.member[name].actor_key + role


@pytest.fixture
def world() -> World:
    made = World("ann", "ben", "cat", "dan", agents=("bot", "rob"), strangers=("eve",))
    made.conversation("c", "ann", "ben", "cat", "dan", "bot", "rob")
    made.channel("x", "ann", "bot")
    return made


def inner(world: World) -> list[tuple[str | None, str | None]]:
    scopes = Scope.objects.filter(workspace=world.id, type=ScopeType.CONVERSATION, parent_scope__isnull=False)
    return list(scopes.order_by("id").values_list("actor_kind", "actor_key"))


def poll(world: World, who: str = "bot", scope: str = "c", **body: Any) -> Any:
    actor = {"kind": "operator", "key": world.member[who].actor_key}
    return world.call(who, "POST", f"/conversations/{world.scope[scope].id}/poll", {"actor": actor, **body})


def polled(world: World, who: str = "bot", **body: Any) -> list[str]:
    return [item["id"] for item in poll(world, who, **body).ok()["items"]]


def commit(world: World, message: Any, who: str = "bot") -> Any:
    body = {
        "actor": {"kind": "operator", "key": world.member[who].actor_key},
        "message_id": str(getattr(message, "id", message)),
    }
    return world.call(who, "POST", f"/conversations/{world.scope['c'].id}/commit", body)


def test_a_directed_message_makes_one_process_conversation_for_ever(world: World) -> None:
    first = do.post(world, "ann", "c", target=agent(world, "bot"))
    do.post(world, "ben", "c", target=agent(world, "bot"))
    do.post(world, "bot", "c", target=agent(world, "rob"))
    assert inner(world) == [agent(world, "bot"), agent(world, "rob")]
    shown = world.call("ann", "GET", f"/messages/{first.id}").ok()["process_conversation_id"]
    place = world.call("ben", "GET", f"/conversations/{shown}").ok()
    assert (place["type"], place["parent_id"]) == ("conversation", str(world.scope["c"].id))
    assert world.call("eve", "GET", f"/conversations/{shown}").status == 404
    listed = world.call("ann", "GET", "/conversations", workspace_id=world.id).ok()["items"]
    assert shown not in [item["id"] for item in listed]
    below = world.call("ann", "GET", "/conversations", parent_id=world.scope["c"].id).ok()["items"]
    assert shown in [item["id"] for item in below]
    world.scope["p"] = Scope.objects.get(id=shown)
    do.post(world, "bot", "p", target=agent(world, "rob"))
    assert len(inner(world)) == 2


@pytest.mark.parametrize(
    ("scope", "said"),
    [("c", {}), ("c", {"target": ("user", "ben")}), ("x", {"target": ("operator", "somebody")})],
    ids=["a broadcast", "to a person", "in a channel"],
)
def test_what_makes_none(world: World, scope: str, said: dict[str, Any]) -> None:
    do.post(world, "ann", scope, **said)
    assert inner(world) == []
    assert not ConversationConsumer.objects.filter(scope=world.scope[scope]).exists()


def test_a_refused_message_leaves_neither(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken(Exception):
        pass

    def fail(*arguments: Any, **more: Any) -> None:
        raise Broken

    monkeypatch.setattr("conversations.actions.speaking.summary_facts", fail)
    with pytest.raises(Broken):
        do.post(world, "ann", "c", target=agent(world, "bot"))
    assert inner(world) == []
    assert not Message.objects.filter(scope=world.scope["c"]).exists()


@pytest.mark.mariadb
def test_many_at_once_make_one(world: World, on_mariadb: None) -> None:
    start, failed = threading.Barrier(20), list[BaseException]()

    def write(who: str) -> None:
        try:
            start.wait(30)
            for _ in range(5):
                do.post(world, who, "c", target=agent(world, "bot"))
        except BaseException as error:
            failed.append(error)
        finally:
            connections.close_all()

    writers = [threading.Thread(target=write, args=(who,)) for who in ("ann", "ben", "cat", "dan") * 5]
    for each in writers:
        each.start()
    for each in writers:
        each.join(60)
    assert not failed
    assert inner(world) == [agent(world, "bot")]
    last = Message.objects.filter(scope=world.scope["c"]).order_by("-id").first()
    assert last is not None
    assert last.seq == 100
    assert ConversationConsumer.objects.get(scope=world.scope["c"]).end_offset == last.id


def test_a_poll_returns_what_is_for_the_actor_until_it_is_committed(world: World) -> None:
    everybody = do.post(world, "ann", "c")
    mine = do.post(world, "ben", "c", target=agent(world, "bot"))
    do.post(world, "ann", "c", target=agent(world, "rob"))
    do.post(world, "ann", "c", target=agent(world, "bot", "/planner"))
    do.post(world, "bot", "c")
    wanted = [str(everybody.id), str(mine.id)]
    assert polled(world) == wanted
    assert polled(world) == wanted
    assert polled(world, limit=1) == wanted[:1]
    assert polled(world, after=wanted[0]) == wanted[1:]
    assert commit(world, everybody).ok()["committed"] == wanted[0]
    assert polled(world) == wanted[1:]
    assert commit(world, mine).ok()["committed"] == wanted[1]
    assert commit(world, everybody).ok()["committed"] == wanted[1], "it never moves back"
    assert polled(world) == []
    answer = poll(world).ok()
    assert answer["position"] == wanted[1]
    assert answer["process_conversation_id"] is not None
    told = world.call("ann", "GET", f"/conversations/{world.scope['c'].id}/consumers").ok()["items"]
    assert {item["actor"]["key"]: item["committed"] for item in told}[world.member["bot"].actor_key] == wanted[1]


def test_a_poll_ends_before_a_message_that_is_still_written(world: World) -> None:
    first = do.post(world, "ann", "c")
    opened = do.post(world, "rob", "c", stream=True)
    last = do.post(world, "ann", "c")
    assert polled(world) == [str(first.id)]
    assert polled(world, after=str(first.id)) == []
    emit(world, opened, end(1), by="rob")
    assert polled(world) == [str(each.id) for each in (first, opened, last)]


def test_a_poll_returns_no_more_than_one_answer_holds(world: World) -> None:
    large = [str(do.post(world, "ann", "c", text=str(number) * 900_000).id) for number in range(11)]
    seen: list[str] = []
    while batch := polled(world, limit=100):
        seen += batch
        assert poll(world, limit=1).ok()["position"] == batch[-1]
        assert commit(world, batch[-1]).status == 200
    assert seen == large


def test_no_poll_skips_what_was_not_returned(world: World) -> None:
    first, second = do.post(world, "ann", "c"), do.post(world, "ann", "c")
    refused = poll(world, after=str(first.id))
    assert (refused.status, refused.error["fields"]) == (409, {"position": None})
    assert polled(world, limit=1) == [str(first.id)]
    opened = do.post(world, "rob", "c", stream=True)
    do.post(world, "ann", "c")
    assert polled(world) == [str(first.id), str(second.id)]
    assert poll(world, after=str(opened.id)).status == 409
    assert polled(world, after=str(second.id)) == []


def test_what_an_actor_says_to_itself_is_nothing_to_poll(world: World) -> None:
    do.post(world, "bot", "c", target=agent(world, "bot"))
    consumer = ConversationConsumer.objects.get(scope=world.scope["c"])
    assert (consumer.end_offset, consumer.process_scope is None) == (None, False)
    assert polled(world) == []


def test_what_cannot_be_committed(world: World) -> None:
    do.post(world, "ann", "c", target=agent(world, "bot"))
    returned = polled(world)
    later = do.post(world, "ann", "c")
    other = do.post(world, "ann", "c", target=agent(world, "rob"))
    elsewhere = do.post(world, "ann", "x")
    refused = commit(world, later)
    assert (refused.status, refused.error["fields"]) == (409, {"position": returned[-1]})
    polled(world)
    assert commit(world, other).status == 409
    assert commit(world, elsewhere).status == 404
    assert commit(world, new_id()).status == 404
    assert commit(world, later).status == 200


def test_nobody_consumes_for_somebody_else(world: World) -> None:
    body = {"actor": {"kind": "operator", "key": world.member["bot"].actor_key}}
    path = f"/conversations/{world.scope['c'].id}/poll"
    assert world.call("rob", "POST", path, body).status == 403
    assert world.call("eve", "POST", path, body).status == 404
    assert world.call(None, "POST", path, body).status == 401
    role = {"actor": {"kind": "operator", "key": world.member["bot"].actor_key + "/planner"}}
    assert world.call("bot", "POST", path, role).status == 200
    assert poll(world, scope="x").status == 400
    assert poll(world, after=str(new_id())).status == 404
    assert poll(world, limit=0).status == 400
