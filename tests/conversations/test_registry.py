"""Who may be online as whom, for how long, and who sees it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from conversations.models import Harness, Member, Operator
from tests.world import World


@pytest.fixture
def world() -> World:
    return World("ann", "ben", agents=("bot", "rob"))


def put(world: World, who: str | None, key: str, kind: str = "operators", **body: Any) -> Any:
    return world.call(who, "PUT", f"/{kind}/{key}", {"name": "Bot", "lease_s": 60, **body})


def online(world: World, **query: Any) -> list[str]:
    items = world.call("ben", "GET", "/actors", limit=200, **query).ok()["items"]
    return [f"{item['kind']}/{item['key']}" for item in items if world.tag in item["key"]]


def own(world: World, who: str) -> str:
    """The agent's key, made one of this test's: the registry is the site's."""
    key = f"{who}-{world.tag}"
    Member.objects.filter(id=world.member[who].id).update(actor_key=key)
    return key


def test_an_agent_is_online_while_its_lease_stands(world: World) -> None:
    key = own(world, "bot")
    first = put(world, "bot", key, description="Answers.")
    assert first.status == 201
    again = put(world, "bot", key, lease_s=600)
    assert again.status == 200
    assert again.ok()["expires_at"] > first.ok()["expires_at"]
    assert put(world, "bot", f"{key}/planner").status == 201
    assert online(world) == [f"operator/{key}", f"operator/{key}/planner"]
    assert online(world, kind="harness") == []
    Operator.objects.filter(key=key).update(expires_at=timezone.now() - timedelta(seconds=1))
    assert online(world) == [f"operator/{key}/planner"]
    assert Operator.objects.filter(key=key).exists()
    assert put(world, "bot", key).status == 200
    assert len(online(world)) == 2


def test_nobody_is_online_as_somebody_else(world: World) -> None:
    key = own(world, "bot")
    assert put(world, "rob", key).status == 403
    assert put(world, "rob", f"{key}/planner").status == 403
    assert put(world, "bot", f"{key}er").status == 403
    assert put(world, "bot", f"{key}/").status == 403
    assert put(world, "bot", key, kind="harnesses").status == 403
    assert put(world, "ben", key).status == 403
    assert put(world, None, key).status == 401
    assert not Operator.objects.filter(key__startswith=key).exists()


def test_an_admin_registers_what_nobody_holds(world: World) -> None:
    key = f"shell-{world.tag}"
    assert put(world, "ann", key, kind="harnesses").status == 201
    other = World("eve")
    taken = put(other, "eve", key, kind="harnesses")
    assert (taken.status, taken.error["fields"]) == (409, {"kind": "harness", "key": key})
    Harness.objects.filter(key=key).update(expires_at=timezone.now() - timedelta(seconds=1))
    assert put(other, "eve", key, kind="harnesses").status == 200
    assert put(world, "ann", key, kind="harnesses").status == 409


@pytest.mark.parametrize(
    "body", [{"lease_s": 4}, {"lease_s": 3601}, {"lease_s": "long"}, {"name": ""}, {"description": "x" * 2001}]
)
def test_what_cannot_be_registered(world: World, body: dict[str, Any]) -> None:
    assert put(world, "bot", own(world, "bot"), **body).status == 400


def test_pages_and_search(world: World) -> None:
    key = own(world, "bot")
    for role in ("a", "b", "c"):
        put(world, "bot", f"{key}/{role}", name=f"Role {role} {world.tag}").ok()
    put(world, "ann", f"z-{world.tag}", kind="harnesses", name=f"Harness {world.tag}").ok()
    seen, cursor = [], None
    while True:
        page = world.call("ben", "GET", "/actors", limit=1, q=world.tag, cursor=cursor).ok()
        seen += [item["key"] for item in page["items"]]
        if (cursor := page["next"]) is None:
            break
    assert seen == [f"z-{world.tag}", f"{key}/a", f"{key}/b", f"{key}/c"]
    assert online(world, q=f"role b {world.tag}") == [f"operator/{key}/b"]
    assert world.call("ben", "GET", "/actors", cursor="nobody/x").status == 400
    assert world.call("ben", "GET", "/actors", kind="user").status == 400
