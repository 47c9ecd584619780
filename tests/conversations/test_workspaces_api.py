"""Identity, workspaces, members and the directory over HTTP: each success and each refusal."""

from __future__ import annotations

import secrets
from typing import Any

import pytest
from django.test import Client

from conversations.models import Member, Workspace
from tests.world import World, facts_of


@pytest.fixture
def world() -> World:
    return World("ann", "ben", "cat", agents=("bot",), strangers=("sue",))


def slug() -> str:
    return f"s-{secrets.token_hex(4)}"


def test_me(world: World) -> None:
    me = world.call("ben", "GET", "/me").ok()
    assert me["user"] == {"id": world.user["ben"].pk, "username": world.user["ben"].username, "service": False}
    assert (me["member"], me["actor"], me["role"]) == (None, None, None)
    there = world.call("bot", "GET", "/me", workspace_id=world.id).ok()
    assert there["user"]["service"] is True
    assert there["member"]["id"] == str(world.member["bot"].id)
    assert (there["actor"], there["role"]) == ({"kind": "operator", "key": "bot"}, "member")


@pytest.mark.parametrize(
    ("who", "workspace", "status"),
    [("sue", "", 404), ("ben", "nonsense", 400), (None, "", 401), ("ben", "0" * 32, 404)],
)
def test_me_is_refused(world: World, who: str | None, workspace: str, status: int) -> None:
    assert world.call(who, "GET", "/me", workspace_id=workspace or world.id).status == status


def test_whoever_makes_a_workspace_is_its_admin(world: World) -> None:
    name = slug()
    made = world.call("sue", "POST", "/workspaces", {"slug": name, "name": "  Sue's place "})
    assert made.status == 201
    assert made.body == {"id": made["id"], "slug": name, "name": "Sue's place", "has_unread": False}
    assert world.call("sue", "GET", "/me", workspace_id=made["id"])["role"] == "admin"
    assert [w["id"] for w in world.call("sue", "GET", "/workspaces")["items"]] == [made["id"]]
    assert world.call("sue", "GET", f"/workspaces/{made['id']}").body == made.body
    assert world.call("ben", "GET", f"/workspaces/{made['id']}").status == 404


@pytest.mark.parametrize(
    "change",
    [
        {"slug": ""},
        {"slug": "Upper"},
        {"slug": "two words"},
        {"slug": "-first"},
        {"slug": "a" * 65},
        {"slug": "line\n"},
        {"slug": 5},
        {"slug": None},
        {"name": ""},
        {"name": "   "},
        {"name": "a" * 121},
        {"name": "two\nlines"},
        {"name": "nul\x00"},
        {"name": "\u200b\u200b"},
        {"name": "\u202e\u200f"},
        {"name": "\u00ad \u0301"},
        {"name": 7},
        {"name": ["list"]},
    ],
)
def test_a_workspace_needs_a_good_slug_and_name(world: World, change: dict[str, Any]) -> None:
    before = Workspace.objects.count()
    refused = world.call("ann", "POST", "/workspaces", {"slug": slug(), "name": "Good", **change})
    assert refused.status == 400
    assert refused.error["type"] == "invalid_request"
    assert set(refused.error["fields"]) == set(change)
    assert Workspace.objects.count() == before


def test_a_slug_is_taken_once(world: World) -> None:
    refused = world.call("sue", "POST", "/workspaces", {"slug": world.workspace.slug, "name": "Mine"})
    assert (refused.status, refused.error["fields"]) == (409, {"slug": world.workspace.slug})
    other = world.call("ann", "POST", "/workspaces", {"slug": slug(), "name": "Other"}).ok()
    renamed = world.call("ann", "PATCH", f"/workspaces/{other['id']}", {"slug": world.workspace.slug})
    assert renamed.status == 409
    assert Workspace.objects.get(id=other["id"]).slug == other["slug"]


def test_an_admin_renames_the_workspace(world: World) -> None:
    at = f"/workspaces/{world.id}"
    with facts_of(world) as batches:
        assert world.call("ann", "PATCH", at, {"name": "New"})["name"] == "New"
        assert world.call("ann", "PATCH", at, {"name": "New"}).status == 200
        assert world.call("ann", "PATCH", at, {}).status == 200
    assert [type(fact).__name__ for batch in batches for fact in batch] == ["WorkspaceUpdated"]
    assert world.call("ben", "PATCH", at, {"name": "Ben's"}).status == 403
    assert world.call("sue", "PATCH", at, {"name": "Sue's"}).status == 404
    assert world.call("ann", "PATCH", at, ["no"]).status == 400


def test_workspaces_come_in_pages(world: World) -> None:
    made = [world.call("sue", "POST", "/workspaces", {"slug": slug(), "name": "w"})["id"] for _ in range(3)]
    first = world.call("sue", "GET", "/workspaces", limit=2)
    second = world.call("sue", "GET", "/workspaces", limit=2, cursor=first["next"])
    assert [w["id"] for w in [*first["items"], *second["items"]]] == made
    assert second["next"] is None
    for bad in ({"limit": 0}, {"limit": 201}, {"limit": "x"}, {"cursor": "x"}):
        assert world.call("sue", "GET", "/workspaces", **bad).status == 400


def members(world: World) -> str:
    return f"/workspaces/{world.id}/members"


def test_an_admin_adds_a_user(world: World) -> None:
    username = world.user["sue"].username
    with facts_of(world) as batches:
        added = world.call("ann", "POST", members(world), {"username": username, "display_name": "Sue"})
    assert added.status == 201
    assert added.body == {
        "id": added["id"],
        "username": username,
        "actor": {"kind": "user", "key": username},
        "display_name": "Sue",
        "role": "member",
        "status": "active",
    }
    assert [type(fact).__name__ for batch in batches for fact in batch] == ["MemberUpdated"]
    assert world.call("sue", "GET", f"/workspaces/{world.id}").status == 200
    again = world.call("ann", "POST", members(world), {"username": username})
    assert (again.status, again.error["fields"]) == (409, {"member_id": added["id"]})


def test_an_actor_is_one_members(world: World) -> None:
    taken = {"username": world.user["sue"].username, "actor_kind": "operator", "actor_key": "bot"}
    assert world.call("ann", "POST", members(world), taken).status == 409
    made = world.call("ann", "POST", members(world), {**taken, "actor_key": "BOT", "role": "admin"})
    assert (made.status, made["actor"], made["role"]) == (201, {"kind": "operator", "key": "BOT"}, "admin")


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"username": "nobody-at-all"}, 404),
        ({}, 400),
        ({"username": 5}, 400),
        ({"username": "SUE", "role": "owner"}, 400),
        ({"username": "SUE", "display_name": "a" * 121}, 400),
        ({"username": "SUE", "actor_kind": "k" * 129}, 400),
        ({"username": "SUE", "actor_key": " padded "}, 400),
        ({"username": "SUE", "actor_key": "tab\t"}, 400),
    ],
)
def test_adding_is_refused(world: World, body: dict[str, Any], status: int) -> None:
    given = {**body, "username": world.user["sue"].username} if body.get("username") == "SUE" else body
    assert world.call("ann", "POST", members(world), given).status == status
    assert not Member.objects.filter(workspace=world.workspace, user=world.user["sue"]).exists()


def test_a_refusal_does_not_repeat_a_long_value(world: World) -> None:
    refused = world.call(
        "ann", "PATCH", f"/workspaces/{world.id}/members/{world.member['ben'].id}", {"role": "x" * 9999}
    )
    assert (refused.status, set(refused.error["fields"])) == (400, {"role"})
    assert len(str(refused.body)) < 1000


def test_only_admins_manage_members(world: World) -> None:
    one = f"{members(world)}/{world.member['cat'].id}"
    for who, status in (("ben", 403), ("bot", 403), ("sue", 404), (None, 401)):
        assert world.call(who, "POST", members(world), {"username": world.user["sue"].username}).status == status
        assert world.call(who, "PATCH", one, {"role": "admin"}).status == status
        assert world.call(who, "DELETE", one).status == status
    assert Member.objects.get(id=world.member["cat"].id).role == "member"


def test_an_admin_changes_a_member(world: World) -> None:
    one = f"{members(world)}/{world.member['ben'].id}"
    changed = world.call("ann", "PATCH", one, {"role": "admin", "display_name": "Benjamin"}).ok()
    assert (changed["role"], changed["display_name"]) == ("admin", "Benjamin")
    assert world.call("ann", "PATCH", one, {"status": "gone"}).status == 400
    assert world.call("ann", "PATCH", one, {"role": None}).status == 400
    missing = f"{members(world)}/{world.id}"
    assert world.call("ann", "PATCH", missing, {"role": "admin"}).status == 404
    assert world.call("ann", "DELETE", missing).status == 404


def test_the_last_admin_stays(world: World) -> None:
    ann, ben = (f"{members(world)}/{world.member[name].id}" for name in ("ann", "ben"))
    assert world.call("ann", "PATCH", ann, {"role": "member"}).status == 409
    assert world.call("ann", "DELETE", ann).status == 409
    world.call("ann", "PATCH", ben, {"role": "admin"}).ok()
    assert world.call("ann", "DELETE", ann).status == 204
    assert world.call("ann", "GET", f"/workspaces/{world.id}").status == 404
    assert world.call("ben", "DELETE", ben).status == 409


def test_a_deactivated_member_is_out_and_can_be_brought_back(world: World) -> None:
    one = f"{members(world)}/{world.member['ben'].id}"
    world.channel("x", "ann", "ben")
    assert world.call("ann", "DELETE", one).status == 204
    assert world.call("ann", "DELETE", one).status == 204
    assert world.call("ben", "GET", f"/workspaces/{world.id}").status == 404
    assert world.call("ben", "GET", "/workspaces")["items"] == []
    assert world.call("ben", "GET", f"/conversations/{world.scope['x'].id}").status == 404
    listed = {m["id"]: m["status"] for m in world.call("ann", "GET", members(world))["items"]}
    assert listed[str(world.member["ben"].id)] == "deactivated"
    again = world.call("ann", "POST", members(world), {"username": world.user["ben"].username})
    assert again.status == 409
    assert "active" in again.error["message"]
    assert world.call("ann", "PATCH", one, {"status": "active"})["status"] == "active"
    back = world.call("ben", "GET", f"/conversations/{world.scope['x'].id}").ok()
    assert back["joined"] is False


def test_members_are_listed_by_pages_and_found_by_name(world: World) -> None:
    first = world.call("ben", "GET", members(world), limit=3)
    rest = world.call("ben", "GET", members(world), limit=3, cursor=first["next"])
    names = [m["display_name"] for m in [*first["items"], *rest["items"]]]
    assert (names, rest["next"]) == (["Ann", "Ben", "Cat", "Bot"], None)
    assert [m["display_name"] for m in world.call("ben", "GET", members(world), q="aN")["items"]] == ["Ann"]
    assert world.call("ben", "GET", members(world), q="%")["items"] == []
    assert world.call("ben", "GET", members(world), q="x" * 101).status == 400
    assert world.call("sue", "GET", members(world)).status == 404


def test_the_directory_names_members_and_what_the_caller_may_see(world: World) -> None:
    world.channel("banana", "ann", "ben")
    world.channel("bananas in secret", "ann", private=True)
    world.dm("dm", "ben", "cat")
    world.channel("old banana", "ann")
    world.call("ann", "POST", f"/conversations/{world.scope['old banana'].id}/archive").ok()
    at = f"/workspaces/{world.id}/directory"
    found = world.call("ben", "GET", at, q="banana").ok()
    assert [c["name"] for c in found["conversations"]] == ["banana"]
    assert found["members"] == []
    assert {c["name"] for c in world.call("ann", "GET", at, q="BANANA")["conversations"]} == {
        "banana",
        "bananas in secret",
    }
    by_person = world.call("ben", "GET", at, q="cat")
    assert [m["display_name"] for m in by_person["members"]] == ["Cat"]
    assert [c["id"] for c in by_person["conversations"]] == [str(world.scope["dm"].id)]
    assert world.call("ann", "GET", at, q="cat")["conversations"] == []
    assert len(world.call("ben", "GET", at)["members"]) == 4
    assert world.call("ben", "GET", at, q="x" * 101).status == 400
    assert world.call("sue", "GET", at).status == 404


def test_a_session_needs_the_csrf_token(world: World) -> None:
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(world.user["ann"])
    assert browser.get("/v1/me").status_code == 200
    refused = browser.post("/v1/workspaces", {"slug": slug(), "name": "x"}, content_type="application/json")
    assert (refused.status_code, refused.json()["error"]["type"]) == (403, "forbidden")
