"""Tasks that several people change and write in at once."""

from __future__ import annotations

import pytest

from conversations.actions.tasks import TaskChange, change_task, create_task
from conversations.errors import Conflict
from conversations.models import Activity, InboxRow, Membership, Task, TaskAttentionOutbox
from tests import verbs as do
from tests.world import World

from .racing import race

PEOPLE = ("ann", "ben", "cat", "dan")

pytestmark = pytest.mark.usefixtures("on_mariadb")


@pytest.fixture
def world() -> World:
    return World(*PEOPLE)


def create(world: World, *watchers: str) -> Task:
    task = create_task(
        user=world.user["ann"],
        workspace_id=world.id,
        title="Paint",
        watcher_ids=[world.member[name].id for name in watchers],
    )
    world.scope["t"] = task.scope
    return task


def test_of_two_changes_to_the_same_version_one_is_refused(world: World) -> None:
    task = create(world, "ben")
    changes = [TaskChange(status=status, version=1) for status in ("done", "cancelled", "in_progress")]
    found = race(
        lambda change=change: change_task(user=world.user["ann"], task_id=task.id, change=change) for change in changes
    )
    assert sorted(type(each) is Conflict for each in found) == [False, True, True], found
    assert Task.objects.get(id=task.id).version == 2
    assert Activity.objects.filter(scope=task.scope).count() == 1
    assert TaskAttentionOutbox.objects.filter(scope=task.scope).count() == 1


def test_events_of_one_task_have_one_order_and_recipients_join_once(world: World) -> None:
    task = create(world, "ben")
    found = race(
        [
            *(lambda: do.post(world, "ann", "t", mentions=["cat", "dan"]) for _ in range(4)),
            *(lambda: do.post(world, "ben", "t", mentions=["dan"]) for _ in range(2)),
            lambda: change_task(user=world.user["ann"], task_id=task.id, change=TaskChange(status="done")),
        ]
    )
    assert not [each for each in found if isinstance(each, Exception)], found
    orders = TaskAttentionOutbox.objects.filter(scope=task.scope).order_by("order").values_list("order", flat=True)
    assert list(orders) == list(range(1, 8))
    for name in ("cat", "dan"):
        assert Membership.objects.filter(scope=task.scope, member=world.member[name]).count() == 1
        assert InboxRow.objects.filter(scope=task.scope, member=world.member[name]).count() == 1


def test_a_message_that_meets_a_leaver_is_for_him_or_not_but_never_half(world: World) -> None:
    task = create(world, "ben")
    found = race([lambda: do.post(world, "ann", "t"), lambda: do.leave(world, "ben", "t")])
    assert not [each for each in found if isinstance(each, Exception)], found
    assert Membership.objects.get(scope=task.scope, member=world.member["ben"]).status == "left"
    assert not InboxRow.objects.filter(scope=task.scope, member=world.member["ben"], active=True).exists()
