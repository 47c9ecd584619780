"""The manual marker, levels and watches: what they write, tell and refuse."""

from __future__ import annotations

from typing import Any

import pytest

from conversations.actions import marking_unread
from conversations.events import Level
from conversations.models import InboxRow, Membership, MemberState, NotificationSetting, Scope
from conversations.models.scope import ScopeType
from tests.verbs import archive, clear_unread, delete, join, leave, mark_unread, post, read
from tests.world import Answer, World, facts_of


@pytest.fixture
def world() -> World:
    made = World("ann", "ben", "cat", strangers=("eve",))
    made.channel("x", "ann", "ben")
    made.channel("p", "ann", private=True)
    return made


def call(world: World, who: str | None, method: str, what: str, body: Any = None, scope: str = "x") -> Answer:
    return world.call(who, method, f"/conversations/{world.scope[scope].id}/{what}", body)


def state(world: World, who: str = "ben") -> MemberState:
    return MemberState.objects.get(scope=world.scope["x"], member=world.member[who])


def cursor(world: World, who: str = "ben") -> int:
    return Membership.objects.get(scope=world.scope["x"], member=world.member[who]).last_read_seq


def test_without_a_message_only_the_marker_is_set(world: World) -> None:
    post(world, "ann", "x"), post(world, "ann", "x")
    read(world, "ben", "x")
    with facts_of(world) as batches:
        answer = call(world, "ben", "PUT", "unread", {})
        call(world, "ben", "PUT", "unread").ok()
    assert answer.status == 200
    [[marked]] = batches
    assert (marked.marker_seq, marked.unread_from) == (2, None)
    row = state(world)
    assert (row.manual_unread, row.manual_unread_seq, row.generation) == (True, 2, marked.marker_generation)
    assert cursor(world) == 2


def test_an_empty_conversation_can_be_marked(world: World) -> None:
    call(world, "ben", "PUT", "unread").ok()
    assert state(world).manual_unread_seq == 1
    read(world, "ben", "x")
    assert not state(world).manual_unread


@pytest.mark.parametrize("read_before", [0, 2, 4])
def test_from_a_message_on_the_cursor_stands_just_before_it(world: World, read_before: int) -> None:
    sent = [post(world, "ann", "x", mentions=["ben"] if n == 2 else []) for n in range(4)]
    if read_before:
        read(world, "ben", "x", sent[read_before - 1])
    with facts_of(world) as batches:
        call(world, "ben", "PUT", "unread", {"message_id": sent[2].id}).ok()
        call(world, "ben", "PUT", "unread", {"message_id": sent[2].id}).ok()
    [[marked]] = batches
    since = marked.unread_from
    assert (marked.marker_seq, since.last_read_seq, cursor(world)) == (3, 2, 2)
    assert (
        since.read_generation
        == Membership.objects.get(scope=world.scope["x"], member=world.member["ben"]).read_generation
    )
    assert (since.latest_seq, since.rewind_generation) == (4, 0)
    assert [seq for seq, _ in since.rows] == [3, 4]
    assert since.rows[0][1].mentions == (world.member["ben"].id,)
    assert all(counted.counts for _, counted in since.rows)


def test_the_rows_leave_out_what_was_removed_and_say_what_is_hidden(world: World) -> None:
    first = post(world, "ann", "x")
    delete(world, "ann", post(world, "ann", "x"))
    post(world, "ann", "x", message_type="task_dispatch")
    with facts_of(world) as batches:
        mark_unread(world, "ben", "x", first)
    [[marked]] = batches
    assert [(seq, counted.counts) for seq, counted in marked.unread_from.rows] == [(1, True), (3, False)]
    assert marked.unread_from.rewind_generation == 1


def test_clearing_takes_the_marker_and_leaves_the_cursor(world: World) -> None:
    first = post(world, "ann", "x")
    mark_unread(world, "ben", "x", first)
    with facts_of(world) as batches:
        assert call(world, "ben", "DELETE", "unread").status == 204
        assert call(world, "ben", "DELETE", "unread").status == 204
    assert [len(batch) for batch in batches] == [1]
    assert (cursor(world), state(world).manual_unread) == (0, False)


def test_the_inbox_row_comes_and_goes_with_the_marker(world: World) -> None:
    rows = InboxRow.objects.filter(scope=world.scope["x"], member=world.member["ben"])
    mark_unread(world, "ben", "x")
    first = rows.get().sort_id
    clear_unread(world, "ben", "x")
    assert not rows.get().active
    mark_unread(world, "ben", "x")
    again = rows.get()
    assert (again.active, again.kind) == (True, "manual")
    assert again.sort_id > first
    leave(world, "ben", "x")
    join(world, "ben", "x")
    assert not state(world).manual_unread
    assert not rows.get().active


def test_what_cannot_be_marked_is_refused(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    early, late = post(world, "ann", "x"), post(world, "ann", "x")
    elsewhere = post(world, "ann", "p")
    assert call(world, None, "PUT", "unread").status == 401
    assert call(world, "eve", "PUT", "unread").status == 404
    assert call(world, "ben", "PUT", "unread", scope="p").status == 404
    assert call(world, "cat", "PUT", "unread").status == 409
    assert call(world, "cat", "DELETE", "unread").status == 409
    assert call(world, "ben", "PUT", "unread", {"message_id": elsewhere.id}).status == 404
    assert call(world, "ben", "PUT", "unread", {"message_id": "x"}).status == 400
    join(world, "cat", "x")
    assert call(world, "cat", "PUT", "unread", {"message_id": late.id}).status == 400, "from before cat's time"
    monkeypatch.setattr(marking_unread, "MARK_UNREAD_MAX_MESSAGES", 1)
    assert call(world, "ben", "PUT", "unread", {"message_id": early.id}).status == 400
    assert call(world, "ben", "PUT", "unread", {"message_id": late.id}).status == 200


def test_a_task_is_unread_as_a_whole(world: World) -> None:
    message = post(world, "ann", "x")
    Scope.objects.filter(id=world.scope["x"].id).update(type=ScopeType.TASK)
    assert call(world, "ben", "PUT", "unread", {"message_id": message.id}).status == 400
    assert call(world, "ben", "PUT", "unread").status == 200


def test_an_archive_can_be_marked_and_muted(world: World) -> None:
    archive(world, "ann", "x")
    assert call(world, "ben", "PUT", "unread").status == 200
    assert call(world, "ben", "DELETE", "unread").status == 204
    assert call(world, "ben", "PUT", "notifications", {"level": "none"}).status == 200


# Levels and watches


def test_a_level_is_one_fact_and_the_same_again_none(world: World) -> None:
    with facts_of(world) as batches:
        assert call(world, "ben", "PUT", "notifications", {"level": "all"}).body == {"level": "all", "watch": None}
        assert call(world, "ben", "PUT", "notifications", {"level": "none"}).body == {"level": "none", "watch": None}
        call(world, "ben", "PUT", "notifications", {"level": "none"}).ok()
        call(world, "ben", "PUT", "notifications", {"level": "mentions"}).ok()
        call(world, "ben", "PUT", "notifications", {}).ok()
    assert [(fact.level, fact.policy_generation) for [fact] in batches] == [(Level.NONE, 1), (Level.MENTIONS, 2)]
    row = NotificationSetting.objects.get(scope=world.scope["x"], member=world.member["ben"])
    assert (row.level, row.generation) == ("mentions", 2)


def test_only_tasks_are_watched(world: World) -> None:
    assert call(world, "ben", "PUT", "notifications", {"level": "all", "watch": True}).status == 400
    Scope.objects.filter(id=world.scope["x"].id).update(type=ScopeType.TASK)
    for watch in (True, False, None):
        answer = call(world, "ben", "PUT", "notifications", {"watch": watch})
        assert answer.body == {"level": "all", "watch": watch}
    assert NotificationSetting.objects.get(scope=world.scope["x"]).generation == 3


@pytest.mark.parametrize("body", [{"level": "loud"}, {"level": None}, {"level": 1}, {"watch": "yes"}, []])
def test_a_level_that_is_none_is_refused(world: World, body: Any) -> None:
    assert call(world, "ben", "PUT", "notifications", body).status == 400
    assert not NotificationSetting.objects.filter(scope=world.scope["x"]).exists()


def test_levels_belong_to_members(world: World) -> None:
    for who, status in (("cat", 409), ("eve", 404), (None, 401)):
        assert call(world, who, "PUT", "notifications", {"level": "none"}).status == status
