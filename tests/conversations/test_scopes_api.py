"""Conversations, their members and threads over HTTP: each success and each refusal."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest

from conversations.models import Scope
from tests import verbs
from tests.world import Answer, World


@pytest.fixture
def world() -> World:
    return World("ann", "ben", "cat", "dan", agents=("bot",), strangers=("sue",))


def create(world: World, who: str, kind: str = "channel", **body: Any) -> Answer:
    names = body.pop("members", ())
    if names:
        body["member_ids"] = [world.member[name].id for name in names]
    return world.call(who, "POST", "/conversations", {"workspace_id": world.id, "type": kind, **body})


def test_a_new_channel_looks_as_the_contract_says(world: World) -> None:
    made = create(world, "ann", name=" general ", members=["ben"])
    assert made.status == 201
    fixed = {
        "workspace_id": str(world.id),
        "type": "channel",
        "name": "general",
        "visibility": "public",
        "parent_id": None,
        "root_message_id": None,
        "actor": None,
        "status": "active",
        "archived_at": None,
        "latest_seq": 0,
        "latest_activity_seq": 0,
        "visible_message_count": 0,
        "visible_last_message_at": None,
        "joined": True,
        "level": "all",
        "watch": None,
        "last_read_seq": 0,
        "last_activity_read_seq": 0,
        "effective_from_seq": 1,
        "manual": False,
        "members": None,
        "last_message": None,
    }
    assert {key: made[key] for key in fixed} == fixed
    seen = world.call("cat", "GET", f"/conversations/{made['id']}").ok()
    assert (seen["joined"], seen["level"], seen["last_read_seq"], seen["effective_from_seq"]) == (False, *[None] * 3)


def test_a_conversation_shows_the_members_own_state_and_the_last_visible_message(world: World) -> None:
    world.channel("x", "ann", "ben")
    first = verbs.post(world, "ann", "x", "the  first\nline")
    verbs.post(world, "ann", "x", "hidden", message_type="task_dispatch")
    verbs.read(world, "ben", "x", first)
    verbs.notify(world, "ben", "x", "mentions")
    verbs.mark_unread(world, "ben", "x")
    shown = world.call("ben", "GET", f"/conversations/{world.scope['x'].id}").ok()
    assert (shown["latest_seq"], shown["visible_message_count"], shown["last_read_seq"]) == (2, 1, 1)
    assert (shown["level"], shown["manual"]) == ("mentions", True)
    last = shown["last_message"]
    assert (last["id"], last["preview"], last["author"]["display_name"]) == (str(first.id), "the first line", "Ann")
    verbs.delete(world, "ann", first)
    assert world.call("ben", "GET", f"/conversations/{world.scope['x'].id}")["last_message"] is None


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"name": ""}, 400),
        ({"name": "  "}, 400),
        ({"name": "n" * 121}, 400),
        ({"name": "bell\x07"}, 400),
        ({"name": 3}, 400),
        ({"visibility": "secret"}, 400),
        ({"type": "thread"}, 400),
        ({"type": "task"}, 400),
        ({"type": None}, 400),
        ({"workspace_id": "x"}, 400),
        ({"workspace_id": 5}, 400),
        ({"workspace_id": str(uuid4())}, 404),
        ({"member_ids": [str(uuid4())]}, 404),
        ({"member_ids": "all"}, 400),
        ({"member_ids": ["x"]}, 400),
        ({"member_ids": [str(uuid4()) for _ in range(1001)]}, 400),
        ({"type": "dm", "name": "chat"}, 400),
        ({"type": "dm", "name": "", "member_ids": [str(uuid4()) for _ in range(20)]}, 400),
    ],
)
def test_a_bad_request_makes_nothing(world: World, body: dict[str, Any], status: int) -> None:
    good = {"workspace_id": world.id, "type": "channel", "name": "good"}
    refused = world.call("ann", "POST", "/conversations", {**good, **body})
    assert refused.status == status, refused
    assert refused.error["message"]
    assert not Scope.objects.filter(workspace=world.id).exists()


def test_a_member_of_another_workspace_cannot_be_named(world: World) -> None:
    elsewhere = World("eve")
    refused = create(world, "ann", name="x", member_ids=[elsewhere.member["eve"].id])
    assert (refused.status, refused.error["fields"]) == (404, {"member_ids": [str(elsewhere.member["eve"].id)]})


def test_a_public_channels_name_is_its_own_whatever_the_case(world: World) -> None:
    general = create(world, "ann", name="General Chat").ok()
    assert create(world, "ben", name="general  CHAT").status == 409
    assert create(world, "ben", name="ｇeneral chat").status == 409
    assert create(world, "ben", name="general chat", visibility="private").status == 201
    other = create(world, "ben", name="other").ok()
    assert world.call("ben", "PATCH", f"/conversations/{other['id']}", {"name": "GENERAL CHAT"}).status == 409
    assert world.call("ben", "GET", f"/conversations/{other['id']}")["name"] == "other"
    world.call("ann", "PATCH", f"/conversations/{general['id']}", {"name": "elsewhere"}).ok()
    assert world.call("ben", "PATCH", f"/conversations/{other['id']}", {"name": "General chat"}).status == 200
    world.call("ann", "PATCH", f"/conversations/{general['id']}", {"name": "ELSEWHERE"}).ok()


def test_a_private_channel_takes_its_name_when_it_goes_public(world: World) -> None:
    create(world, "ann", name="taken").ok()
    hidden = create(world, "ann", name="taken", visibility="private").ok()
    at = f"/conversations/{hidden['id']}"
    assert world.call("ann", "PATCH", at, {"visibility": "public"}).status == 409
    assert world.call("ann", "GET", at)["visibility"] == "private"
    both = world.call("ann", "PATCH", at, {"visibility": "public", "name": "free"}).ok()
    assert (both["visibility"], both["name"], both["latest_activity_seq"]) == ("public", "free", 2)
    assert create(world, "ann", name="Free").status == 409


def test_a_dm_is_found_again_by_its_members(world: World) -> None:
    made = create(world, "ann", "dm", members=["ben"])
    assert (made.status, made["visibility"], made["name"]) == (201, "private", "")
    assert {m["display_name"] for m in made["members"]} == {"Ann", "Ben"}
    for who, members in (("ben", ["ann"]), ("ann", ["ben", "ann", "ben"])):
        found = create(world, who, "dm", members=members)
        assert (found.status, found["id"]) == (200, made["id"])
    assert create(world, "ann", "dm", members=["ben", "cat"])["id"] != made["id"]


def test_a_dm_with_oneself(world: World) -> None:
    made = create(world, "ann", "dm")
    assert (made.status, [m["display_name"] for m in made["members"]]) == (201, ["Ann"])
    assert create(world, "ann", "dm", members=["ann"])["id"] == made["id"]
    assert world.call("ann", "POST", f"/conversations/{made['id']}/messages", {"text": "note"}).status == 201


def test_finding_an_archived_dm_restores_it(world: World) -> None:
    made = create(world, "ann", "dm", members=["ben"]).ok()
    world.call("ann", "POST", f"/conversations/{made['id']}/archive").ok()
    found = create(world, "ben", "dm", members=["ann"])
    assert (found.status, found["id"], found["status"], found["archived_at"]) == (200, made["id"], "active", None)


def test_a_dm_with_a_deactivated_member_is_found_but_not_made(world: World) -> None:
    made = create(world, "ann", "dm", members=["ben"]).ok()
    for name in ("ben", "cat"):
        world.call("ann", "DELETE", f"/workspaces/{world.id}/members/{world.member[name].id}").ok()
    found = create(world, "ann", "dm", members=["ben"])
    assert (found.status, found["id"], len(found["members"])) == (200, made["id"], 2)
    assert create(world, "ann", "dm", members=["cat"]).status == 409
    assert create(world, "ann", name="x", members=["cat"]).status == 409


def test_a_user_conversation_belongs_to_a_person(world: World) -> None:
    made = create(world, "ben", "conversation", name="plan", visibility="public", members=["bot"])
    assert made.status == 201
    assert (made["visibility"], made["actor"]) == ("private", {"kind": "user", "key": "ben"})
    assert create(world, "ben", "conversation").status == 201
    assert create(world, "bot", "conversation", name="mine").status == 403


def test_lists_show_what_the_caller_may_see(world: World) -> None:
    for name in ("x", "y", "old"):
        world.channel(name, "ann")
    world.channel("hidden", "ann", "ben", private=True)
    world.dm("dm", "ben", "cat")
    verbs.thread(world, "ann", verbs.post(world, "ann", "x"), "thread")
    verbs.archive(world, "ann", "old")

    def listed(who: str, **query: Any) -> list[str]:
        names = {str(scope.id): name for name, scope in world.scope.items()}
        answer = world.call(who, "GET", "/conversations", **{"workspace_id": world.id, **query}).ok()
        assert answer["next"] is None
        return sorted(names[item["id"]] for item in answer["items"])

    assert listed("ben") == ["dm", "hidden", "x", "y"]
    assert listed("dan") == ["x", "y"]
    assert listed("ben", type="channel") == ["hidden", "x", "y"]
    assert listed("ben", joined="true") == ["dm", "hidden"]
    assert listed("ben", joined="false") == ["x", "y"]
    assert listed("ben", archived="true") == ["old"]
    assert listed("ben", archived="false") == ["dm", "hidden", "x", "y"]
    x = world.scope["x"].id
    assert listed("dan", parent_id=x) == ["thread"]
    assert listed("dan", parent_id=x, workspace_id=None) == ["thread"]
    assert listed("dan", parent_id=x, type="conversation") == []
    assert listed("ann", type="thread", joined="true") == ["thread"]
    assert listed("dan", type="thread") == []
    verbs.archive(world, "ann", "x")
    assert listed("ann", parent_id=x) == []
    assert listed("ann", parent_id=x, archived="true") == ["thread"]
    hidden = world.scope["hidden"].id
    assert world.call("dan", "GET", "/conversations", parent_id=hidden).status == 404


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ({}, 400),
        ({"workspace_id": "x"}, 400),
        ({"type": "room"}, 400),
        ({"joined": "maybe"}, 400),
        ({"archived": "1"}, 400),
        ({"parent_id": "x"}, 400),
        ({"parent_id": str(uuid4())}, 404),
        ({"workspace_id": str(uuid4())}, 404),
        ({"limit": "-1"}, 400),
    ],
)
def test_a_bad_list_is_refused(world: World, query: dict[str, str], status: int) -> None:
    given = {} if not query else {"workspace_id": world.id, **query}
    assert world.call("ann", "GET", "/conversations", **given).status == status


def test_conversations_come_in_pages(world: World) -> None:
    ids = [str(world.channel(f"c{n}", "ann").id) for n in range(5)]
    seen, cursor = [], None
    while True:
        page = world.call("ben", "GET", "/conversations", workspace_id=world.id, limit=2, cursor=cursor).ok()
        seen += [item["id"] for item in page["items"]]
        if (cursor := page["next"]) is None:
            break
    assert seen == ids


def test_a_channel_is_renamed_and_hidden(world: World) -> None:
    x = world.channel("x", "ann", "ben")
    at = f"/conversations/{x.id}"
    changed = world.call("ann", "PATCH", at, {"name": "y", "visibility": "private"}).ok()
    assert (changed["name"], changed["visibility"]) == ("y", "private")
    assert world.call("cat", "GET", at).status == 404
    for bad in ({"name": ""}, {"name": None}, {"visibility": "open"}, {"name": "a\nb"}, "text"):
        assert world.call("ann", "PATCH", at, bad).status == 400
    assert world.call("ann", "PATCH", at, {}).status == 200
    assert world.call("ann", "PATCH", f"/conversations/{uuid4()}", {"name": "z"}).status == 404


def test_an_archived_channel_refuses_joins_and_can_be_left(world: World) -> None:
    x = world.channel("x", "ann", "ben")
    at = f"/conversations/{x.id}"
    archived = world.call("ann", "POST", f"{at}/archive").ok()
    assert (archived["status"], archived["archived"]) == ("archived", True)
    assert archived["archived_at"] is not None
    assert world.call("cat", "POST", f"{at}/members").status == 409
    assert world.call("ann", "POST", f"{at}/members", {"member_id": world.member["cat"].id}).status == 409
    assert world.call("ben", "DELETE", f"{at}/members/{world.member['ben'].id}").status == 204
    assert world.call("ann", "GET", f"{at}/messages").status == 200
    assert world.call("ann", "POST", f"{at}/restore")["archived"] is False
    assert world.call("cat", "POST", f"{at}/members").status == 201


def test_an_archived_parent_archives_its_threads_by_derivation(world: World) -> None:
    world.channel("x", "ann", "ben")
    thread = verbs.thread(world, "ann", verbs.post(world, "ann", "x"), "t")
    verbs.archive(world, "ann", "x")
    at = f"/conversations/{thread.id}"
    shown = world.call("ben", "GET", at).ok()
    assert (shown["status"], shown["archived"]) == ("active", True)
    assert world.call("ben", "POST", f"{at}/members").status == 409
    assert world.call("ann", "POST", f"{at}/messages", {"text": "x"}).status == 409
    verbs.restore(world, "ann", "x")
    assert world.call("ann", "POST", f"{at}/messages", {"text": "x"}).status == 201


@pytest.mark.parametrize(
    ("body", "status"),
    [({"member_id": "x"}, 400), ({"member_id": 5}, 400), ({"member_id": str(uuid4())}, 404), ([1], 400)],
)
def test_adding_nobody_is_refused(world: World, body: Any, status: int) -> None:
    x = world.channel("x", "ann")
    assert world.call("ann", "POST", f"/conversations/{x.id}/members", body).status == status


def test_members_of_a_conversation_come_in_pages(world: World) -> None:
    x = world.channel("x", "ann", "ben", "cat")
    verbs.join(world, "dan", "x")
    verbs.leave(world, "ben", "x")
    at = f"/conversations/{x.id}/members"
    first = world.call("ben", "GET", at, limit=2).ok()
    second = world.call("ben", "GET", at, limit=2, cursor=first["next"]).ok()
    assert [m["display_name"] for m in first["items"] + second["items"]] == ["Ann", "Cat", "Dan"]
    assert second["next"] is None
    assert world.call("ann", "DELETE", f"{at}/{uuid4()}").status == 404
    assert world.call("ann", "DELETE", f"{at}/{world.member['ben'].id}").status == 204


def test_a_deactivated_member_cannot_be_added(world: World) -> None:
    x = world.channel("x", "ann", "ben")
    world.call("ann", "DELETE", f"/workspaces/{world.id}/members/{world.member['ben'].id}").ok()
    refused = world.call("ann", "POST", f"/conversations/{x.id}/members", {"member_id": world.member["ben"].id})
    assert (refused.status, refused.error["message"]) == (409, "This member is deactivated.")


def test_a_thread_is_made_once(world: World) -> None:
    x = world.channel("x", "ann", "ben")
    root = verbs.post(world, "ann", "x")
    at = f"/messages/{root.id}/thread"
    assert world.call("dan", "POST", at).status == 409
    made = world.call("ben", "POST", at)
    assert (made.status, made["type"], made["parent_id"], made["root_message_id"]) == (
        201,
        "thread",
        str(x.id),
        str(root.id),
    )
    assert (made["joined"], made["visibility"]) == (True, "public")
    found = world.call("dan", "POST", at)
    assert (found.status, found["id"], found["joined"]) == (200, made["id"], False)
    reply = world.call("ann", "POST", f"/conversations/{made['id']}/messages", {"text": "reply"}).ok()
    nested = world.call("ann", "POST", f"/messages/{reply['id']}/thread")
    assert nested.status == 400
    assert "thread" in nested.error["message"]


def test_a_thread_needs_a_message_that_can_be_seen(world: World) -> None:
    world.channel("x", "ann", private=True)
    root = verbs.post(world, "ann", "x")
    assert world.call("ben", "POST", f"/messages/{root.id}/thread").status == 404
    assert world.call("ann", "POST", f"/messages/{uuid4()}/thread").status == 404
    verbs.archive(world, "ann", "x")
    assert world.call("ann", "POST", f"/messages/{root.id}/thread").status == 409


def test_only_members_of_the_parent_can_be_in_its_thread(world: World) -> None:
    world.channel("x", "ann", "ben")
    thread = verbs.thread(world, "ann", verbs.post(world, "ann", "x"), "t")
    at = f"/conversations/{thread.id}/members"
    refused = world.call("ann", "POST", at, {"member_id": world.member["cat"].id})
    assert refused.status == 409
    assert world.call("ann", "POST", at, {"member_id": world.member["ben"].id}).status == 201
    assert [m["display_name"] for m in world.call("ann", "GET", at)["items"]] == ["Ann", "Ben"]


def test_a_thread_outlives_its_root(world: World) -> None:
    world.channel("x", "ann", "ben")
    root = verbs.post(world, "ann", "x")
    thread = verbs.thread(world, "ben", root, "t")
    verbs.delete(world, "ann", root)
    assert world.call("ben", "GET", f"/conversations/{thread.id}").status == 200
    assert world.call("ben", "POST", f"/conversations/{thread.id}/messages", {"text": "still"}).status == 201
    assert world.call("ben", "POST", f"/messages/{root.id}/thread").status == 404
