"""Pages of a conversation's past, single messages, and what they cost."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from conversations.ids import new_id
from conversations.models import Activity, Message
from conversations.queries.messages import messages_by_id, render_messages
from tests.verbs import archive, delete, leave, post, react, share, thread
from tests.world import Answer, World


@pytest.fixture
def world() -> World:
    made = World("ann", "ben", "cat", agents=("bot",), strangers=("eve",))
    made.channel("x", "ann", "ben", "bot")
    made.channel("p", "ann", private=True)
    return made


def page(world: World, who: str | None = "ann", scope: str = "x", **query: Any) -> Answer:
    return world.call(who, "GET", f"/conversations/{world.scope[scope].id}/messages", **query)


def seqs(answer: Answer) -> tuple[list[int], bool, bool]:
    return [item["seq"] for item in answer["items"]], answer["has_more_before"], answer["has_more_after"]


def test_pages_in_every_direction(world: World) -> None:
    sent = [post(world, "ann", "x") for _ in range(7)]
    assert seqs(page(world, limit=3)) == ([5, 6, 7], True, False)
    assert seqs(page(world)) == ([1, 2, 3, 4, 5, 6, 7], False, False)
    assert seqs(page(world, before=sent[4].id, limit=3)) == ([2, 3, 4], True, True)
    assert seqs(page(world, before=sent[2].id, limit=2)) == ([1, 2], False, True)
    assert seqs(page(world, before=sent[0].id)) == ([], False, True)
    assert seqs(page(world, after=sent[1].id, limit=3)) == ([3, 4, 5], True, True)
    assert seqs(page(world, after=sent[3].id, limit=3)) == ([5, 6, 7], True, False)
    assert seqs(page(world, after=sent[6].id)) == ([], True, False)
    assert seqs(page(world, around=sent[3].id, limit=4)) == ([2, 3, 4, 5], True, True)
    assert seqs(page(world, around=sent[3].id, limit=1)) == ([4], True, True)
    assert seqs(page(world, around=sent[0].id, limit=4)) == ([1, 2], False, True)
    assert seqs(page(world, around=sent[6].id, limit=20)) == ([1, 2, 3, 4, 5, 6, 7], False, False)


def test_an_empty_conversation_has_an_empty_page(world: World) -> None:
    assert seqs(page(world)) == ([], False, False)


def test_walking_the_pages_finds_every_message_once(world: World) -> None:
    for _ in range(11):
        post(world, "ann", "x")
    found, query = [], {}
    while True:
        answer = page(world, limit=3, **query)
        found = [item["seq"] for item in answer["items"]] + found
        if not answer["has_more_before"]:
            break
        query = {"before": answer["items"][0]["id"]}
    assert found == list(range(1, 12))


def test_deleted_messages_leave_no_gap_in_pages(world: World) -> None:
    sent = [post(world, "ann", "x") for _ in range(4)]
    delete(world, "ann", sent[1])
    assert seqs(page(world, after=sent[0].id, limit=2)) == ([3, 4], True, False)


def test_a_desert_of_removed_and_hidden_messages_ends_no_page(world: World) -> None:
    sent = [post(world, "ann", "x", message_type="task_dispatch" if 40 < n < 60 else None) for n in range(70)]
    for message in sent[5:40]:
        delete(world, "ann", message)
    ends = [1, 2, 3, 4, 5, 41, 61, 62, 63, 64, 65, 66, 67, 68, 69, 70]
    assert seqs(page(world, limit=12)) == (ends[4:], True, False)
    assert seqs(page(world, limit=20)) == (ends, False, False)
    assert seqs(page(world, after=sent[1].id, limit=5)) == ([3, 4, 5, 41, 61], True, True)
    assert seqs(page(world, before=sent[60].id, limit=3)) == ([4, 5, 41], True, True)
    assert seqs(page(world, around=sent[40].id, limit=4)) == ([4, 5, 41, 61], True, True)


def test_hidden_messages_are_shown_to_agents_only(world: World) -> None:
    post(world, "ann", "x")
    post(world, "bot", "x", message_type="task_dispatch")
    post(world, "ann", "x")
    assert seqs(page(world, "ben"))[0] == [1, 3]
    assert seqs(page(world, "bot"))[0] == [1, 2, 3]


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ({"limit": 0}, 400),
        ({"limit": 201}, 400),
        ({"limit": "x"}, 400),
        ({"after": "nonsense"}, 400),
        ({"after": new_id()}, 404),
        ({"before": new_id()}, 404),
        ({"around": new_id()}, 404),
        ({"after": new_id(), "before": new_id()}, 400),
    ],
)
def test_bad_cursors_and_limits_are_refused(world: World, query: dict, status: int) -> None:
    assert page(world, **query).status == status


def test_a_cursor_of_another_conversation_is_refused(world: World) -> None:
    elsewhere = post(world, "ann", "p")
    assert page(world, after=elsewhere.id).status == 404


def test_who_may_read(world: World) -> None:
    message, hidden = post(world, "ann", "x"), post(world, "ann", "p")
    leave(world, "ben", "x")
    archive(world, "ann", "x")
    for who, status in (("ann", 200), ("ben", 200), ("cat", 200), ("eve", 404), (None, 401)):
        assert page(world, who).status == status
        assert world.call(who, "GET", f"/messages/{message.id}").status == status
        assert world.call(who, "GET", f"/messages/{message.id}/meta").status == status
    assert page(world, "ben", "p").status == 404
    assert world.call("ben", "GET", f"/messages/{hidden.id}").status == 404
    assert world.call("ann", "GET", f"/messages/{new_id()}").status == 404


def test_meta_is_the_message_without_its_content(world: World) -> None:
    message = post(world, "ann", "x")
    whole, meta = (world.call("ann", "GET", f"/messages/{message.id}{suffix}").body for suffix in ("", "/meta"))
    assert set(whole) - set(meta) == {"content", "error"}
    assert all(whole[name] == value for name, value in meta.items())


def test_a_page_costs_the_same_for_one_and_for_many(world: World) -> None:
    def cost(limit: int) -> int:
        with CaptureQueriesContext(connection) as queries:
            assert len(page(world, limit=limit)["items"]) == limit
        return len(queries)

    for n in range(12):
        message = post(world, "bot", "x", mentions=["ann", "ben"])
        react(world, "ann", message)
        react(world, "ben", message, "👍")
        thread(world, "ann", message, f"t{n}")
    page(world)  # the token's first use is noted once
    assert cost(1) == cost(12)


def test_rendering_by_ids_skips_what_is_gone(world: World) -> None:
    first, second = post(world, "ann", "x"), post(world, "ann", "x")
    delete(world, "ann", first)
    assert [item["id"] for item in render_messages(messages_by_id([first.id, second.id]))] == [str(second.id)]
    stale = list(Message.objects.filter(id=second.id))
    delete(world, "ann", second)
    assert render_messages(stale) == []


def test_a_page_of_large_messages_is_shorter_and_says_so(world: World, settings: Any) -> None:
    sent = [post(world, "ann", "x", "a" * 3000) for _ in range(5)]
    settings.MESSAGE_RESPONSE_BYTES = 8000
    assert seqs(page(world)) == ([4, 5], True, False)
    assert seqs(page(world, after=sent[0].id)) == ([2, 3], True, True)
    settings.MESSAGE_RESPONSE_BYTES = 2000
    assert page(world).status == 413


def test_activities_have_pages_too(world: World) -> None:
    path = f"/conversations/{world.scope['x'].id}/activities"
    for _ in range(5):
        share(world, "ann", "x")
    ids = list(Activity.objects.filter(scope=world.scope["x"]).order_by("seq").values_list("id", flat=True))
    assert seqs(world.call("ben", "GET", path, limit=2)) == ([4, 5], True, False)
    assert seqs(world.call("ben", "GET", path, after=ids[1], limit=2)) == ([3, 4], True, True)
    assert seqs(world.call("ben", "GET", path, before=ids[1])) == ([1], False, True)
    assert world.call("ben", "GET", path, after=new_id()).status == 404
    assert world.call("ben", "GET", path, after=ids[0], before=ids[1]).status == 400
    assert world.call("eve", "GET", path).status == 404
