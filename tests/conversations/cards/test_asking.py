"""What can be asked, how it is stored, and that asking again asks nothing new."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.test import Client

from conversations.actions.asking import MAX_TIMEOUT_S
from conversations.models import Message
from tests import verbs as do
from tests.world import World, facts_of

from .desk import CHOICES, actor, answering, asked, asking, card, row, run_out, stage


@pytest.fixture
def world() -> World:
    return stage()


def test_a_question_is_a_message_with_one_controlled_block(world: World) -> None:
    message = asking(world, target=actor(world, "ben")).ok().body
    deadline = message["content"]["blocks"][0]["deadline"]
    assert message["content"]["blocks"] == [
        {
            "id": "human",
            "type": "human_request",
            "kind": "ask",
            "title": "What to drink?",
            "prompt": "It is hot.",
            "choices": CHOICES,
            "allow_other": False,
            "confirm_label": None,
            "decline_label": None,
            "target": actor(world, "ben"),
            "status": "pending",
            "deadline": deadline,
        }
    ]
    assert message["content"]["meta"]["human"]["effect_key"] == "e"
    assert (message["purpose"], message["status"], message["revision"]) == ("human_request", "completed", 0)
    assert (message["actor"], message["target"]) == (actor(world, "bot"), actor(world, "ben"))
    stored = row(message["id"])
    assert (stored.effect_key, stored.wake_pending) == ("e", False)
    assert stored.human_due_at == datetime.fromisoformat(deadline)
    assert timedelta(seconds=59) < stored.human_due_at - stored.created_at <= timedelta(seconds=60)


def test_the_modes_of_an_ask(world: World) -> None:
    assert card(asked(world, effect_key="1"))["allow_other"] is False
    both = card(asked(world, effect_key="2", allow_other=True))
    assert (both["choices"], both["allow_other"]) == (CHOICES, True)
    text = card(asked(world, effect_key="3", choices=None, allow_other=True))
    assert (text["choices"], text["allow_other"]) == ([], True)


def test_a_confirm_has_labels(world: World) -> None:
    plain = card(asked(world, effect_key="1", kind="confirm", choices=None))
    assert (plain["confirm_label"], plain["decline_label"], plain["choices"]) == ("Confirm", "Decline", [])
    own = card(asked(world, effect_key="2", kind="confirm", choices=None, confirm_label="Go", decline_label="Stop"))
    assert (own["confirm_label"], own["decline_label"]) == ("Go", "Stop")


WRONG: dict[str, dict[str, Any]] = {
    "no choices": {"choices": []},
    "nothing to choose from and no other": {"choices": None},
    "a value twice": {"choices": [*CHOICES, {"value": "a", "label": "Again"}]},
    "a label that shows nothing": {"choices": [{"value": "a", "label": " \t"}]},
    "a choice without a value": {"choices": [{"label": "Ale"}]},
    "too many choices": {"choices": [{"value": str(n), "label": "x"} for n in range(51)]},
    "labels of an ask": {"confirm_label": "Go"},
    "choices of a confirm": {"kind": "confirm"},
    "others of a confirm": {"kind": "confirm", "choices": None, "allow_other": True},
    "a confirm's label that shows nothing": {"kind": "confirm", "choices": None, "confirm_label": " "},
    "another kind": {"kind": "poll"},
    "no title": {"title": " "},
    "a title too long": {"title": "x" * 201},
    "a prompt too long": {"prompt": "x" * 8001},
    "no timeout": {"timeout_s": None},
    "a timeout of nothing": {"timeout_s": 0},
    "a negative timeout": {"timeout_s": -1},
    "a timeout too long": {"timeout_s": MAX_TIMEOUT_S + 1},
    "a timeout that is no number": {"timeout_s": "60"},
    "a timeout that is true": {"timeout_s": True},
    "no effect key": {"effect_key": None},
    "no actor": {"actor": None},
    "an agent to answer": {"target": {"kind": "operator", "key": "rob"}},
    "a person who is not here": {"target": {"kind": "user", "key": "cat"}},
    "nobody": {"target": {"kind": "user", "key": "nobody"}},
}


@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_be_asked(world: World, name: str) -> None:
    assert asking(world, **WRONG[name]).status == 400
    assert not Message.objects.filter(scope=world.scope["c"]).exists()


@pytest.mark.parametrize("raw", ["1e999", "NaN", "Infinity"])
def test_a_timeout_is_finite(world: World, raw: str) -> None:
    path = f"/v1/conversations/{world.scope['c'].id}/human"
    body = (
        '{"actor": {"kind": "operator", "key": "bot"}, "effect_key": "e", "kind": "confirm", "title": "Go?",'
        f' "prompt": "", "timeout_s": {raw}}}'
    )
    headers = {"Authorization": f"Bearer {world.token['bot']}"}
    answer = Client().generic("POST", path, body, content_type="application/json", headers=headers)
    assert answer.status_code == 400


def test_asking_again_finds_the_question_with_its_first_deadline(world: World) -> None:
    first = asking(world).ok().body
    again = asking(world)
    later = asking(world, timeout_s=600)
    assert (again.status, later.status) == (200, 200)
    assert first == again.body == later.body
    assert Message.objects.filter(scope=world.scope["c"]).count() == 1


@pytest.mark.parametrize(
    "other",
    [
        {"title": "What to eat?"},
        {"prompt": "It is cold."},
        {"choices": CHOICES[:1]},
        {"allow_other": True},
        {"target": {"kind": "user", "key": "ben"}},
        {"kind": "confirm", "choices": None},
    ],
    ids=lambda other: next(iter(other)),
)
def test_another_question_under_the_key_is_a_conflict(world: World, other: dict[str, Any]) -> None:
    first = asked(world)
    refused = asking(world, **other)
    assert (refused.status, refused.error["fields"]) == (409, {"message_id": first})


def test_the_key_is_the_actors_and_the_conversations(world: World) -> None:
    world.conversation("d", "ann", "bot", "rob")
    found = {
        asked(world),
        asked(world, who="rob"),
        asked(world, scope="d"),
        asked(world, actor=actor(world, "bot", "/planner")),
        asked(world, effect_key="E"),
    }
    assert len(found) == 5
    do.post(world, "bot", "c", key="e")
    assert asking(world).status == 200, "keys of messages are others"


def test_a_retry_writes_nothing_and_is_no_news(world: World) -> None:
    asked(world)
    before = row(asking(world)["id"])
    with facts_of(world) as batches:
        asking(world).ok()
    [[stored]] = batches
    assert stored.replayed is True  # type: ignore[attr-defined]
    assert row(str(before.id)).updated_at == before.updated_at


def test_a_retry_after_the_end_shows_it(world: World) -> None:
    question = asked(world)
    answering(world, "ben", question, value="a").ok()
    assert asking(world).ok()["content"]["blocks"][0]["value"] == "a"
    other = asked(world, effect_key="other")
    run_out(other)
    assert asking(world, effect_key="other").ok()["content"]["blocks"][0]["status"] == "timeout"


def test_a_removed_question_is_not_asked_again(world: World) -> None:
    question = asked(world)
    assert world.call("ann", "DELETE", f"/messages/{question}").status == 204
    assert answering(world, "ben", question, value="a").status == 404
    assert world.call("bot", "GET", f"/human/{question}").status == 404
    refused = asking(world)
    assert (refused.status, refused.error["fields"]) == (409, {"status": "failure", "reason": "rewound"})


def test_a_rewind_removes_what_is_pending(world: World) -> None:
    kept = do.post(world, "ann", "c")
    question = asked(world)
    assert do.rewind(world, "ann", "c", kept) == 1
    assert answering(world, "ben", question, value="a").status == 404
    assert asking(world).error["fields"] == {"status": "failure", "reason": "rewound"}


def test_who_may_ask_where(world: World) -> None:
    world.channel("x", "ann", "bot")
    do.archive(world, "ann", "x")
    assert asking(world, scope="x").status == 409
    world.channel("y", "ann")
    assert asking(world, scope="y").status == 409, "not joined"
    world.channel("p", "ann", private=True)
    assert asking(world, scope="p").status == 404
    assert asking(world, who="ann").status == 201
    assert world.call(None, "POST", f"/conversations/{world.scope['c'].id}/human", {}).status == 401
    assert asking(world, actor=actor(world, "rob")).status == 403


def test_a_question_can_be_asked_in_a_thread_and_in_a_task(world: World) -> None:
    world.channel("x", "ann", "ben", "bot")
    root = do.post(world, "ann", "x")
    do.thread(world, "ann", root, "t")
    question = asked(world, scope="t")
    assert answering(world, "ben", question, scope="t", value="b").status == 200
    made = world.call("ann", "POST", f"/workspaces/{world.id}/tasks", {"title": "Paint"}).ok()
    path = f"/conversations/{made['conversation_id']}"
    body = {"actor": actor(world, "bot"), "effect_key": "t", "kind": "confirm", "title": "Go?", "prompt": ""}
    asked_there = world.call("bot", "POST", f"{path}/human", {**body, "timeout_s": 5}).ok()
    answer = {"reply_to_id": asked_there["id"], "outcome": "success", "value": "accepted"}
    assert world.call("cat", "POST", f"{path}/replies", answer).status == 200


def test_a_card_is_not_edited_nor_written_into_and_may_be_reacted_to(world: World) -> None:
    question = asked(world)
    reply = answering(world, "ben", question, value="a").ok()["reply"]["id"]
    assert world.call("bot", "PUT", f"/messages/{question}", {"text": "new"}).status == 409
    assert world.call("ben", "PUT", f"/messages/{reply}", {"text": "new"}).status == 409
    event = {"op": "set", "seq": 2, "block": {"id": "x", "type": "text", "content": "x"}}
    assert world.call("bot", "POST", f"/messages/{question}/events", {"event": event}).status == 409
    assert world.call("ben", "PUT", f"/messages/{question}/reactions/tada").status < 300


FORGED: dict[str, dict[str, Any]] = {
    "a question": {"blocks": [{"id": "human", "type": "human_request", "status": "success"}], "meta": {}},
    "a reply": {"blocks": [{"id": "reply", "type": "human_reply", "outcome": "success"}], "meta": {}},
    "its meta": {"blocks": [], "meta": {"human": {"effect_key": "e"}}},
}


@pytest.mark.parametrize("name", FORGED)
def test_cards_cannot_be_forged_by_speaking(world: World, name: str) -> None:
    content = {"version": "1.1", "biz": "chat", **FORGED[name]}
    path = f"/conversations/{world.scope['c'].id}/messages"
    for body in ({"content": content}, {"content": content, "stream": True}):
        assert world.call("bot", "POST", path, body).status == 400
    mine = do.post(world, "bot", "c")
    assert world.call("bot", "PUT", f"/messages/{mine.id}", {"content": content}).status == 400


EVENTS: dict[str, dict[str, Any]] = {
    "a block": {"op": "set", "block": {"id": "b", "type": "human_request"}},
    "a block by appending": {
        "op": "append",
        "mask": "block.content",
        "block": {"id": "b", "type": "human_reply", "content": "x"},
    },
    "a type": {"op": "set", "mask": "block.type", "block": {"id": "a", "type": "human_request"}},
    "a type that grows": {"op": "append", "mask": "block.type", "block": {"id": "a", "type": "request"}},
    "meta": {"op": "set", "mask": "meta.human", "meta": {"human": {}}},
    "below meta": {"op": "set", "mask": "meta.human.effect_key", "meta": {"human": {"effect_key": "e"}}},
    "a model": {"op": "start", "model": {"version": "1.1", "biz": "chat", "meta": {"human": {}}, "blocks": []}},
    "an error": {"op": "error", "mask": "meta.error", "meta": {"error": {"code": "c", "message": "m"}, "human": {}}},
}


@pytest.mark.parametrize("name", EVENTS)
def test_cards_cannot_be_forged_by_events(world: World, name: str) -> None:
    first = {"version": "1.1", "biz": "chat", "meta": {}, "blocks": [{"id": "a", "type": "human_"}]}
    mine = do.post(world, "bot", "c", content=first, stream=True)
    refused = world.call("bot", "POST", f"/messages/{mine.id}/events", {"event": {**EVENTS[name], "seq": 1}})
    assert refused.status == 400, refused
    assert row(str(mine.id)).revision == 0
