"""Reply summaries: right, cheap for any number, and read through the index made for them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from conversations.actions import append
from conversations.actions.summary import recompute_visible_summary
from conversations.ids import new_id
from conversations.models import Scope
from conversations.queries import replies
from conversations.queries.replies import reply_summaries
from tests.verbs import archive, delete, fresh, leave, post, restore, thread
from tests.world import Answer, World


@pytest.fixture
def world() -> World:
    made = World("ann", "ben", "cat", strangers=("eve",))
    made.channel("x", "ann", "ben", "cat")
    made.channel("y", "ann")
    return made


def get(world: World, who: str | None, *ids: Any, scope: str = "x") -> Answer:
    listed = ",".join(map(str, ids))
    return world.call(who, "GET", f"/conversations/{world.scope[scope].id}/replies", message_ids=listed)


def test_a_summary_counts_what_people_see_and_names_who_is_in_it(world: World) -> None:
    root, other, bare = (post(world, "ann", "x") for _ in range(3))
    thread(world, "ben", root, "t")
    thread(world, "ann", other, "u")
    post(world, "cat", "t")
    last = post(world, "ben", "t")
    post(world, "ann", "t", message_type="task_dispatch")
    summary = get(world, "cat", root.id, other.id, bare.id).body
    assert set(summary) == {str(root.id), str(other.id)}
    one = summary[str(root.id)]
    assert (one["conversation_id"], one["visible_message_count"]) == (str(world.scope["t"].id), 2)
    assert one["visible_last_message_at"] == world.call("ann", "GET", f"/messages/{last.id}")["created_at"]
    assert set(one["participants"]) == {str(world.member[who].id) for who in ("ann", "ben", "cat")}
    empty = summary[str(other.id)]
    assert (empty["visible_message_count"], empty["visible_last_message_at"]) == (0, None)


def test_archived_threads_are_left_out_until_they_are_restored(world: World) -> None:
    root = post(world, "ann", "x")
    thread(world, "ann", root, "t")
    archive(world, "ann", "t")
    assert get(world, "ann", root.id).body == {}
    assert world.call("ann", "GET", f"/messages/{root.id}")["thread"] is None
    restore(world, "ann", "t")
    assert set(get(world, "ann", root.id).body) == {str(root.id)}


def test_roots_of_another_conversation_are_not_answered_here(world: World) -> None:
    root = post(world, "ann", "y")
    thread(world, "ann", root, "t")
    assert get(world, "ann", root.id).body == {}
    assert get(world, "ann", root.id, scope="y").status == 200


def test_whoever_left_is_no_participant_and_there_are_only_so_many(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = post(world, "ann", "x")
    thread(world, "ann", root, "t")
    for who in ("ben", "cat"):
        post(world, who, "t")
    leave(world, "ben", "x")
    ids = [str(world.member[who].id) for who in ("ann", "cat")]
    assert get(world, "ann", root.id).body[str(root.id)]["participants"] == ids
    monkeypatch.setattr(replies, "PARTICIPANTS_MAX", 1)
    assert get(world, "ann", root.id).body[str(root.id)]["participants"] == ids[:1]


def test_what_cannot_be_asked_is_refused(world: World) -> None:
    root = post(world, "ann", "x")
    assert get(world, "ann").status == 400
    assert get(world, "ann", "nonsense").status == 400
    assert get(world, "ann", *(new_id() for _ in range(201))).status == 400
    assert get(world, "eve", root.id).status == 404
    assert get(world, None, root.id).status == 401


def test_two_statements_after_the_access_for_any_number_and_no_look_at_messages(world: World) -> None:
    roots = [post(world, "ann", "x") for _ in range(20)]
    for n, root in enumerate(roots):
        thread(world, "ann", root, f"t{n}")
    for ids in (roots[:1], roots):
        with CaptureQueriesContext(connection) as queries:
            assert len(reply_summaries(world.scope["x"], [root.id for root in ids])) == len(ids)
        statements = [query["sql"] for query in queries]
        assert len(statements) == 2
        assert not any("`messages`" in sql or '"messages"' in sql for sql in statements)


def test_the_threads_are_found_through_their_index(world: World, on_mariadb: None) -> None:
    root = post(world, "ann", "x")
    thread(world, "ann", root, "t")
    with CaptureQueriesContext(connection) as queries:
        replies.threads_under([world.scope["x"].id], [root.id])
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN {queries[0]['sql']}")
        names = [column[0] for column in cursor.description]
        plan = [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
    assert [row["key"] for row in plan] == ["scopes_parent_root_thread_idx"]


# The summary that they read


def test_every_append_counts_in_its_own_scope_only(world: World) -> None:
    root = post(world, "ann", "x")
    thread(world, "ann", root, "t")
    reply = post(world, "ann", "t")
    assert (fresh(world.scope["x"]).visible_message_count, fresh(world.scope["t"]).visible_message_count) == (1, 1)
    assert fresh(world.scope["t"]).visible_last_message_at == reply.created_at
    post(world, "ann", "x", message_type="task_dispatch")
    post(world, "ann", "x", client_message_id="c")
    post(world, "ann", "x", client_message_id="c")
    assert fresh(world.scope["x"]).visible_message_count == 2


def test_a_recount_repairs_a_wrong_summary_and_leaves_a_right_one(world: World) -> None:
    post(world, "ann", "x")
    last = post(world, "ann", "x")
    delete(world, "ann", post(world, "ann", "x"))
    assert recompute_visible_summary(fresh(world.scope["x"])) is False
    Scope.objects.filter(id=world.scope["x"].id).update(visible_message_count=99, visible_last_message_at=None)
    assert recompute_visible_summary(fresh(world.scope["x"])) is True
    scope = fresh(world.scope["x"])
    assert (scope.visible_message_count, scope.visible_last_message_at) == (2, last.created_at)


def test_a_clock_that_ran_backwards_does_not_move_the_last_time_back(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = post(world, "ann", "x")
    earlier = timezone.now() - timedelta(hours=1)
    monkeypatch.setattr(append.timezone, "now", lambda: earlier)
    second = post(world, "ann", "x")
    scope = fresh(world.scope["x"])
    assert scope.visible_last_message_at == first.created_at
    assert second.id > first.id
