"""Reactions and activities over HTTP."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest

from conversations.actions import reactions
from conversations.events import NonMessageActivityStored, ReactionChanged
from conversations.ids import new_id
from conversations.models import Activity, Message, MessageReaction
from tests.verbs import archive, join, leave, post, react, thread
from tests.world import Answer, World, facts_of


@pytest.fixture
def world() -> World:
    made = World("ann", "ben", "cat", strangers=("eve",))
    made.channel("x", "ann", "ben")
    made.channel("p", "ann", private=True)
    return made


@pytest.fixture
def message(world: World) -> Message:
    return post(world, "ann", "x")


def call(world: World, who: str | None, method: str, message: Message, emoji: str) -> Answer:
    return world.call(who, method, f"/messages/{message.id}/reactions/{quote(emoji, safe='')}")


def test_reactions_come_and_go(world: World, message: Message) -> None:
    ann, ben = str(world.member["ann"].id), str(world.member["ben"].id)
    call(world, "ann", "PUT", message, "👍").ok()
    assert call(world, "ben", "PUT", message, "👍").body == {"reactions": {"👍": [ann, ben]}}
    assert call(world, "ben", "PUT", message, "+1").body == {"reactions": {"👍": [ann, ben], "+1": [ben]}}
    assert call(world, "ann", "DELETE", message, "👍").status == 204
    assert world.call("ann", "GET", f"/messages/{message.id}")["reactions"] == {"👍": [ben], "+1": [ben]}


def test_a_reaction_is_a_low_signal_activity_and_its_repetition_nothing(world: World, message: Message) -> None:
    with facts_of(world) as batches:
        assert react(world, "ben", message, "tada")
        assert not react(world, "ben", message, "tada")
        assert call(world, "ben", "DELETE", message, "tada").status == 204
        assert call(world, "ben", "DELETE", message, "tada").status == 204
    assert [[type(fact) for fact in batch] for batch in batches] == [[NonMessageActivityStored, ReactionChanged]] * 2
    assert [batch[0].counts for batch in batches] == [False, False]
    stored = Activity.objects.filter(scope=world.scope["x"]).order_by("seq")
    assert [(row.type, row.ref, row.payload) for row in stored] == [
        ("reaction", str(message.id), {"emoji": "tada", "present": True}),
        ("reaction", str(message.id), {"emoji": "tada", "present": False}),
    ]


def test_emoji_that_look_alike_to_a_collation_are_different(world: World, message: Message) -> None:
    for emoji in ("❤", "❤️", "👍", "👍🏽", "🍣", "🍺"):
        call(world, "ben", "PUT", message, emoji).ok()
    assert len(world.call("ann", "GET", f"/messages/{message.id}")["reactions"]) == 6


@pytest.mark.parametrize("emoji", ["no spaces", "UPPER", "👍👍", "x" * 65, "a/b"])
def test_what_is_no_emoji_is_refused(world: World, message: Message, emoji: str) -> None:
    assert call(world, "ben", "PUT", message, emoji).status == 400
    assert not MessageReaction.objects.filter(message=message).exists()


def test_a_message_takes_only_so_many(world: World, message: Message, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reactions, "MAX_EMOJI_PER_MESSAGE", 2)
    monkeypatch.setattr(reactions, "MAX_REACTIONS_PER_MESSAGE", 3)
    react(world, "ann", message, "a"), react(world, "ann", message, "b")
    assert call(world, "ben", "PUT", message, "c").status == 409
    react(world, "ben", message, "a")
    assert call(world, "ben", "PUT", message, "b").status == 409
    assert call(world, "ben", "PUT", message, "a").status == 200


def test_who_may_react(world: World, message: Message) -> None:
    hidden = post(world, "ann", "p")
    for who, status in (("cat", 409), ("eve", 404), (None, 401)):
        assert call(world, who, "PUT", message, "a").status == status
        assert call(world, who, "DELETE", message, "a").status == status
    assert call(world, "ben", "PUT", hidden, "a").status == 404
    join(world, "cat", "x")
    assert call(world, "cat", "PUT", message, "a").status == 200
    leave(world, "ben", "x")
    assert call(world, "ben", "PUT", message, "a").status == 409
    archive(world, "ann", "x")
    assert call(world, "ann", "PUT", message, "a").status == 409
    assert call(world, "cat", "DELETE", message, "a").status == 409
    assert MessageReaction.objects.filter(message=message).count() == 1


def test_reacting_in_a_thread_joins_nobody(world: World, message: Message) -> None:
    thread(world, "ann", message, "t")
    reply = post(world, "ann", "t")
    call(world, "ben", "PUT", reply, "a").ok()
    assert not world.scope["t"].memberships.filter(member=world.member["ben"]).exists()


# Activities


def activity(world: World, who: str | None, scope: str = "x", **body: Any) -> Answer:
    return world.call(who, "POST", f"/conversations/{world.scope[scope].id}/activities", body)


def test_an_activity_is_stored_as_it_came(world: World) -> None:
    with facts_of(world) as batches:
        answer = activity(world, "ben", type="share", ref="https://example.org", payload={"title": "日本", "n": [1.5]})
    assert answer.status == 201
    assert (answer["seq"], answer["type"], answer["ref"]) == (1, "share", "https://example.org")
    assert (answer["actor_id"], answer["payload"]) == (str(world.member["ben"].id), {"title": "日本", "n": [1.5]})
    [[stored]] = batches
    assert (stored.seq, stored.counts, str(stored.activity_id)) == (1, True, answer["id"])
    listed = world.call("ann", "GET", f"/conversations/{world.scope['x'].id}/activities")
    assert listed["items"] == [answer.body]


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"type": "reaction"},
        {"type": "task_status"},
        {"type": "member_joined"},
        {"type": "nonsense"},
        {"type": 5},
        {"type": "share", "payload": []},
        {"type": "share", "payload": "x"},
        {"type": "share", "payload": {"x": "a" * 20_000}},
        {"type": "share", "ref": "x" * 257},
        {"type": "share", "ref": 5},
    ],
)
def test_what_clients_may_not_post_is_refused(world: World, body: dict) -> None:
    assert activity(world, "ben", **body).status == 400
    assert not Activity.objects.filter(scope=world.scope["x"], type="share").exists()


def test_a_deep_payload_is_refused(world: World) -> None:
    deep: Any = {}
    for _ in range(60):
        deep = {"a": deep}
    assert activity(world, "ben", type="share", payload=deep).status == 400


def test_who_may_post_activities(world: World) -> None:
    for who, status in (("cat", 409), ("eve", 404), (None, 401)):
        assert activity(world, who, type="share").status == status
    assert activity(world, "ben", "p", type="share").status == 404
    archive(world, "ann", "x")
    assert activity(world, "ben", type="share").status == 409
    assert world.call("ben", "PUT", f"/messages/{new_id()}/reactions/a").status == 404
