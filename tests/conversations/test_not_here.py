"""A process that does not own the workspace, or whose unread cannot keep up, refuses before any work."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from conversations.ids import new_id
from conversations.models import Activity, Membership, ResourceLock, Scope
from conversations.ownership import LeaseStore, Owner, current_owner, install_owner
from conversations.ownership.leases import workspace_resource
from conversations.unread_port import NoUnread, install_unread_reader, unread_reader
from tests import verbs
from tests.world import World


@pytest.fixture
def world() -> World:
    world = World("ann", "ben", strangers=("sue",))
    world.channel("x", "ann")
    verbs.post(world, "ann", "x")
    return world


@pytest.fixture
def central() -> Iterator[None]:
    before = current_owner()
    install_owner(Owner(LeaseStore(f"test|{new_id()}", ttl_s=60), profile="central"))
    yield
    install_owner(before)


@pytest.fixture
def overloaded() -> Iterator[None]:
    class Overloaded(NoUnread):
        def overloaded(self, workspace_id: Any) -> bool:
            return True

    before = unread_reader()
    install_unread_reader(Overloaded())
    yield
    install_unread_reader(before)


def writes(world: World) -> list[tuple[str, str, Any]]:
    x, message = world.scope["x"].id, world.scope["x"].messages.get().id
    new = {"workspace_id": world.id, "name": "new"}
    return [
        ("POST", "/conversations", {**new, "type": "channel"}),
        ("POST", "/conversations", {**new, "type": "conversation"}),
        ("POST", "/conversations", {**new, "name": "", "type": "dm"}),
        ("PATCH", f"/conversations/{x}", {"name": "y"}),
        ("POST", f"/conversations/{x}/archive", None),
        ("POST", f"/conversations/{x}/restore", None),
        ("POST", f"/conversations/{x}/members", {"member_id": world.member["ben"].id}),
        ("DELETE", f"/conversations/{x}/members/{world.member['ann'].id}", None),
        ("POST", f"/messages/{message}/thread", None),
        ("PUT", f"/conversations/{x}/unread", {"message_id": message}),
        ("PUT", f"/conversations/{x}/notifications", {"level": "none"}),
        ("PATCH", f"/workspaces/{world.id}/members/{world.member['ben'].id}", {"status": "deactivated"}),
        ("DELETE", f"/workspaces/{world.id}/members/{world.member['ben'].id}", None),
    ]


def reads(world: World) -> list[tuple[str, str, Any]]:
    x = world.scope["x"].id
    return [
        ("GET", f"/workspaces/{world.id}/members", None),
        ("GET", f"/workspaces/{world.id}/directory", None),
        ("GET", f"/conversations?workspace_id={world.id}", None),
        ("GET", f"/conversations/{x}", None),
        ("GET", f"/conversations/{x}/members", None),
    ]


def reading(world: World) -> list[tuple[str, str, Any]]:
    """Writes that leave less unread, and are never pushed back."""
    x = world.scope["x"].id
    return [
        ("PUT", f"/conversations/{x}/read", {}),
        ("POST", f"/workspaces/{world.id}/read", {"conversation_ids": [x]}),
        ("DELETE", f"/conversations/{x}/unread", None),
    ]


def rows(world: World) -> list[Any]:
    return [
        list(Scope.objects.filter(workspace=world.id).order_by("id").values()),
        list(Membership.objects.filter(scope__workspace=world.id).order_by("id").values()),
        list(Activity.objects.filter(scope__workspace=world.id).order_by("id").values()),
        list(world.workspace.members.order_by("id").values()),
    ]


def test_a_process_that_owns_nothing_answers_421_before_any_work(world: World, central: None) -> None:
    before = rows(world)
    added = ("POST", f"/workspaces/{world.id}/members", {"username": world.user["sue"].username})
    for method, path, body in [*writes(world), *reads(world), added]:
        refused = world.call("ann", method, path, body)
        assert (refused.status, refused.error["type"]) == (421, "misdirected"), (method, path)
    assert rows(world) == before


def test_it_still_manages_workspaces(world: World, central: None) -> None:
    assert world.call("ann", "GET", "/workspaces")["items"][0]["has_unread"] is False
    assert world.call("ann", "GET", f"/workspaces/{world.id}").status == 200
    assert world.call("ann", "PATCH", f"/workspaces/{world.id}", {"name": "Renamed"}).status == 200
    assert world.call("ann", "GET", "/me", workspace_id=world.id).status == 200
    assert world.call("ann", "POST", "/workspaces", {"slug": f"c-{world.tag}", "name": "c"}).status == 201


def test_writers_are_pushed_back_and_readers_are_not(world: World, overloaded: None) -> None:
    before = rows(world)
    for method, path, body in writes(world):
        refused = world.call("ann", method, path, body)
        assert (refused.status, refused.error["type"]) == (503, "unavailable"), (method, path)
    assert rows(world) == before
    for method, path, body in [*reads(world), *reading(world)]:
        assert world.call("ann", method, path, body).status in (200, 204), (method, path)


def test_a_lease_that_moved_is_noticed_by_the_write_itself(world: World) -> None:
    """The process still believes that it owns the workspace."""
    before = rows(world)
    for method, path, body in writes(world)[:11]:
        epoch = current_owner().require(world.id)
        ResourceLock.objects.filter(resource=workspace_resource(world.id)).update(
            locker_id="elsewhere|boot|1|1|server", epoch=epoch + 1
        )
        refused = world.call("ann", method, path, body)
        assert refused.status == 421, (method, path, refused)
        ResourceLock.objects.filter(resource=workspace_resource(world.id)).update(locker_id="")
    assert rows(world) == before
