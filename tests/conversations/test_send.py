"""Sending over HTTP: what a message looks like, and every refusal with nothing written."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from conversations.events import MessageUpdated
from conversations.ids import new_id
from conversations.models import Message, Scope
from conversations.models.membership import Membership
from conversations.unread_port import NoUnread, install_unread_reader, unread_reader
from tests.verbs import archive, delete, leave, post, thread
from tests.world import Answer, World, facts_of

FIELDS = {
    *("id", "conversation_id", "seq", "revision", "status", "author_id", "actor", "target", "reply_to_id"),
    *("message_type", "purpose", "task_id", "client_message_id", "mentions", "reactions", "content", "error"),
    *("thread", "process_conversation_id", "created_at", "updated_at", "edited_at"),
}


@pytest.fixture
def world() -> World:
    made = World("ann", "ben", "cat", agents=("bot",), strangers=("eve",))
    made.channel("x", "ann", "ben", "bot")
    made.channel("p", "ann", "ben", private=True)
    return made


def send(world: World, who: str | None, scope: str, **body: Any) -> Answer:
    return world.call(who, "POST", f"/conversations/{world.scope[scope].id}/messages", body)


def untouched(world: World, scope: str) -> bool:
    row = Scope.objects.get(id=world.scope[scope].id)
    return row.latest_seq == 0 and not Message.objects.filter(scope=row).exists()


def test_a_message_has_every_field_of_the_contract(world: World) -> None:
    sent = send(world, "ann", "x", text="hello", client_message_id="c1", mentions=[str(world.member["ben"].id)])
    assert sent.status == 201
    assert set(sent.body) == FIELDS
    assert sent["conversation_id"] == str(world.scope["x"].id)
    assert (sent["seq"], sent["revision"], sent["status"]) == (1, 0, "completed")
    assert sent["author_id"] == str(world.member["ann"].id)
    assert sent["actor"] == {"kind": "user", "key": "ann"}
    assert (sent["target"], sent["reply_to_id"], sent["thread"], sent["error"]) == (None, None, None, None)
    assert (sent["message_type"], sent["purpose"], sent["client_message_id"]) == ("default", "output", "c1")
    assert (sent["mentions"], sent["reactions"]) == ([str(world.member["ben"].id)], {})
    assert sent["content"]["blocks"] == [{"id": "text", "type": "text", "content": "hello"}]
    assert sent["created_at"] == sent["updated_at"]
    assert sent["created_at"].endswith("Z")
    assert sent["edited_at"] is None
    assert world.call("ben", "GET", f"/messages/{sent['id']}").body == sent.body


def test_text_is_kept_to_the_letter(world: World) -> None:
    text = "  two  spaces\n\ttab — 日本 👍🏽 \u202e <b>&amp; \n"
    assert send(world, "ann", "x", text=text)["content"]["blocks"][0]["content"] == text


def test_content_may_be_a_model(world: World) -> None:
    model = {
        "version": "1.0",
        "biz": "chat",
        "meta": {"k": [1, None]},
        "blocks": [{"id": "a", "type": "chart", "data": {"y": [1.5]}}, {"id": "b", "type": "text", "content": "hi"}],
    }
    assert send(world, "ann", "x", content=model)["content"] == model


def test_an_error_makes_the_message_failed(world: World) -> None:
    error = {"code": "quota", "message": "No more."}
    sent = send(world, "bot", "x", text="half", error=error)
    assert (sent["status"], sent["error"], sent["content"]["meta"]["error"]) == ("failed", error, error)
    assert send(world, "bot", "x", error=error)["content"]["blocks"] == []
    assert send(world, "bot", "x", text="stopped", status="cancelled")["status"] == "cancelled"


def test_a_stream_opens_without_content(world: World) -> None:
    sent = send(world, "bot", "x", stream=True, key="k1")
    assert (sent.status, sent["status"], sent["content"]["blocks"], sent["revision"]) == (201, "streaming", [], 0)


def test_a_role_below_ones_actor_may_speak_and_be_spoken_to(world: World) -> None:
    role = {"kind": "operator", "key": "bot/reviewer"}
    assert send(world, "bot", "x", text="a", actor=role)["actor"] == role
    assert send(world, "ann", "x", text="a", target=role)["target"] == role


def test_a_reply_names_its_message_and_keeps_it_when_that_is_deleted(world: World) -> None:
    first = send(world, "ann", "x", text="first")
    reply = send(world, "ben", "x", text="second", reply_to_id=first["id"])
    assert reply["reply_to_id"] == first["id"]
    world.call("ann", "DELETE", f"/messages/{first['id']}").ok()
    assert world.call("ben", "GET", f"/messages/{reply['id']}")["reply_to_id"] == first["id"]


def test_types_by_who_sends_them(world: World) -> None:
    for kind in ("default", "sticker", "system", "task_dispatch"):
        assert send(world, "ann", "x", text="a", message_type=kind)["message_type"] == kind
        assert send(world, "bot", "x", text="a", message_type=kind)["message_type"] == kind
    assert send(world, "ben", "x", text="a", message_type="sticker").status == 201
    assert send(world, "ben", "x", text="a", message_type="system").status == 400
    assert send(world, "ben", "x", text="a", message_type="task_dispatch").status == 400
    assert send(world, "ann", "x", text="a", message_type="html").status == 400


def test_the_author_has_read_what_came_before_and_the_marker_goes(world: World) -> None:
    post(world, "ann", "x")
    world.call("ben", "PUT", f"/conversations/{world.scope['x'].id}/unread", {}).ok()
    with facts_of(world) as batches:
        send(world, "ben", "x", text="mine").ok()
    kinds = [type(fact).__name__ for fact in batches[0]]
    assert kinds == ["MessageStored", "ReadCursorAdvanced", "ManualUnreadCleared"]
    row = Membership.objects.get(scope=world.scope["x"], member=world.member["ben"])
    assert row.last_read_seq == 2


def test_on_a_persons_behalf_nobodys_cursor_moves(world: World) -> None:
    with facts_of(world) as batches:
        send(world, "bot", "x", text="for ben", notify_principal_id=str(world.member["ben"].id)).ok()
    [[stored]] = batches
    assert stored.facts.principal_id == world.member["ben"].id
    assert stored.facts.author_id == world.member["bot"].id
    cursors = Membership.objects.filter(scope=world.scope["x"]).values_list("last_read_seq", flat=True)
    assert set(cursors) == {0}


def test_writing_in_a_thread_joins_it_and_so_does_being_mentioned(world: World) -> None:
    root = post(world, "ann", "x")
    thread(world, "ann", root, "t")
    send(world, "ben", "t", text="a", mentions=[str(world.member["bot"].id)]).ok()
    people = Membership.objects.filter(scope=world.scope["t"]).values_list("member_id", "effective_from_seq")
    assert dict(people) == {world.member[who].id: 1 for who in ("ann", "ben", "bot")}
    summary = world.call("ann", "GET", f"/messages/{root.id}")["thread"]
    assert (summary["conversation_id"], summary["count"]) == (str(world.scope["t"].id), 1)


def test_pages_around_a_thread_hear_of_its_summary(world: World) -> None:
    root = post(world, "ann", "x")
    thread(world, "ann", root, "t")
    with facts_of(world) as batches:
        reply = post(world, "ann", "t")
        delete(world, "ann", reply)
    for batch in batches:
        [updated] = [fact for fact in batch if isinstance(fact, MessageUpdated)]
        assert (updated.scope_id, updated.message_id) == (world.scope["x"].id, root.id)


def test_a_send_costs_the_same_in_a_channel_of_three_and_of_many() -> None:
    names = [f"m{n}" for n in range(60)]
    world = World("ann", "ben", *names)
    world.channel("small", "ann", "ben")
    world.channel("large", "ann", "ben", *names)
    costs = []
    for scope in ("small", "large"):
        post(world, "ben", scope)
        with CaptureQueriesContext(connection) as queries:
            post(world, "ann", scope, f"hi @ben-{world.tag}")
        costs.append(len(queries))
    assert costs[0] == costs[1] <= 14


NOT_SENT = [
    ({}, 400),
    ({"text": ""}, 400),
    ({"text": " \n"}, 400),
    ({"text": 5}, 400),
    ({"text": None, "content": None}, 400),
    ({"text": "a\x00b"}, 400),
    ({"text": "a", "content": {"version": "1.1", "biz": "chat", "meta": {}, "blocks": []}}, 400),
    ({"content": []}, 400),
    ({"content": {"version": "9", "biz": "chat", "meta": {}, "blocks": []}}, 400),
    ({"content": {"version": "1.1", "biz": "chat", "meta": {}, "blocks": [{"id": "a", "ref": "r"}]}}, 400),
    ({"content": {"version": "1.1", "biz": "chat", "meta": {"output": {}}, "blocks": []}}, 400),
    ({"text": "a", "status": "streaming"}, 400),
    ({"text": "a", "status": "done"}, 400),
    ({"text": "a", "stream": True, "status": "failed"}, 400),
    ({"text": "a", "stream": "yes"}, 400),
    ({"text": "a", "error": "broken"}, 400),
    ({"text": "a", "error": {"code": 1, "message": "x"}}, 400),
    ({"text": "a", "client_message_id": ""}, 400),
    ({"text": "a", "client_message_id": "x" * 129}, 400),
    ({"text": "a", "key": "x" * 129}, 400),
    ({"text": "a", "client_message_id": 7}, 400),
    ({"text": "a", "actor": {"kind": "user", "key": "ben"}}, 403),
    ({"text": "a", "actor": {"kind": "operator", "key": "ann/x"}}, 403),
    ({"text": "a", "actor": {"kind": "user"}}, 400),
    ({"text": "a", "actor": "user/ann"}, 400),
    ({"text": "a", "target": {"kind": "", "key": "k"}}, 400),
    ({"text": "a", "reply_to_id": "nonsense"}, 400),
    ({"text": "a", "reply_to_id": str(new_id())}, 404),
    ({"text": "a", "mentions": ["nonsense"]}, 400),
    ({"text": "a", "mentions": [str(new_id())]}, 400),
    ({"text": "a", "mentions": "all"}, 400),
    ({"text": "a", "notify_principal_id": str(new_id())}, 403),
    ({"text": "a", "message_type": "html"}, 400),
]


@pytest.mark.parametrize(("body", "status"), NOT_SENT)
def test_what_cannot_be_said_is_refused_and_leaves_nothing(world: World, body: dict, status: int) -> None:
    with facts_of(world) as batches:
        answer = send(world, "ann", "x", **body)
    assert (answer.status, batches) == (status, [])
    assert answer.error["message"]
    assert untouched(world, "x")


def test_a_body_that_is_no_object_is_refused(world: World) -> None:
    for body in ([], "hello", 5, True):
        assert world.call("ann", "POST", f"/conversations/{world.scope['x'].id}/messages", body).status == 400


def test_a_reply_to_a_message_of_another_conversation_is_refused(world: World) -> None:
    elsewhere = post(world, "ann", "p")
    assert send(world, "ann", "x", text="a", reply_to_id=str(elsewhere.id)).status == 404
    assert untouched(world, "x")


def test_a_principal_must_be_a_member_of_the_conversation(world: World) -> None:
    stranger = str(world.member["cat"].id)
    assert send(world, "bot", "x", text="a", notify_principal_id=stranger).status == 400


@pytest.mark.parametrize(
    ("who", "scope", "status"),
    [("cat", "x", 409), ("cat", "p", 404), ("bot", "p", 404), ("eve", "x", 404), (None, "x", 401), ("ben", "p", 201)],
)
def test_who_may_send_where(world: World, who: str | None, scope: str, status: int) -> None:
    assert send(world, who, scope, text="a").status == status


def test_whoever_left_must_join_again_and_an_archive_takes_nothing(world: World) -> None:
    leave(world, "ben", "x")
    left = send(world, "ben", "x", text="a")
    assert (left.status, "oin" in left.error["message"]) == (409, True)
    archive(world, "ann", "x")
    assert send(world, "ann", "x", text="a").status == 409
    assert untouched(world, "x")


def test_writers_are_pushed_back_while_unread_cannot_keep_up(world: World) -> None:
    class Full(NoUnread):
        def overloaded(self, workspace_id: Any) -> bool:
            return workspace_id == world.id

    before = unread_reader()
    install_unread_reader(Full())
    try:
        assert send(world, "ann", "x", text="a").status == 503
        assert untouched(world, "x")
        assert world.call("ann", "GET", f"/conversations/{world.scope['x'].id}/messages").status == 200
    finally:
        install_unread_reader(before)
