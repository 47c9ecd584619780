"""Cursors over HTTP: what a read moves, clears and answers, and what it refuses."""

from __future__ import annotations

from typing import Any

import pytest

from conversations.events import ActivityReadCursorAdvanced, ManualUnreadCleared, ReadCursorAdvanced
from conversations.ids import new_id
from conversations.models import InboxRow, Membership, MemberState, Message, Scope
from conversations.models.scope import ScopeType
from tests.verbs import archive, delete, join, leave, mark_unread, post, read, share
from tests.world import Answer, World, facts_of


@pytest.fixture
def world() -> World:
    made = World("ann", "ben", "cat", strangers=("eve",))
    made.channel("x", "ann", "ben")
    made.channel("y", "ann", "ben")
    made.channel("p", "ann", private=True)
    return made


def put(world: World, who: str | None, scope: str = "x", **body: Any) -> Answer:
    return world.call(who, "PUT", f"/conversations/{world.scope[scope].id}/read", body)


def place(world: World, who: str, scope: str = "x") -> Membership:
    return Membership.objects.get(scope=world.scope[scope], member=world.member[who])


def as_task(scope: Scope) -> None:
    Scope.objects.filter(id=scope.id).update(type=ScopeType.TASK)


def test_reading_up_to_a_message_moves_the_message_cursor(world: World) -> None:
    first, second, _ = (post(world, "ann", "x") for _ in range(3))
    share(world, "ann", "x")
    with facts_of(world) as batches:
        answer = put(world, "ben", message_id=second.id)
    [[advanced]] = batches
    row = place(world, "ben")
    assert isinstance(advanced, ReadCursorAdvanced)
    assert (advanced.last_read_seq, advanced.last_activity_read_seq) == (2, 0)
    assert (row.last_read_seq, row.last_activity_read_seq, row.read_generation) == (2, 0, advanced.read_generation)
    assert (advanced.latest_seq, advanced.latest_activity_seq) == (3, 1)
    assert (answer["previous_message_id"], answer["unread_from_message_id"]) == (None, str(first.id))
    assert {"state", "messages", "activities", "manual", "mentions"} <= set(answer.body)


def test_reading_everything_moves_both_cursors_in_one_fact(world: World) -> None:
    first = post(world, "ann", "x")
    read(world, "ben", "x", first)
    second = post(world, "ann", "x")
    share(world, "ann", "x")
    with facts_of(world) as batches:
        answer = put(world, "ben")
    [[advanced]] = batches
    assert isinstance(advanced, ReadCursorAdvanced)
    assert (advanced.last_read_seq, advanced.last_activity_read_seq) == (2, 1)
    assert (answer["previous_message_id"], answer["unread_from_message_id"]) == (str(first.id), str(second.id))


def test_activities_alone_are_a_fact_of_their_own(world: World) -> None:
    share(world, "ann", "x")
    with facts_of(world) as batches:
        put(world, "ben").ok()
    [[advanced]] = batches
    assert isinstance(advanced, ActivityReadCursorAdvanced)
    assert (advanced.last_read_seq, advanced.last_activity_read_seq) == (0, 1)


def test_the_cursor_never_moves_back_and_a_read_that_moves_nothing_writes_nothing(world: World) -> None:
    first, *_ = (post(world, "ann", "x") for _ in range(3))
    put(world, "ben").ok()
    before = place(world, "ben")
    with facts_of(world) as batches:
        assert put(world, "ben", message_id=first.id)["previous_message_id"] is None
        put(world, "ben").ok()
    after = place(world, "ben")
    assert batches == []
    assert (after.last_read_seq, after.read_generation, after.updated_at) == (
        3,
        before.read_generation,
        before.updated_at,
    )


def test_the_undo_of_a_read(world: World) -> None:
    first = post(world, "ann", "x")
    read(world, "ben", "x")
    post(world, "ann", "x"), post(world, "ann", "x")
    answer = put(world, "ben")
    assert answer["previous_message_id"] == str(first.id)
    world.call(
        "ben",
        "PUT",
        f"/conversations/{world.scope['x'].id}/unread",
        {"message_id": answer["unread_from_message_id"]},
    ).ok()
    assert place(world, "ben").last_read_seq == 1


def test_a_read_clears_a_marker_at_or_below_what_it_names(world: World) -> None:
    first, second = post(world, "ann", "x"), post(world, "ann", "x")
    read(world, "ben", "x")
    mark_unread(world, "ben", "x")
    assert InboxRow.objects.get(scope=world.scope["x"], member=world.member["ben"]).active
    with facts_of(world) as batches:
        put(world, "ben", message_id=first.id).ok()
    assert batches == [], "the marker sits at the second"
    with facts_of(world) as batches:
        put(world, "ben", message_id=second.id).ok()
    [[cleared]] = batches
    row = MemberState.objects.get(scope=world.scope["x"], member=world.member["ben"])
    assert isinstance(cleared, ManualUnreadCleared)
    assert (row.manual_unread, row.generation) == (False, cleared.marker_generation)
    assert not InboxRow.objects.get(scope=world.scope["x"], member=world.member["ben"]).active


def test_a_cursor_may_stand_on_a_message_that_is_deleted_later(world: World) -> None:
    post(world, "ann", "x")
    last = post(world, "ann", "x")
    read(world, "ben", "x", last)
    delete(world, "ann", last)
    assert place(world, "ben").last_read_seq == 2
    third = post(world, "ann", "x")
    answer = put(world, "ben", message_id=third.id)
    assert answer["previous_message_id"] == str(Message.objects.get(scope=world.scope["x"], seq=1).id)


def test_a_task_is_read_as_a_whole(world: World) -> None:
    first = post(world, "ann", "x")
    post(world, "ann", "x"), share(world, "ann", "x")
    as_task(world.scope["x"])
    put(world, "ben", message_id=first.id).ok()
    row = place(world, "ben")
    assert (row.last_read_seq, row.last_activity_read_seq) == (2, 1)


def test_what_cannot_be_read_is_refused(world: World) -> None:
    message, elsewhere, hidden = post(world, "ann", "x"), post(world, "ann", "y"), post(world, "ann", "p")
    assert put(world, None).status == 401
    assert put(world, "eve").status == 404
    assert put(world, "ben", "p", message_id=hidden.id).status == 404
    assert put(world, "cat").status == 409, "seen, but not joined"
    assert put(world, "ben", message_id="nonsense").status == 400
    assert put(world, "ben", message_id=5).status == 400
    assert put(world, "ben", message_id=new_id()).status == 404
    assert put(world, "ben", message_id=elsewhere.id).status == 404
    assert place(world, "ben").last_read_seq == 0
    leave(world, "ben", "x")
    assert put(world, "ben", message_id=message.id).status == 409


def test_an_archive_can_be_read(world: World) -> None:
    post(world, "ann", "x")
    archive(world, "ann", "x")
    put(world, "ben").ok()
    assert place(world, "ben").last_read_seq == 1


def test_a_newcomer_begins_at_the_end(world: World) -> None:
    post(world, "ann", "x"), post(world, "ann", "x")
    join(world, "cat", "x")
    with facts_of(world) as batches:
        put(world, "cat").ok()
    assert batches == []


# Many at once


def many(world: World, who: str | None, *scopes: Any) -> Answer:
    ids = [world.scope[scope].id if scope in world.scope else scope for scope in scopes]
    return world.call(who, "POST", f"/workspaces/{world.id}/read", {"conversation_ids": ids})


def test_exactly_those_are_read_in_one_batch(world: World) -> None:
    world.channel("z", "ann", "ben")
    for name in ("x", "y", "z"):
        post(world, "ann", name)
        share(world, "ann", name)
    mark_unread(world, "ben", "y")
    with facts_of(world) as batches:
        answer = many(world, "ben", "x", "y", "x")
    assert set(answer["counts"]) == {str(world.scope[name].id) for name in ("x", "y")}
    [batch] = batches
    assert sorted(type(fact).__name__ for fact in batch) == [
        "ManualUnreadCleared",
        "ReadCursorAdvanced",
        "ReadCursorAdvanced",
    ]
    cursors = [
        (place(world, "ben", name).last_read_seq, place(world, "ben", name).last_activity_read_seq)
        for name in ("x", "y", "z")
    ]
    assert cursors == [(1, 1), (1, 1), (0, 0)]
    assert many(world, "ben").body == {"counts": {}}


@pytest.mark.parametrize(
    ("who", "scopes", "status"),
    [
        ("ben", ["x", "p"], 404),
        ("ben", ["x", str(new_id())], 404),
        ("ben", ["x", "nonsense"], 400),
        ("ben", [str(new_id()) for _ in range(101)], 400),
        ("cat", ["x"], 409),
        ("eve", ["x"], 404),
        (None, ["x"], 401),
    ],
)
def test_one_refusal_leaves_all_unread(world: World, who: str | None, scopes: list, status: int) -> None:
    post(world, "ann", "x")
    assert many(world, who, *scopes).status == status
    assert place(world, "ben").last_read_seq == 0


def test_a_list_that_is_too_long_is_refused_without_a_word_on_each_entry(world: World) -> None:
    refused = many(world, "ben", *(["nonsense"] * 5000))
    assert (refused.status, set(refused.error["fields"])) == (400, {"conversation_ids"})
    assert len(str(refused.body)) < 1000


def test_scopes_of_another_workspace_are_not_found(world: World) -> None:
    other = World("ann")
    other.channel("q", "ann")
    assert many(world, "ann", str(other.scope["q"].id)).status == 404
