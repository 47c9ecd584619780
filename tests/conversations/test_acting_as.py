"""A service account does only what its actor may: every call that names an actor, by every caller."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.urls import URLPattern, get_resolver

from conversations.models import Harness, Member, Message, Operator
from tests.world import Answer, World

Call = Callable[[World, str, str, str], Answer]


def _post(path: str, **body: Any) -> Call:
    def call(world: World, who: str, kind: str, key: str) -> Answer:
        sent = {"actor": {"kind": kind, "key": key}, **body}
        return world.call(who, "POST", f"/conversations/{world.scope['c'].id}/{path}", sent)

    return call


def _commit(world: World, who: str, kind: str, key: str) -> Answer:
    """Of what that actor was given before, where it may be given anything."""
    said = Message.objects.filter(scope=world.scope["c"]).earliest("id")
    _post("poll")(world, "bot", kind, key)
    return _post("commit", message_id=str(said.id))(world, who, kind, key)


def _put(plural: str) -> Call:
    def call(world: World, who: str, kind: str, key: str) -> Answer:
        return world.call(who, "PUT", f"/{plural}/{key}", {"name": "Somebody", "lease_s": 5})

    return call


ASKED = {"effect_key": "e", "kind": "confirm", "title": "Go?", "prompt": "", "timeout_s": 60}
CALLS: dict[str, Call] = {
    "messages": _post("messages", text="hello"),
    "human": _post("human", **ASKED),
    "poll": _post("poll"),
    "commit": _commit,
    "operators": _put("operators"),
    "harnesses": _put("harnesses"),
}
NAMED = {"messages", "human", "poll", "commit"}
REGISTRIES = {"operators": "operator", "harnesses": "harness"}

TABLE: dict[str, tuple[str, str, bool]] = {
    "itself": ("operator", "bot", True),
    "a role of its own": ("operator", "bot/planner", True),
    "a role of a role": ("operator", "bot/planner/deep", True),
    "somebody else": ("operator", "rob", False),
    "a role of somebody else": ("operator", "rob/planner", False),
    "a name that begins like its own": ("operator", "botty", False),
    "a role without a name": ("operator", "bot/", False),
    "its own key in capitals": ("operator", "BOT", False),
    "another kind": ("harness", "bot", False),
    "a role of another kind": ("harness", "bot/planner", False),
    "a person": ("user", "ann", False),
    "a person of its name": ("user", "bot", False),
}


@pytest.fixture
def world() -> World:
    made = World("ann", "ben", agents=("bot", "rob"))
    made.conversation("c", "ann", "ben", "bot", "rob")
    made.call("ann", "POST", f"/conversations/{made.scope['c'].id}/messages", {"text": "to everybody"}).ok()
    return made


def rename(world: World, key: str) -> str:
    """The same key, made one of this test's: the registry is the site's."""
    name, _, role = key.partition("/")
    return f"{name}-{world.tag}/{role}" if "/" in key else f"{name}-{world.tag}"


@pytest.mark.parametrize("who_it_is", TABLE)
@pytest.mark.parametrize("call", CALLS)
def test_as_whom_an_agent_acts(world: World, call: str, who_it_is: str) -> None:
    kind, key, allowed = TABLE[who_it_is]
    if call in REGISTRIES:
        if REGISTRIES[call] != kind:
            pytest.skip("one registers as what the path says")
        Member.objects.filter(id=world.member["bot"].id).update(actor_key=f"bot-{world.tag}")
        Member.objects.filter(id=world.member["rob"].id).update(actor_key=f"rob-{world.tag}")
        key = rename(world, key)
    before = _rows(world)
    answer = CALLS[call](world, "bot", kind, key)
    assert (answer.status in (200, 201)) is allowed, answer
    if not allowed:
        assert answer.status == 403, answer
        assert _rows(world) == before


@pytest.mark.parametrize("call", sorted(NAMED))
def test_as_whom_a_person_acts(world: World, call: str) -> None:
    """An admin too."""
    for who in ("ann", "ben"):
        for kind, key in (("operator", "bot"), ("user", "ben" if who == "ann" else "ann")):
            assert CALLS[call](world, who, kind, key).status == 403
        if call != "commit":
            assert CALLS[call](world, who, "user", who).status in (200, 201)


def test_the_table_has_every_call_that_names_an_actor() -> None:
    """Whatever takes `actor` in its body is in the schema with it."""
    from drf_spectacular.generators import SchemaGenerator

    document: dict[str, Any] = SchemaGenerator().get_schema(request=None, public=True)
    schemas = document["components"]["schemas"]
    found = set()
    for path, item in document["paths"].items():
        for operation in item.values():
            body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
            shape = schemas.get(body.get("$ref", "").rpartition("/")[2], {})
            if "actor" in shape.get("properties", {}):
                found.add(path.rstrip("/").rpartition("/")[2])
    assert found == NAMED
    assert {route.split("/")[1] for route in _routes() if route.startswith(("v1/operators", "v1/harnesses"))} == set(
        REGISTRIES
    )


def _routes() -> list[str]:
    return [str(each) for each in _patterns(get_resolver().url_patterns)]


def _patterns(patterns: list[Any], prefix: str = "") -> list[str]:
    found: list[str] = []
    for each in patterns:
        path = prefix + str(each.pattern)
        found += [path] if isinstance(each, URLPattern) else _patterns(each.url_patterns, path)
    return found


def _rows(world: World) -> tuple[int, int]:
    registered = sum(kind.objects.filter(key__contains=world.tag).count() for kind in (Operator, Harness))
    return Message.objects.filter(scope=world.scope["c"]).count(), registered
