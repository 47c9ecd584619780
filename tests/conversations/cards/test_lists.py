"""The questions that wait for somebody, and nobody else's."""

from __future__ import annotations

from typing import Any

import pytest

from conversations.models import Message, Scope
from tests import verbs as do
from tests.conversations.content.rows import Statements
from tests.world import World

from .desk import actor, answering, asked, row, run_out, stage


@pytest.fixture
def world() -> World:
    return stage()


def waiting(world: World, who: str, **query: Any) -> list[str]:
    items = world.call(who, "GET", f"/workspaces/{world.id}/human", **query).ok()["items"]
    return [item["id"] for item in items]


def test_those_that_one_may_answer(world: World) -> None:
    for_all = asked(world, effect_key="1")
    for_ben = asked(world, effect_key="2", target=actor(world, "ben"))
    assert waiting(world, "ben") == [for_all, for_ben]
    assert waiting(world, "ann") == [for_all]
    assert waiting(world, "cat") == []
    assert waiting(world, "bot") == []
    assert world.call("sue", "GET", f"/workspaces/{world.id}/human").status == 404
    assert waiting(world, "ben", status="pending") == [for_all, for_ben]
    assert world.call("ben", "GET", f"/workspaces/{world.id}/human", status="success").status == 400


def test_what_has_ended_is_not_waiting(world: World) -> None:
    answered, late, pending = (asked(world, effect_key=key) for key in ("1", "2", "3"))
    answering(world, "ann", answered, value="a").ok()
    run_out(late)
    assert waiting(world, "ben") == [pending]
    do.archive(world, "ann", "c")
    assert waiting(world, "ben") == []
    do.restore(world, "ann", "c")
    do.leave(world, "ben", "c")
    assert waiting(world, "ben") == []


def test_every_kind_of_place(world: World) -> None:
    """Listed for whoever the answer is taken from, and for nobody else."""
    world.channel("x", "ann", "bot")
    world.channel("p", "ann", "ben", "bot", private=True)
    world.dm("d", "ann", "bot")
    do.thread(world, "ann", do.post(world, "ann", "x"), "t")
    do.post(world, "ben", "c", target=("operator", "bot"))
    world.scope["inner"] = Scope.objects.get(parent_scope=world.scope["c"], actor_key="bot")
    made = world.call("ann", "POST", f"/workspaces/{world.id}/tasks", {"title": "Paint"}).ok()
    world.scope["task"] = Scope.objects.get(id=made["conversation_id"])
    places = ("c", "x", "p", "d", "t", "inner", "task")
    questions = {place: asked(world, scope=place) for place in places}
    listed = {who: set(waiting(world, who)) for who in ("ann", "ben", "cat", "bot")}
    assert {place for place in places if questions[place] in listed["ann"]} == set(places)
    assert {place for place in places if questions[place] in listed["ben"]} == {"c", "p", "task"}
    assert {place for place in places if questions[place] in listed["cat"]} == {"task"}
    for who in ("cat", "ben", "bot"):
        for place, question in questions.items():
            if question not in listed[who]:
                refused = answering(world, who, question, scope=place, value="a")
                assert refused.status in (403, 404, 409), (who, place, refused)
    for place, question in questions.items():
        assert answering(world, "ann", question, scope=place, value="a").status == 200, place


def test_pages_begin_with_what_is_most_urgent(world: World) -> None:
    timeouts = {300: 3, 100: 0, 500: 4, 200: 1, 250: 2}
    made = {order: asked(world, effect_key=str(timeout), timeout_s=timeout) for timeout, order in timeouts.items()}
    questions = [made[order] for order in sorted(made)]
    Message.objects.filter(id__in=questions[1:3]).update(human_due_at=row(questions[1]).human_due_at)
    questions[1:3] = sorted(questions[1:3])
    seen, cursor = list[str](), None
    while True:
        page = world.call("ben", "GET", f"/workspaces/{world.id}/human", limit=2, cursor=cursor).ok()
        seen += [item["id"] for item in page["items"]]
        if (cursor := page["next"]) is None:
            break
    assert seen == questions
    for cursor in ("x", "2026-01-01T00:00:00/" + questions[0], "2026-01-01T00:00:00Z/x", "é"):
        assert world.call("ben", "GET", f"/workspaces/{world.id}/human", cursor=cursor).status == 400


def test_a_longer_list_takes_no_more_statements(world: World) -> None:
    asked(world, effect_key="0")
    waiting(world, "ben")
    with Statements() as few:
        waiting(world, "ben")
    for n in range(1, 5):
        asked(world, effect_key=str(n))
    with Statements() as many:
        assert len(waiting(world, "ben")) == 5
    assert len(many.sql) == len(few.sql)
