"""Tasks: who may what, what each change writes, and whom it is frozen for."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from conversations.actions.attention import MAX_WATCHERS
from conversations.ids import new_id
from conversations.models import Activity, InboxRow, Membership, Task, TaskAttentionOutbox
from conversations.models.membership import MembershipStatus
from tests import verbs as do
from tests.world import World


@pytest.fixture
def world() -> World:
    return World("ann", "ben", "cat", "dan", agents=("bot",), strangers=("eve",))


def create(world: World, by: str = "ann", **body: Any) -> dict[str, Any]:
    task = world.call(by, "POST", f"/workspaces/{world.id}/tasks", {"title": "Paint the door", **body}).ok()
    world.scope["t"] = Task.objects.get(id=task["id"]).scope
    return task


def ids(world: World, *names: str) -> list[str]:
    return [str(world.member[name].id) for name in names]


def frozen(world: World) -> list[tuple[str, set[str], set[str]]]:
    """Kind, people and agents of each row of the outbox, in order."""
    names = {str(member.id): name for name, member in world.member.items()}
    rows = TaskAttentionOutbox.objects.filter(workspace=world.id).order_by("scope", "order")
    return [
        (
            row.kind,
            {names[each] for each in row.human_recipients},
            {names[each["member_id"]] for each in row.agent_recipients},
        )
        for row in rows
    ]


def inbox(world: World, who: str) -> list[tuple[str, str, str]]:
    items = world.call(who, "GET", f"/workspaces/{world.id}/inbox").ok()["items"]
    return [(item["conversation"]["name"], item["kind"], item["reason"]) for item in items]


def test_a_new_task_asks_for_nobodys_attention(world: World) -> None:
    task = create(world, assignee_id=ids(world, "ben")[0], watcher_ids=ids(world, "cat", "bot", "cat"))
    assert {key: task[key] for key in ("title", "status", "column", "assignee_id", "version", "watch")} == {
        "title": "Paint the door",
        "status": "open",
        "column": "",
        "assignee_id": ids(world, "ben")[0],
        "version": 1,
        "watch": None,
    }
    members = Membership.objects.filter(scope=world.scope["t"]).values_list("member_id", flat=True)
    assert set(members) == {world.member[name].id for name in ("ann", "ben", "cat", "bot")}
    assert not Activity.objects.filter(scope=world.scope["t"]).exists()
    assert frozen(world) == []
    assert world.call("cat", "GET", f"/tasks/{task['id']}").ok()["watch"] is True
    assert inbox(world, "ben") == inbox(world, "cat") == []


def test_a_message_is_for_watchers_assignee_and_mentioned_but_not_for_its_author(world: World) -> None:
    create(world, assignee_id=ids(world, "ben")[0], watcher_ids=ids(world, "ann", "cat", "bot"))
    message = do.post(world, "ann", "t", mentions=["dan", "ben"])
    do.post(world, "cat", "t")
    do.post(world, "ann", "t", message_type="task_dispatch")
    assert frozen(world) == [
        ("message", {"ben", "cat", "dan"}, {"bot"}),
        ("message", {"ann", "ben"}, {"bot"}),
    ]
    place = Membership.objects.get(scope=world.scope["t"], member=world.member["dan"])
    assert (place.effective_from_seq, place.last_read_seq) == (message.seq, message.seq - 1)
    paired = Activity.objects.filter(scope=world.scope["t"], type="discussion_added").order_by("seq")
    assert paired[0].ref == str(message.id)
    assert len(paired) == 2
    assert inbox(world, "dan") == [("Paint the door", "task", "mention")]
    assert inbox(world, "ben") == [("Paint the door", "task", "message")]
    assert inbox(world, "ann") == [], "who writes has read"


def test_who_is_spoken_for_is_no_recipient(world: World) -> None:
    create(world, watcher_ids=ids(world, "ben", "cat"))
    do.post(world, "bot", "t", on_behalf_of="ben")
    assert frozen(world) == [("message", {"cat"}, set())]


def test_a_change_is_one_activity_for_watchers_and_the_assignee_of_then(world: World) -> None:
    task = create(world, assignee_id=ids(world, "ben")[0], watcher_ids=ids(world, "cat"))
    path = f"/tasks/{task['id']}"
    changed = {
        "status": "in_progress",
        "title": "Paint the gate",
        "column": "doing",
        "assignee_id": ids(world, "dan")[0],
    }
    answer = world.call("ben", "PATCH", path, changed).ok()
    assert {key: answer[key] for key in changed} == changed
    assert answer["version"] == 2
    told = Activity.objects.filter(scope=world.scope["t"]).order_by("seq").values_list("type", "ref_type", "payload")
    assert sorted(told) == [
        ("task_assignee", "task_event", {"from": ids(world, "ben")[0], "to": ids(world, "dan")[0]}),
        ("task_column", "task_event", {"from": "", "to": "doing"}),
        ("task_status", "task_event", {"from": "open", "to": "in_progress"}),
        ("task_title", "task_event", {"from": "Paint the door", "to": "Paint the gate"}),
    ]
    assert frozen(world) == [("activity", {"cat", "dan"}, set())] * 4
    assert world.call("dan", "GET", f"/conversations/{task['conversation_id']}").ok()["name"] == "Paint the gate"
    assert inbox(world, "dan")[0][:2] == ("Paint the gate", "task")
    before = Activity.objects.filter(scope=world.scope["t"]).count()
    assert world.call("ben", "PATCH", path, changed).ok()["version"] == 2
    assert world.call("ben", "PATCH", path, {}).ok()["version"] == 2
    assert world.call("ben", "PATCH", path, {"assignee_id": None, "version": 2}).ok()["assignee_id"] is None
    assert Activity.objects.filter(scope=world.scope["t"]).count() == before + 1


def test_watching_is_explicit_and_ends_with_leaving(world: World) -> None:
    create(world)
    path = f"/conversations/{world.scope['t'].id}/notifications"
    assert world.call("ben", "PUT", path, {"watch": True}).status == 409
    do.join(world, "ben", "t")
    assert world.call("ben", "PUT", path, {"watch": True}).ok()["watch"] is True
    do.post(world, "ann", "t")
    do.leave(world, "ben", "t")
    assert inbox(world, "ben") == []
    do.post(world, "ann", "t")
    assert Membership.objects.get(scope=world.scope["t"], member=world.member["ben"]).status == MembershipStatus.LEFT
    do.post(world, "ann", "t", mentions=["ben"])
    assert world.call("ben", "PUT", path, {"watch": False}).ok()["watch"] is False
    do.post(world, "ann", "t")
    assert frozen(world) == [
        ("message", {"ben"}, set()),
        ("message", set(), set()),
        ("message", {"ben"}, set()),
        ("message", set(), set()),
    ]


def test_an_activity_of_a_client_is_attention_where_it_is_one_of_high_signal(world: World) -> None:
    create(world, watcher_ids=ids(world, "ben", "cat"))
    do.share(world, "cat", "t", "pin")
    do.share(world, "cat", "t", "topic")
    assert frozen(world) == [("activity", {"ben"}, set())]
    assert inbox(world, "ben") == [("Paint the door", "task", "pin")]


def test_removals_and_edits_are_told_to_those_frozen_with_the_messages(world: World) -> None:
    create(world, watcher_ids=ids(world, "ben"))
    first = do.post(world, "ann", "t", mentions=["cat"])
    second = do.post(world, "ann", "t")
    third = do.post(world, "ann", "t", mentions=["dan"])
    do.edit(world, "ann", first, "hello", mentions=("dan",))
    do.delete(world, "ann", first)
    do.rewind(world, "ann", "t", second)
    rows = TaskAttentionOutbox.objects.filter(scope=world.scope["t"], kind="removal").order_by("order")
    assert frozen(world)[3:] == [
        ("removal", {"ben", "cat"}, set()),
        ("removal", {"ben", "cat"}, set()),
        ("removal", {"ben", "dan"}, set()),
    ]
    edit, delete, rewind = (row.payload for row in rows)
    assert edit["changes"][0]["mentions"] == ids(world, "cat")
    assert edit["changes"][0]["mentions_after"] == ids(world, "dan")
    assert "mentions_after" not in delete["changes"][0]
    assert [change["seq"] for change in rewind["changes"]] == [third.seq]
    assert [row["rewind_generation"] for row in (edit, delete, rewind)] == [1, 2, 3]


def test_reading_a_task_reads_it_as_a_whole_and_settles_the_inbox(world: World) -> None:
    task = create(world, watcher_ids=ids(world, "ben"))
    first = do.post(world, "ann", "t")
    do.post(world, "ann", "t")
    world.call("ann", "PATCH", f"/tasks/{task['id']}", {"status": "done"}).ok()
    assert inbox(world, "ben") == [("Paint the door", "task", "task_status")]
    do.read(world, "ben", "t", first)
    scope = do.fresh(world.scope["t"])
    place = Membership.objects.get(scope=scope, member=world.member["ben"])
    assert (place.last_read_seq, place.last_activity_read_seq) == (scope.latest_seq, scope.latest_activity_seq)
    assert inbox(world, "ben") == []
    do.mark_unread(world, "ben", "t")
    assert inbox(world, "ben") == [("Paint the door", "manual", "")]
    do.post(world, "ann", "t")
    do.clear_unread(world, "ben", "t")
    assert inbox(world, "ben") == [("Paint the door", "task", "message")]
    assert InboxRow.objects.filter(member=world.member["ben"]).count() == 1


def test_the_inbox_is_paged_newest_first(world: World) -> None:
    for number in range(5):
        create(world, title=f"task {number}", watcher_ids=ids(world, "ben"))
        do.post(world, "ann", "t")
    world.channel("x", "ann", "ben")
    do.mark_unread(world, "ben", "x")
    path, seen, cursor = f"/workspaces/{world.id}/inbox", [], None
    while True:
        page = world.call("ben", "GET", path, limit=2, cursor=cursor).ok()
        seen += [item["conversation"]["name"] for item in page["items"]]
        if (cursor := page["next"]) is None:
            break
    assert seen == ["x", "task 4", "task 3", "task 2", "task 1", "task 0"]
    do.archive(world, "ann", "x")
    assert inbox(world, "ben")[0][0] == "task 4"
    assert world.call("eve", "GET", path).status == 404


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"title": ""}, 400),
        ({"title": "x" * 121}, 400),
        ({"title": "x", "assignee_id": "no"}, 400),
        ({"title": "x", "assignee_id": str(new_id())}, 404),
        ({"title": "x", "watcher_ids": [str(new_id())]}, 404),
        ({"title": "x", "watcher_ids": [str(new_id())] * (MAX_WATCHERS + 1)}, 400),
        ({}, 400),
    ],
)
def test_what_is_no_task_is_refused(world: World, body: dict[str, Any], status: int) -> None:
    assert world.call("ann", "POST", f"/workspaces/{world.id}/tasks", body).status == status
    assert not Task.objects.filter(workspace=world.id).exists()


def test_refusals_of_changes(world: World) -> None:
    task = create(world)
    path = f"/tasks/{task['id']}"
    assert world.call("ann", "PATCH", path, {"status": "late"}).status == 400
    assert world.call("ann", "PATCH", path, {"assignee_id": str(new_id())}).status == 404
    stale = world.call("ann", "PATCH", path, {"status": "done", "version": 7})
    assert (stale.status, stale.error["fields"]["version"]) == (409, 1)
    for who in ("eve", None):
        assert world.call(who, "PATCH", path, {"status": "done"}).status == (404 if who else 401)
        assert world.call(who, "GET", path).status == (404 if who else 401)
    assert world.call("ann", "GET", f"/tasks/{new_id()}").status == 404
    do.archive(world, "ann", "t")
    assert world.call("ann", "PATCH", path, {"status": "done"}).status == 409
    assert Task.objects.get(id=task["id"]).status == "open"


def test_lists_are_filtered_and_paged(world: World) -> None:
    made = [create(world, title=f"task {number}") for number in range(4)]
    world.call("ann", "PATCH", f"/tasks/{made[1]['id']}", {"status": "done", "column": "ready"}).ok()
    world.call("ann", "PATCH", f"/tasks/{made[2]['id']}", {"assignee_id": ids(world, "dan")[0]}).ok()

    def titles(**query: Any) -> list[str]:
        items = world.call("dan", "GET", f"/workspaces/{world.id}/tasks", **query).ok()["items"]
        return [item["title"] for item in items]

    assert titles() == ["task 0", "task 1", "task 2", "task 3"]
    assert titles(limit=2) == ["task 0", "task 1"]
    assert titles(status="done") == titles(column="ready") == ["task 1"]
    assert titles(assignee_id=ids(world, "dan")[0]) == ["task 2"]
    assert world.call("dan", "GET", f"/workspaces/{world.id}/tasks", status="late").status == 400


def test_a_message_takes_as_many_statements_for_many_participants_and_many_recipients(world: World) -> None:
    many = [f"p{number}" for number in range(300)]
    world.add(*many)

    def statements(watchers: int, members: int) -> int:
        create(world, watcher_ids=ids(world, *many[:watchers]))
        for name in many[20 : 20 + members]:
            do.join(world, name, "t")
        do.post(world, "ann", "t")
        with CaptureQueriesContext(connection) as queries:
            do.post(world, "ann", "t")
        return len(queries)

    assert statements(2, 0) == statements(2, 20) == statements(20, 0) == statements(300, 0)
