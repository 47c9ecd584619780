"""Who may answer what, once; and what everybody else is told."""

from __future__ import annotations

from typing import Any

import pytest

from conversations.actions.answering import answer
from conversations.events import MessageStored, MessageUpdated
from conversations.ids import new_id
from conversations.models import ConversationConsumer, Message, Scope
from tests import verbs as do
from tests.world import World, facts_of

from .desk import CHOICES, actor, answering, asked, card, replies, row, run_out, stage, state


@pytest.fixture
def world() -> World:
    return stage()


def test_an_answer_is_a_reply_and_the_end_of_the_question(world: World) -> None:
    question = asked(world)
    before = row(question)
    answered = answering(world, "ben", question, value="b").ok()
    ended = answered["question"]["content"]["blocks"][0]
    ben = str(world.member["ben"].id)
    assert (ended["status"], ended["value"], ended["answered_by"]) == ("success", "b", ben)
    assert (answered["question"]["id"], answered["question"]["revision"]) == (question, before.revision + 1)
    reply = answered["reply"]
    assert reply["content"]["blocks"] == [
        {
            "id": "reply",
            "type": "human_reply",
            "outcome": "success",
            "value": "b",
            "label": "Beer",
            "question": {
                "kind": "ask",
                "title": "What to drink?",
                "prompt": "It is hot.",
                "choices": CHOICES,
                "allow_other": False,
                "confirm_label": None,
                "decline_label": None,
            },
        }
    ]
    assert (reply["purpose"], reply["reply_to_id"], reply["author_id"]) == ("human_reply", question, ben)
    assert (reply["actor"], reply["target"]) == (actor(world, "ben"), actor(world, "bot"))
    after = row(question)
    assert (after.human_due_at, after.wake_pending) == (None, True)
    assert after.updated_at > before.updated_at
    assert state(world, question) == {
        "status": "success",
        "value": "b",
        "answered_by": ben,
        "deadline": ended["deadline"],
    }


def test_the_reply_is_for_who_asked(world: World) -> None:
    question = asked(world, actor=actor(world, "bot", "/planner"))
    reply = answering(world, "ben", question, value="a").ok()["reply"]
    consumer = ConversationConsumer.objects.get(scope=world.scope["c"], actor_key="bot/planner")
    assert str(consumer.end_offset) == reply["id"]
    assert reply["process_conversation_id"] == str(consumer.process_scope_id)
    path = f"/conversations/{world.scope['c'].id}/poll"
    polled = world.call("bot", "POST", path, {"actor": actor(world, "bot", "/planner")}).ok()["items"]
    assert [item["id"] for item in polled] == [reply["id"]]
    others = world.call("rob", "POST", path, {"actor": actor(world, "rob")}).ok()["items"]
    assert [item["id"] for item in others] == [question]


def test_one_batch_of_facts(world: World) -> None:
    question = asked(world)
    with facts_of(world) as batches:
        answering(world, "ben", question, value="a").ok()
    [batch] = batches
    [stored] = [fact for fact in batch if isinstance(fact, MessageStored)]
    assert MessageUpdated(world.id, world.scope["c"].id, row(question).id) in batch
    assert stored.message_id == replies(question)[0].id


@pytest.mark.parametrize(
    ("question", "value", "label"),
    [
        ({}, "a", "Ale"),
        ({"allow_other": True}, "b", "Beer"),
        ({"allow_other": True}, "Cider, please", None),
        ({"choices": None, "allow_other": True}, "Water", None),
        ({"kind": "confirm", "choices": None}, "accepted", "Confirm"),
        ({"kind": "confirm", "choices": None, "decline_label": "Stop"}, "declined", "Stop"),
    ],
    ids=["a choice", "a choice of several", "something else", "a text", "accepted", "declined"],
)
def test_values(world: World, question: dict[str, Any], value: str, label: str | None) -> None:
    asked_ = asked(world, **question)
    block = answering(world, "ben", asked_, value=value).ok()["reply"]["content"]["blocks"][0]
    assert (block["value"], block.get("label")) == (value, label)
    assert state(world, asked_)["value"] == value


@pytest.mark.parametrize(
    ("question", "body"),
    [
        ({}, {"value": "c"}),
        ({}, {"value": "A"}),
        ({}, {"value": "Ale"}),
        ({}, {}),
        ({}, {"value": 1}),
        ({}, {"outcome": "dismissed", "value": "a"}),
        ({}, {"outcome": "timeout"}),
        ({}, {"outcome": "pending"}),
        ({"choices": None, "allow_other": True}, {"value": " \n"}),
        ({"choices": None, "allow_other": True}, {"value": ""}),
        ({"choices": None, "allow_other": True}, {"value": "x" * 4001}),
        ({"kind": "confirm", "choices": None}, {"value": "yes"}),
        ({"kind": "confirm", "choices": None}, {"value": "Confirm"}),
    ],
)
def test_what_is_no_answer(world: World, question: dict[str, Any], body: dict[str, Any]) -> None:
    asked_ = asked(world, **question)
    assert answering(world, "ben", asked_, **body).status == 400
    assert (card(asked_)["status"], row(asked_).revision, replies(asked_)) == ("pending", 0, [])


def test_dismissed_is_not_declined(world: World) -> None:
    question = asked(world, kind="confirm", choices=None)
    answered = answering(world, "ben", question, outcome="dismissed").ok()
    ended, block = answered["question"]["content"]["blocks"][0], answered["reply"]["content"]["blocks"][0]
    assert (ended["status"], "value" in ended) == ("dismissed", False)
    assert (block["outcome"], "value" in block, "label" in block) == ("dismissed", False, False)


def test_the_same_answer_again_is_the_same_and_writes_nothing(world: World) -> None:
    question = asked(world)
    first = answering(world, "ben", question, value="a").ok()
    with facts_of(world) as batches:
        again = answering(world, "ben", question, value="a")
    assert (again.status, again.body, batches) == (200, first.body, [])
    do.archive(world, "ann", "c")
    assert answering(world, "ben", question, value="a").status == 200
    assert len(replies(question)) == 1


@pytest.mark.parametrize(
    ("who", "body"),
    [("ben", {"value": "b"}), ("ben", {"outcome": "dismissed"}), ("ann", {"value": "a"}), ("ann", {"value": "b"})],
    ids=["another value", "a dismissal", "somebody else", "somebody else, another value"],
)
def test_a_contradicting_answer_is_told_how_it_ended(world: World, who: str, body: dict[str, Any]) -> None:
    question = asked(world)
    ended = answering(world, "ben", question, value="a").ok()["question"]["content"]["blocks"][0]
    refused = answering(world, who, question, **body)
    assert (refused.status, refused.error["fields"]) == (
        409,
        {"status": "success", "value": "a", "deadline": ended["deadline"]},
    )
    assert len(replies(question)) == 1


def test_an_answer_whose_reply_was_removed_is_not_given_again(world: World) -> None:
    question = asked(world)
    reply = answering(world, "ben", question, value="a").ok()["reply"]["id"]
    assert world.call("ben", "DELETE", f"/messages/{reply}").status == 204
    assert answering(world, "ben", question, value="a").status == 409
    assert state(world, question)["status"] == "success"


def test_a_late_answer_ends_the_question_first(world: World) -> None:
    question = asked(world)
    run_out(question)
    late = answering(world, "ben", question, value="a")
    assert late.status == 409
    assert late.error["fields"] == {"status": "timeout", "deadline": card(question)["deadline"]}
    assert (card(question)["status"], row(question).revision, replies(question)) == ("timeout", 1, [])
    assert answering(world, "ben", question, value="a").status == 409
    assert row(question).revision == 1


def test_who_may_answer(world: World) -> None:
    open_to_all, for_ben = asked(world, effect_key="1"), asked(world, effect_key="2", target=actor(world, "ben"))
    for question in (open_to_all, for_ben):
        assert answering(world, "bot", question, value="a").status == 403
        assert answering(world, "rob", question, value="a").status == 403
        assert answering(world, "cat", question, value="a").status == 404
        assert answering(world, "sue", question, value="a").status == 404
    path = f"/conversations/{world.scope['c'].id}/replies"
    assert world.call(None, "POST", path, {"reply_to_id": open_to_all, "outcome": "dismissed"}).status == 401
    assert answering(world, "ann", for_ben, value="a").status == 403
    assert answering(world, "ben", for_ben, value="a").status == 200
    assert answering(world, "ann", for_ben, value="a").status == 403, "the target's answer is nobody else's"
    assert answering(world, "ann", open_to_all, value="a").status == 200


def test_only_whoever_may_write_answers(world: World) -> None:
    world.channel("x", "ann", "bot")
    question = asked(world, scope="x")
    assert answering(world, "ben", question, scope="x", value="a").status == 409
    do.join(world, "ben", "x")
    do.archive(world, "ann", "x")
    assert answering(world, "ben", question, scope="x", value="a").status == 409
    assert card(question)["status"] == "pending"
    do.restore(world, "ann", "x")
    assert answering(world, "ben", question, scope="x", value="a").status == 200


def test_a_process_conversations_owner_answers_there(world: World) -> None:
    do.post(world, "ann", "c", target=("operator", "bot"))
    world.scope["p"] = Scope.objects.get(parent_scope=world.scope["c"], actor_key="bot")
    question = asked(world, scope="p")
    assert answering(world, "ben", question, scope="p", value="a").status == 403
    assert answering(world, "ann", question, scope="p", value="a").status == 200
    assert Scope.objects.filter(parent_scope=world.scope["p"]).first() is None


def test_what_is_not_there_or_asks_nothing(world: World) -> None:
    world.conversation("d", "ann", "ben", "bot")
    question, plain = asked(world), do.post(world, "bot", "c")
    assert answering(world, "ben", question, scope="d", value="a").status == 404
    assert answering(world, "ben", str(new_id()), value="a").status == 404
    assert answering(world, "ben", str(plain.id), value="a").status == 400
    assert world.call("ben", "GET", f"/human/{plain.id}").status == 404


def test_speaking_is_no_approval(world: World) -> None:
    question = asked(world, kind="confirm", choices=None)
    do.post(world, "ben", "c", text="accepted", reply_to=row(question))
    do.post(world, "ben", "c", text="yes", target=("operator", "bot"))
    assert card(question)["status"] == "pending"
    assert state(world, question)["status"] == "pending"


def test_an_answer_is_read_by_its_author_and_counts_for_the_others(world: World) -> None:
    question = asked(world)
    answering(world, "ben", question, value="a").ok()
    latest = Message.objects.filter(scope=world.scope["c"]).latest("seq")
    shown = {who: world.call(who, "GET", f"/conversations/{world.scope['c'].id}").ok() for who in ("ann", "ben")}
    assert (shown["ben"]["last_read_seq"], shown["ann"]["last_read_seq"]) == (latest.seq, 0)


def test_a_failure_in_the_middle_leaves_neither(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken(Exception):
        pass

    def fail(*arguments: Any, **more: Any) -> None:
        raise Broken

    question = asked(world)
    monkeypatch.setattr("conversations.actions.answering.end_card", fail)
    with pytest.raises(Broken):
        answer(
            user=world.user["ben"],
            scope_id=world.scope["c"].id,
            question_id=row(question).id,
            outcome="success",
            value="a",
        )
    assert (card(question)["status"], replies(question)) == ("pending", [])
    assert row(question).human_due_at is not None
