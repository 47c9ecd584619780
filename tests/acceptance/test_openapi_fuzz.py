"""Whatever the OpenAPI document allows, and what it forbids, is answered as the document says, and never with a 500.

Every operation gets cases drawn from its own schema, legal and illegal, with ids of things that exist put in most of
the time, so that they get past the first lookup. `LOOPD_FUZZ_EXAMPLES` asks for more cases, at random then.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable
from typing import Any

import pytest
import schemathesis
from drf_spectacular.generators import SchemaGenerator
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from schemathesis import Case, GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from .servers import Server

pytestmark = [pytest.mark.server, pytest.mark.slow]

MORE = int(os.environ.get("LOOPD_FUZZ_EXAMPLES", "0"))
EXAMPLES = MORE or 20
CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]

DOCUMENT = SchemaGenerator().get_schema(request=None, public=True)
ENDLESS = {path for path, item in DOCUMENT["paths"].items() if "text/event-stream" in str(item)}
"""Answers without an end; what they refuse has tests of its own."""
OPERATIONS = [
    operation
    for found in schemathesis.openapi.from_dict(DOCUMENT).get_all_operations()
    if (operation := found.ok()).path not in ENDLESS
]
IDS: dict[str, str] = {
    "workspace_id": "workspace",
    "scope_id": "scope",
    "conversation_id": "scope",
    "conversation_ids": "scope",
    "parent_id": "scope",
    "message_id": "message",
    "message_ids": "message",
    "to_message_id": "message",
    "reply_to_id": "message",
    "after": "message",
    "before": "message",
    "around": "message",
    "member_id": "member",
    "member_ids": "member",
    "mentions": "member",
    "notify_principal_id": "member",
}
"""By what kind of thing a field of that name is meant."""

MODEL = {"version": "1.1", "biz": "chat", "meta": {}, "blocks": [{"id": "a", "type": "text", "content": "Hello"}]}
SENSIBLE: dict[str, list[Any]] = {
    "emoji": ["thumbsup", "🎉"],
    "text": ["Hello @ben.fuzz", "x" * 20_000],
    "content": [MODEL],
    "type": ["share", "call", "channel", "dm"],
    "name": ["one", "two", "three", "four", "five", "six"],
    "message_type": ["default", "sticker", "system"],
    "status": ["active", "completed", "failed"],
    "actor": [{"kind": "user", "key": "ann.fuzz"}, {"kind": "user", "key": "ann.fuzz/helper"}],
    "username": ["cat.fuzz", "ben.fuzz"],
    "error": [{"code": "e", "message": "broken"}],
    "event": [{"op": "set", "seq": 1, "block": {"id": "a", "type": "text", "content": "x"}}, {"op": "end", "seq": 2}],
}
"""What has a meaning beyond its schema, and would hardly be drawn."""


class Scene:
    """A small workspace, made anew for each operation: what one destroys the next one finds whole."""

    def __init__(self, server: Server) -> None:
        self.server, self.token = server, server.token("ann.fuzz")
        other = server.token("ben.fuzz")
        server.token("cat.fuzz")
        me, ask = self.token, server.ask
        workspace = ask(me, "POST", "/workspaces", {"slug": f"fuzz-{uuid.uuid4().hex[:10]}", "name": "Fuzz"})["id"]
        ben = ask(me, "POST", f"/workspaces/{workspace}/members", {"username": "ben.fuzz"})["id"]
        made = {"workspace_id": workspace, "member_ids": [ben]}
        channel = ask(me, "POST", "/conversations", {**made, "type": "channel", "name": "open"})["id"]
        private = {**made, "type": "channel", "name": "closed", "visibility": "private"}
        scopes = [channel, ask(me, "POST", "/conversations", private)["id"]]
        scopes += [ask(me, "POST", "/conversations", {**made, "type": kind})["id"] for kind in ("dm", "conversation")]
        messages = [
            ask(token, "POST", f"/conversations/{channel}/messages", {"text": f"word {at}"})["id"]
            for at, token in enumerate((me, other, me))
        ]
        scopes.append(ask(me, "POST", f"/messages/{messages[0]}/thread")["id"])
        mine = ask(me, "GET", f"/me?workspace_id={workspace}")["member"]["id"]
        self.real = {"workspace": [workspace], "scope": scopes, "message": messages, "member": [mine, ben]}


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda each: f"{each.method.upper()} {each.path}")
def test_operation(server: Server, operation: Any) -> None:
    scene = Scene(server)

    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        derandomize=not MORE,
        suppress_health_check=list(HealthCheck),
        database=None,
    )
    @given(st.data())
    def run(data: st.DataObject) -> None:
        case = data.draw(_cases(operation))
        _make_sense(case, lambda values: data.draw(st.sampled_from(values)), scene)
        headers = {**(case.headers or {}), "Authorization": f"Bearer {scene.token}"}
        assume(all(name.isascii() and str(value).isascii() for name, value in headers.items()))
        response = case.call(base_url=f"http://127.0.0.1:{server.port}", headers=headers, timeout=30)
        case.validate_response(response, checks=CHECKS)

    run()
    assert server.is_ready(), server.said_last


def _cases(operation: Any) -> st.SearchStrategy[Case]:
    legal = operation.as_strategy(generation_mode=GenerationMode.POSITIVE)
    try:
        return st.one_of(legal, operation.as_strategy(generation_mode=GenerationMode.NEGATIVE))
    except Exception:  # an operation without parameters and body has nothing to get wrong
        return legal


def _make_sense(case: Case, draw: Callable[[list[Any]], Any], scene: Scene) -> None:
    """Mostly real ids and sensible values, so that a case gets past the first checks."""
    for place in (case.path_parameters, case.query, case.body):
        _replace(place, draw, scene)
    if isinstance(case.body, dict) and draw([True, True, False]):
        _thin_out(case.body, draw)


def _thin_out(body: dict[str, Any], draw: Callable[[list[Any]], Any]) -> None:
    """Down to a few members: with all of them at once hardly any request is legal."""
    if {"text", "content"} <= set(body):
        del body[draw(["text", "content"])]
    while len(body) > 3:
        del body[draw(sorted(body, key=lambda name: name in ("text", "content", "type", "workspace_id"))[:-2])]


def _replace(place: Any, draw: Callable[[list[Any]], Any], scene: Scene) -> None:
    if not isinstance(place, dict):
        return
    for name, value in list(place.items()):
        known = scene.real[IDS[name]] if name in IDS else SENSIBLE.get(name)
        if known is not None and draw([True, True, True, False]):
            place[name] = [draw(known) for _ in value[:3]] if isinstance(value, list) else draw(known)
        else:
            _replace(value, draw, scene)
