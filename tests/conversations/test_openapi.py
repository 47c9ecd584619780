"""The OpenAPI document is complete: generated without a warning, with every route, request, answer and refusal."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.urls import URLPattern, URLResolver, get_resolver
from drf_spectacular.drainage import GENERATOR_STATS
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.validation import validate_schema
from jsonschema import Draft202012Validator

from tests.world import World


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    GENERATOR_STATS.reset()
    made: dict[str, Any] = SchemaGenerator().get_schema(request=None, public=True)
    said = [*GENERATOR_STATS._warn_cache, *GENERATOR_STATS._error_cache]
    assert not said, said
    return made


def routes(patterns: list[Any], prefix: str = "") -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for pattern in patterns:
        path = prefix + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            found += routes(pattern.url_patterns, path)
        elif isinstance(pattern, URLPattern):
            found.append((path, pattern.callback))
    return found


def test_it_is_valid_openapi(document: dict[str, Any]) -> None:
    validate_schema(document)


def test_every_route_and_method_is_in_it(document: dict[str, Any]) -> None:
    documented = {(path, method.upper()) for path, item in document["paths"].items() for method in item}
    served = set()
    for path, view in routes(get_resolver().url_patterns):
        if path.startswith("v1/") and path not in ("v1/schema", "v1/docs"):
            plain = "/" + re.sub(r"<\w+:(\w+)>", r"{\1}", path)
            methods = {m.upper() for m in view.view_class.http_method_names if hasattr(view.view_class, m)}
            served |= {(plain, method) for method in methods - {"OPTIONS", "HEAD"}}
    assert served == documented


def test_every_operation_says_how_it_refuses(document: dict[str, Any]) -> None:
    silent = []
    for path, item in document["paths"].items():
        for method, operation in item.items():
            answers = operation["responses"]
            wanted = {"401"}
            if "requestBody" in operation:
                wanted |= {"400", "413"}
            if "id}" in path:  # of something in a workspace
                wanted |= {"404", "421"}
            if missing := wanted - answers.keys():
                silent.append(f"{method.upper()} {path}: {', '.join(sorted(missing))}")
            for status, answer in answers.items():
                if int(status) >= 400:
                    assert answer["content"]["application/json"]["schema"] == {"$ref": "#/components/schemas/Problem"}
    assert not silent, "\n".join(silent)


def test_it_is_served_to_whoever_is_logged_in() -> None:
    world = World("ann")
    assert world.call("ann", "GET", "/schema").status == 200
    docs = world.call("ann", "GET", "/docs")
    assert docs.status == 200
    assert b"swagger" in docs.response.content
    assert world.call(None, "GET", "/schema").status == 401
    assert world.call(None, "GET", "/docs").status == 401


def test_answers_are_as_described(document: dict[str, Any]) -> None:
    world = World("ann", "ben")
    x, d = world.channel("x", "ann", "ben").id, world.dm("d", "ann", "ben").id
    root = world.call("ann", "POST", f"/conversations/{x}/messages", {"text": "hello"}).ok()["id"]
    calls = [
        ("get", "/v1/me", f"/me?workspace_id={world.id}", None),
        ("get", "/v1/me", "/me", None),
        ("get", "/v1/workspaces", "/workspaces", None),
        ("get", "/v1/workspaces/{workspace_id}/members", f"/workspaces/{world.id}/members?limit=1", None),
        ("get", "/v1/workspaces/{workspace_id}/directory", f"/workspaces/{world.id}/directory", None),
        ("get", "/v1/conversations", f"/conversations?workspace_id={world.id}", None),
        ("get", "/v1/conversations/{scope_id}", f"/conversations/{d}", None),
        ("patch", "/v1/conversations/{scope_id}", f"/conversations/{x}", {"name": "y"}),
        ("post", "/v1/messages/{message_id}/thread", f"/messages/{root}/thread", None),
        ("post", "/v1/messages/{message_id}/thread", f"/messages/{root}/thread", None),
        ("post", "/v1/conversations", "/conversations", {"type": "channel"}),
        ("get", "/v1/conversations/{scope_id}/members", f"/conversations/{x}/members", None),
    ]
    for method, path, url, body in calls:
        answer = world.call("ann", method.upper(), url, body)
        described = document["paths"][path][method]["responses"][str(answer.status)]
        schema = described["content"]["application/json"]["schema"]
        checker = Draft202012Validator({**_json_schema(schema), "components": _json_schema(document["components"])})
        problems = [f"{error.json_path}: {error.message}" for error in checker.iter_errors(answer.body)]
        assert not problems, (method, url, answer.status, problems)
        if answer.status < 300 and "items" not in answer.body:
            assert answer.body.keys() == _resolved(document, schema)["properties"].keys()


def _resolved(document: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = document["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]]
    return found


def _json_schema(node: Any) -> Any:
    """OpenAPI 3.0 writes `nullable` where JSON Schema has a type null."""
    if isinstance(node, list):
        return [_json_schema(each) for each in node]
    if not isinstance(node, dict):
        return node
    plain = {key: _json_schema(value) for key, value in node.items() if key != "nullable"}
    return {"anyOf": [plain, {"type": "null"}]} if node.get("nullable") is True else plain
