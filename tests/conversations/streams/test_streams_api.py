"""Events and blocks over HTTP: answers, refusals and who may."""

from __future__ import annotations

import pytest

from tests.conversations.content.rows import limits
from tests.verbs import leave, post
from tests.world import World

from .answers import begin, emit, end, more, opened, stage


@pytest.fixture
def world() -> World:
    return stage()


def test_an_answer_is_streamed_over_http(world: World) -> None:
    path = f"/conversations/{world.scope['x'].id}/messages"
    made = world.call("bot", "POST", path, {"text": "", "stream": True, "key": "k"})
    assert (made.status, made["status"], made["revision"]) == (201, "streaming", 0)
    events = f"/messages/{made['id']}/events"
    for seq, event in enumerate((begin(1), more(2, "Hel"), more(3, "lo"), end(4)), 1):
        answer = world.call("bot", "POST", events, {"event": event})
        assert (answer.status, answer.body) == (202, {"id": made["id"], "revision": seq})
    assert world.call("bot", "POST", events, {"event": end(4)}).status == 202
    shown = world.call("ann", "GET", f"/messages/{made['id']}").ok()
    assert (shown["status"], shown["revision"], shown["content"]["blocks"][0]["content"]) == ("completed", 4, "Hello")
    again = world.call("bot", "POST", path, {"text": "", "stream": True, "key": "k"})
    assert (again.status, again["id"], again["revision"]) == (200, made["id"], 4)
    assert world.call("bot", "POST", path, {"text": "other", "stream": True, "key": "k"}).status == 409


def test_refusals_name_what_is_expected(world: World) -> None:
    answer = opened(world)
    events = f"/messages/{answer.id}/events"
    gap = world.call("bot", "POST", events, {"event": begin(3)})
    assert (gap.status, gap.error["type"], gap.error["fields"]) == (409, "conflict", {"expected_seq": 1})
    emit(world, answer, begin(1))
    assert world.call("bot", "POST", events, {"event": begin(1, text="y")}).error["fields"] == {"expected_seq": 2}
    emit(world, answer, end(2))
    late = world.call("bot", "POST", events, {"event": more(3, "x")})
    assert (late.status, late.error["fields"]) == (409, {"expected_seq": None, "status": "completed"})


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"event": None},
        {"event": []},
        {"event": {"op": "end"}},
        {"event": {"op": "end", "seq": -1}},
        {"event": {"op": "end", "seq": 1}, "status": 5},
        {"event": {"op": "end", "seq": 1}, "status": "streaming"},
        {"event": {"op": "ping", "seq": 0}, "status": "completed"},
        {"event": {"op": "set", "seq": 1, "block": {"id": "a", "type": "text", "content": "\ud800"}}},
    ],
)
def test_what_is_no_event_is_a_400(world: World, body: object) -> None:
    answer = opened(world)
    refused = world.call("bot", "POST", f"/messages/{answer.id}/events", body)
    assert (refused.status, refused.error["type"]) == (400, "invalid_request")


@pytest.mark.parametrize(
    ("who", "emitting", "reading"),
    [("bot", 202, 200), ("ann", 403, 200), ("cat", 403, 200), ("sue", 404, 404), (None, 401, 401)],
)
def test_who_may_write_and_read(world: World, who: str | None, emitting: int, reading: int) -> None:
    answer = opened(world)
    assert world.call(who, "POST", f"/messages/{answer.id}/events", {"event": begin(1)}).status == emitting
    assert world.call(who, "GET", f"/messages/{answer.id}/blocks").status == reading
    assert world.call(who, "GET", f"/messages/{answer.id}/meta").status == reading


def test_a_private_conversation_hides_its_blocks(world: World) -> None:
    world.channel("p", "ann", "bot", private=True)
    answer = opened(world, scope="p")
    for path in ("blocks", "meta"):
        assert world.call("cat", "GET", f"/messages/{answer.id}/{path}").status == 404
    leave(world, "bot", "p", by="ann")
    assert world.call("bot", "POST", f"/messages/{answer.id}/events", {"event": begin(1)}).status == 404


def test_blocks_by_id_and_page_by_page(world: World) -> None:
    answer = opened(world)
    with limits(inline_blocks=2, part_bytes=200):
        for seq in range(1, 8):
            emit(world, answer, begin(seq, f"b{seq}", f"text {seq}"))
    path = f"/messages/{answer.id}/blocks"
    some = world.call("ann", "GET", path, ids="b5,b2").ok()
    assert ([each["content"] for each in some["items"]], some["revision"], some["next"]) == (
        ["text 2", "text 5"],
        7,
        None,
    )
    seen, cursor = [], None
    while True:
        page = world.call("ann", "GET", path, cursor=cursor, limit=3).ok()
        seen += [each["id"] for each in page["items"]]
        cursor = page["next"]
        if cursor is None:
            break
    assert seen == [f"b{seq}" for seq in range(1, 8)]


def test_a_page_of_another_revision_is_a_409(world: World) -> None:
    answer = opened(world)
    for seq in (1, 2, 3):
        emit(world, answer, begin(seq, f"b{seq}"))
    path = f"/messages/{answer.id}/blocks"
    cursor = world.call("ann", "GET", path, limit=2).ok()["next"]
    emit(world, answer, more(4, "x", "b1"))
    changed = world.call("ann", "GET", path, cursor=cursor)
    assert (changed.status, changed.error["fields"]) == (409, {"revision": 4})


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ({"ids": ""}, 400),
        ({"ids": ","}, 400),
        ({"ids": "nothing"}, 404),
        ({"ids": "a" * 200}, 400),
        ({"ids": ",".join(f"b{n}" for n in range(300))}, 400),
        ({"ids": "a", "limit": "1"}, 400),
        ({"cursor": "1"}, 400),
        ({"cursor": "9.0"}, 409),
        ({"limit": "0"}, 400),
        ({"limit": "201"}, 400),
        ({"limit": "x"}, 400),
    ],
)
def test_refused_readings_of_blocks(world: World, query: dict[str, str], status: int) -> None:
    message = post(world, "bot", "x")
    assert world.call("ann", "GET", f"/messages/{message.id}/blocks", **query).status == status


def test_meta_has_no_content(world: World) -> None:
    answer = opened(world)
    emit(world, answer, begin(1, text="secret"))
    shown = world.call("ann", "GET", f"/messages/{answer.id}/meta").ok()
    assert (shown["revision"], "content" in shown.body, "secret" in str(shown.body)) == (1, False, False)
