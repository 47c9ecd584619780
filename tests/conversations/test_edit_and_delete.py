"""Changing what was said: edits, deletes and rewinds, with their refusals."""

from __future__ import annotations

from typing import Any

import pytest

from conversations.actions import removing
from conversations.errors import Conflict
from conversations.events import MessageMentionsChanged, MessageRewound, ScopeStateChanged
from conversations.ids import new_id
from conversations.models import (
    HarnessRun,
    Message,
    MessageMention,
    MessagePart,
    MessageReaction,
    RemovedMessage,
    Scope,
)
from conversations.models.message import MessageType, Purpose
from tests.verbs import archive, delete, edit, fresh, join, leave, post, react, read, rewind, thread
from tests.world import Answer, World, facts_of


@pytest.fixture
def world() -> World:
    made = World("ann", "ben", "cat", agents=("bot",))
    made.channel("x", "ben", "ann", "bot")
    made.channel("p", "ben", "ann", private=True)
    return made


def put(world: World, who: str | None, message: Message, **body: Any) -> Answer:
    return world.call(who, "PUT", f"/messages/{message.id}", body)


def remove(world: World, who: str | None, message: Message) -> Answer:
    return world.call(who, "DELETE", f"/messages/{message.id}")


def run_output(world: World, message: Message) -> None:
    HarnessRun.objects.create(
        scope_id=message.scope_id,
        message=message,
        requested_by=world.member["ann"],
        harness="h",
        actor_kind="harness",
        actor_key="h",
        identity=str(message.id),
        idempotency_key="i",
        fingerprint="f",
        request={},
        deadline=message.created_at,
    )


# Editing


def test_an_edit_replaces_the_content_and_says_so(world: World) -> None:
    message = post(world, "ben", "x", "first")
    edited = put(world, "ben", message, text="second")
    assert edited.status == 200
    assert edited["content"]["blocks"][0]["content"] == "second"
    assert (edited["revision"], edited["seq"]) == (1, 1)
    assert edited["edited_at"] == edited["updated_at"] > edited["created_at"]
    assert world.call("ann", "GET", f"/messages/{message.id}").body == edited.body


def test_an_edit_recomputes_mentions_in_one_fact(world: World) -> None:
    message = post(world, "ben", "x", mentions=["ann"])
    with facts_of(world) as batches:
        edited = put(world, "ben", message, text="b", mentions=[str(world.member["bot"].id)])
    assert edited["mentions"] == [str(world.member["bot"].id)]
    [changed] = [fact for fact in batches[0] if isinstance(fact, MessageMentionsChanged)]
    [change] = changed.changes
    assert change.before.mentions == (world.member["ann"].id,)
    assert change.after.mentions == (world.member["bot"].id,)
    assert changed.rewind_generation == fresh(world.scope["x"]).rewind_generation == 1


def test_an_edit_that_keeps_the_mentions_leaves_the_generation(world: World) -> None:
    message = post(world, "ben", "x", mentions=["ann"])
    with facts_of(world) as batches:
        edit(world, "ben", message, "b", mentions=("ann",))
    assert [type(fact).__name__ for fact in batches[0]] == ["MessageUpdated"]
    assert fresh(world.scope["x"]).rewind_generation == 0


def test_the_same_again_changes_nothing(world: World) -> None:
    message = post(world, "ben", "x", "same", mentions=["ann"])
    with facts_of(world) as batches:
        edited = put(world, "ben", message, text="same", mentions=[str(world.member["ann"].id)])
    assert (edited.status, edited["revision"], edited["edited_at"], batches) == (200, 0, None, [])


def test_a_mention_added_in_a_thread_joins_from_the_next_message_on(world: World) -> None:
    thread(world, "ben", post(world, "ben", "x"), "t")
    message = post(world, "ben", "t")
    edit(world, "ben", message, "b", mentions=("bot",))
    place = world.scope["t"].memberships.get(member=world.member["bot"])
    assert (place.effective_from_seq, place.last_read_seq) == (2, 1)


@pytest.mark.parametrize(
    "body",
    [{}, {"text": " "}, {"text": "a", "content": {}}, {"content": 3}, {"text": "a", "mentions": [str(new_id())]}],
)
def test_an_edit_that_says_nothing_is_refused(world: World, body: dict) -> None:
    message = post(world, "ben", "x", "first")
    assert put(world, "ben", message, **body).status == 400
    assert Message.objects.get(id=message.id).revision == 0


def test_who_may_edit(world: World) -> None:
    message = post(world, "ben", "x")
    assert put(world, None, message, text="b").status == 401
    assert put(world, "ann", message, text="b").status == 403, "an admin is not its author"
    hidden = post(world, "ben", "p")
    assert put(world, "cat", hidden, text="b").status == 404
    leave(world, "ben", "x")
    assert put(world, "ben", message, text="b").status == 409
    join(world, "ben", "x")
    archive(world, "ben", "x")
    assert put(world, "ben", message, text="b").status == 409


def test_what_is_being_written_cannot_be_edited_or_removed(world: World) -> None:
    kept = post(world, "ben", "x")
    message = post(world, "bot", "x", stream=True)
    assert put(world, "bot", message, text="b").status == 409
    assert remove(world, "bot", message).status == 409
    with pytest.raises(Conflict):
        rewind(world, "ben", "x", kept)
    assert Message.objects.filter(scope=world.scope["x"]).count() == 2


def test_outputs_of_runs_and_cards_are_protected(world: World) -> None:
    kept = post(world, "ben", "x")
    output = post(world, "bot", "x")
    run_output(world, output)
    assert put(world, "bot", output, text="b").status == 409
    assert remove(world, "ann", output).status == 409
    rewound = world.call("ann", "POST", f"/conversations/{world.scope['x'].id}/rewind", {"to_message_id": kept.id})
    assert (rewound.status, Message.objects.filter(scope=world.scope["x"]).count()) == (409, 2)
    card = post(world, "bot", "x")
    Message.objects.filter(id=card.id).update(purpose=Purpose.HUMAN_REQUEST)
    assert put(world, "bot", card, text="b").status == 409


# Deleting


def test_a_deleted_message_is_gone_everywhere(world: World) -> None:
    message = post(world, "ben", "x", "bye", mentions=["ann"], client_message_id="c")
    react(world, "ann", message)
    assert remove(world, "ben", message).status == 204
    path, history = f"/messages/{message.id}", f"/conversations/{world.scope['x'].id}/messages"
    for call in (
        world.call("ben", "GET", path),
        world.call("ben", "GET", f"{path}/meta"),
        world.call("ben", "PUT", path, {"text": "b"}),
        world.call("ben", "DELETE", path),
        world.call("ben", "PUT", f"{path}/reactions/x"),
        world.call("ben", "POST", f"{path}/thread"),
        world.call("ben", "GET", history, after=message.id),
        world.call("ben", "GET", history, before=message.id),
        world.call("ben", "GET", history, around=message.id),
        world.call("ben", "PUT", f"/conversations/{world.scope['x'].id}/read", {"message_id": message.id}),
        world.call("ben", "PUT", f"/conversations/{world.scope['x'].id}/unread", {"message_id": message.id}),
        world.call("ben", "POST", history, {"text": "a", "reply_to_id": message.id}),
        world.call("ben", "POST", f"/conversations/{world.scope['x'].id}/rewind", {"to_message_id": message.id}),
    ):
        assert call.status == 404, call
    assert world.call("ben", "GET", history)["items"] == []
    for model in (MessageMention, MessageReaction, MessagePart):
        assert not model.objects.filter(message_id=message.id).exists()
    assert RemovedMessage.objects.get(id=message.id).client_message_id == "c"


def test_a_delete_without_a_key_leaves_nothing(world: World) -> None:
    message = post(world, "ben", "x")
    delete(world, "ben", message)
    assert not RemovedMessage.objects.filter(id=message.id).exists()


def test_a_delete_is_one_fact_with_what_counted_before(world: World) -> None:
    message = post(world, "bot", "x", on_behalf_of="ben", mentions=["ann"])
    with facts_of(world) as batches:
        delete(world, "ann", message)
    [[removed]] = batches
    assert isinstance(removed, MessageRewound)
    [change] = removed.changes
    assert (change.message_id, change.seq, change.after) == (message.id, 1, None)
    assert change.before.principal_id == world.member["ben"].id
    assert (change.before.mentions, change.before.counts) == ((world.member["ann"].id,), True)
    assert removed.rewind_generation == fresh(world.scope["x"]).rewind_generation == 1


def test_the_summary_follows_deletes(world: World) -> None:
    first, second, third = (post(world, "ben", "x") for _ in range(3))
    hidden = post(world, "ann", "x", message_type=MessageType.TASK_DISPATCH)
    delete(world, "ben", third)
    assert _summary(world) == (2, second.created_at)
    delete(world, "ben", first)
    assert _summary(world) == (1, second.created_at)
    delete(world, "ann", hidden)
    assert _summary(world) == (1, second.created_at)
    delete(world, "ben", second)
    assert _summary(world) == (0, None)
    assert post(world, "ben", "x").seq == 5, "seqs stay used"


def test_deleting_a_root_keeps_its_thread(world: World) -> None:
    root = post(world, "ben", "x")
    thread(world, "ben", root, "t")
    post(world, "ann", "t")
    delete(world, "ben", root)
    assert fresh(world.scope["t"]).active
    assert world.call("ann", "GET", f"/conversations/{world.scope['t'].id}/messages")["items"]
    assert post(world, "ben", "t").seq == 2


def test_who_may_delete(world: World) -> None:
    message, other = post(world, "ben", "x"), post(world, "bot", "x")
    assert remove(world, None, message).status == 401
    assert remove(world, "bot", message).status == 403
    assert remove(world, "ben", other).status == 403, "the creator of the channel is no admin"
    assert remove(world, "cat", post(world, "ben", "p")).status == 404
    archive(world, "ben", "x")
    assert remove(world, "ann", message).status == 204, "an admin, also in an archive"
    assert remove(world, "bot", other).status == 204


# Rewinding


def test_a_rewind_keeps_one_and_removes_all_later_in_one_fact(world: World) -> None:
    messages = [post(world, "ben", "x", mentions=["ann"]) for _ in range(4)]
    thread(world, "ann", messages[1], "kept")
    thread(world, "ann", messages[3], "gone")
    read(world, "ann", "x")
    with facts_of(world) as batches:
        answer = world.call(
            "ben", "POST", f"/conversations/{world.scope['x'].id}/rewind", {"to_message_id": messages[1].id}
        )
    assert answer.body == {"removed": 2}
    [batch] = batches
    [removed] = [fact for fact in batch if isinstance(fact, MessageRewound)]
    assert [change.seq for change in removed.changes] == [3, 4]
    assert all(change.after is None and change.before.mentions for change in removed.changes)
    [archived] = [fact for fact in batch if isinstance(fact, ScopeStateChanged)]
    assert (archived.scope_id, archived.active) == (world.scope["gone"].id, False)
    assert fresh(world.scope["kept"]).active
    assert _summary(world) == (2, messages[1].created_at)
    scope = fresh(world.scope["x"])
    assert (scope.latest_seq, scope.last_message_id, scope.rewind_generation) == (4, messages[3].id, 1)
    assert post(world, "ben", "x").seq == 5


def test_a_rewind_to_the_last_message_does_nothing(world: World) -> None:
    last = post(world, "ben", "x")
    with facts_of(world) as batches:
        assert rewind(world, "ben", "x", last) == 0
    assert (batches, fresh(world.scope["x"]).rewind_generation) == ([], 0)


def test_a_rewind_is_bounded(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(removing, "REWIND_MAX_MESSAGES", 2)
    first, second, *_ = (post(world, "ben", "x") for _ in range(4))
    path = f"/conversations/{world.scope['x'].id}/rewind"
    assert world.call("ben", "POST", path, {"to_message_id": first.id}).status == 400
    assert Scope.objects.get(id=world.scope["x"].id).visible_message_count == 4
    assert world.call("ben", "POST", path, {"to_message_id": second.id}).body == {"removed": 2}


def test_who_may_rewind(world: World) -> None:
    to = post(world, "ben", "x")
    post(world, "ben", "x")
    path, body = f"/conversations/{world.scope['x'].id}/rewind", {"to_message_id": to.id}
    assert world.call(None, "POST", path, body).status == 401
    assert world.call("bot", "POST", path, body).status == 403
    assert world.call("ben", "POST", path, {}).status == 400
    assert world.call("ben", "POST", path, {"to_message_id": post(world, "ben", "p").id}).status == 404
    assert world.call("cat", "POST", f"/conversations/{world.scope['p'].id}/rewind", body).status == 404
    archive(world, "ben", "x")
    assert world.call("ben", "POST", path, body).status == 409
    assert fresh(world.scope["x"]).visible_message_count == 2


def _summary(world: World) -> tuple[int, Any]:
    scope = fresh(world.scope["x"])
    return scope.visible_message_count, scope.visible_last_message_at
