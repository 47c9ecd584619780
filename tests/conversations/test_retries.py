"""The identity of a send: a retry is answered with the first message and tells of it again."""

from __future__ import annotations

from typing import Any

import pytest

from conversations.models import Message, Scope
from tests.verbs import archive, delete, edit, leave, post, rewind
from tests.world import Answer, World, facts_of


@pytest.fixture
def world() -> World:
    made = World("ann", "ben", agents=("bot",))
    made.channel("x", "ann", "ben", "bot")
    made.channel("y", "ann", "ben", "bot")
    return made


def send(world: World, who: str, scope: str = "x", **body: Any) -> Answer:
    return world.call(who, "POST", f"/conversations/{world.scope[scope].id}/messages", {"text": "hello", **body})


IDENTITIES = [{"client_message_id": "c"}, {"key": "k"}, {"client_message_id": "c", "key": "k"}]


@pytest.mark.parametrize("identity", IDENTITIES)
def test_a_retry_gets_the_first_message_and_writes_nothing(world: World, identity: dict) -> None:
    first = send(world, "bot", **identity)
    before = Scope.objects.get(id=world.scope["x"].id)
    with facts_of(world) as batches:
        again = send(world, "bot", **identity)
    assert (first.status, again.status, again.body) == (201, 200, first.body)
    [[stored]] = batches
    assert (stored.seq, stored.replayed, str(stored.message_id)) == (1, True, first["id"])
    after = Scope.objects.get(id=world.scope["x"].id)
    assert {f.name: getattr(after, f.attname) for f in Scope._meta.fields} == {
        f.name: getattr(before, f.attname) for f in Scope._meta.fields
    }


@pytest.mark.parametrize("identity", IDENTITIES)
@pytest.mark.parametrize(
    "other",
    [
        {"text": "other"},
        {"text": "hello "},
        {"target": {"kind": "user", "key": "ann"}},
        {"message_type": "system"},
        {"status": "failed"},
        {"stream": True},
    ],
)
def test_other_content_under_a_key_is_a_conflict(world: World, identity: dict, other: dict) -> None:
    first = send(world, "bot", **identity)
    with facts_of(world) as batches:
        refused = send(world, "bot", **identity, **other)
    assert (refused.status, refused.error["type"], batches) == (409, "conflict", [])
    assert refused.error["fields"]["message_id"] == first["id"]


def test_a_retry_after_an_edit_is_no_conflict_and_tells_of_the_mentions_as_they_are(world: World) -> None:
    first = send(world, "ann", client_message_id="c", mentions=[str(world.member["ben"].id)])
    edit(world, "ann", Message.objects.get(id=first["id"]), "changed", mentions=("bot",))
    with facts_of(world) as batches:
        again = send(world, "ann", client_message_id="c", mentions=[str(world.member["ben"].id)])
    assert again.status == 200
    assert again["content"]["blocks"][0]["content"] == "changed"
    [[stored]] = batches
    assert (stored.facts.mentions, stored.rewind_generation) == ((world.member["bot"].id,), 1)


def test_keys_are_compared_exactly(world: World) -> None:
    keys = ["key", "Key", "key ", " key", "kéy", "ke\u0301y", "key\t"]
    ids = [send(world, "ann", client_message_id=key)["id"] for key in keys]
    assert len(set(ids)) == len(keys)
    assert [send(world, "ann", client_message_id=key)["id"] for key in keys] == ids
    by_key = [send(world, "bot", key=key)["id"] for key in keys]
    assert len(set(by_key)) == len(keys)


def test_a_client_id_belongs_to_its_author_and_conversation(world: World) -> None:
    assert {
        send(world, who, scope, client_message_id="c").status for who in ("ann", "ben") for scope in ("x", "y")
    } == {201}


def test_a_key_belongs_to_its_actor_and_conversation(world: World) -> None:
    role = {"kind": "operator", "key": "bot/reviewer"}
    assert send(world, "bot", key="k").status == 201
    assert send(world, "bot", key="k", actor=role).status == 201
    assert send(world, "bot", "y", key="k").status == 201
    assert send(world, "bot", key="k").status == 200


def test_two_keys_of_two_messages_are_a_conflict(world: World) -> None:
    send(world, "bot", client_message_id="c").ok()
    send(world, "bot", key="k").ok()
    assert send(world, "bot", client_message_id="c", key="k").status == 409


def test_a_retry_is_answered_also_after_archiving_or_leaving(world: World) -> None:
    first = send(world, "ben", client_message_id="c")
    leave(world, "ben", "x")
    assert send(world, "ben", client_message_id="c").body == first.body
    archive(world, "ann", "x")
    assert send(world, "ben", client_message_id="c").status == 200
    assert send(world, "ben", client_message_id="new").status == 409


@pytest.mark.parametrize("identity", IDENTITIES)
@pytest.mark.parametrize("removal", ["delete", "rewind"])
def test_a_retry_does_not_bring_back_what_was_removed(world: World, identity: dict, removal: str) -> None:
    kept = post(world, "ann", "x")
    gone = send(world, "bot", **identity)
    if removal == "delete":
        delete(world, "ann", Message.objects.get(id=gone["id"]))
    else:
        assert rewind(world, "ann", "x", kept) == 1
    with facts_of(world) as batches:
        refused = send(world, "bot", **identity)
    assert (refused.status, batches) == (409, [])
    assert "removed" in refused.error["message"]
    assert Message.objects.filter(scope=world.scope["x"]).count() == 1
    fresh = {name: f"{value}2" for name, value in identity.items()}
    assert send(world, "bot", **fresh)["seq"] == 3
