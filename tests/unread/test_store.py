"""The snapshot table on the real database of this run: guard, lease, paging, and what a batch costs."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
from django.db import connection, connections
from django.test.utils import CaptureQueriesContext

from conversations.models import ResourceLock, Scope
from conversations.ownership.leases import workspace_resource
from tests.unread.rows import place, snapshot
from unread.core.events import Level
from unread.core.states import CountState
from unread.models import MemberScopeUnreadRuntimeSnapshot as Stored
from unread.store import LeaseMoved, SnapshotTable

store = SnapshotTable()


def test_a_row_comes_back_as_it_was_written() -> None:
    here = place()
    member, scope = here.members[0].id, here.scopes[0].id
    rows = [
        snapshot(member, scope),
        snapshot(
            member,
            here.scopes[1].id,
            marker_seq=0,
            level=Level.NONE,
            active=False,
            visible=True,
            count_state=CountState.STALE,
            row_version=2,
        ),
    ]
    store.upsert(here.id, here.epoch, rows)
    loaded = store.load_member_page(here.id, member.int, 0, 10)
    assert sorted((row.snapshot for row in loaded), key=lambda row: row.row_version) == rows
    assert [row.snapshot for row in store.load_member_scopes(here.id, member.int, [scope.int])] == [rows[0]]
    assert store.load_member_scopes(here.id, member.int, []) == []


def test_a_row_replaces_another_only_with_a_greater_epoch_or_version() -> None:
    here = place(members=1, scopes=1)
    member, scope = here.members[0].id, here.scopes[0].id
    shown = []
    for version, count in ((5, 50), (4, 40), (5, 51), (6, 60)):
        store.upsert(here.id, here.epoch, [snapshot(member, scope, message_unread=count, row_version=version)])
        row = Stored.objects.get(workspace_id=here.workspace.id)
        shown.append((row.message_unread_count, row.owner_epoch, row.row_version))
    assert shown == [(50, here.epoch, 5), (50, here.epoch, 5), (50, here.epoch, 5), (60, here.epoch, 6)]

    later = here.epoch + 1
    _move_lease(here.workspace.id, later)
    store.upsert(here.id, later, [snapshot(member, scope, message_unread=1, row_version=1)])
    row = Stored.objects.get(workspace_id=here.workspace.id)
    assert (row.message_unread_count, row.owner_epoch, row.row_version) == (1, later, 1)


def test_one_batch_decides_row_by_row() -> None:
    here = place(members=1, scopes=3)
    member = here.members[0].id
    first, second, third = (scope.id for scope in here.scopes)
    store.upsert(here.id, here.epoch, [snapshot(member, first, row_version=9), snapshot(member, second, row_version=2)])
    store.upsert(
        here.id,
        here.epoch,
        [snapshot(member, scope, message_unread=77, row_version=5) for scope in (first, second, third)],
    )
    counts = dict(Stored.objects.filter(member_id=member).values_list("scope_id", "message_unread_count"))
    assert counts == {first: 3, second: 77, third: 77}


def test_a_former_owner_writes_nothing() -> None:
    here = place(members=1, scopes=2)
    member = here.members[0].id
    store.upsert(here.id, here.epoch, [snapshot(member, here.scopes[0].id)])
    _move_lease(here.workspace.id, here.epoch + 1)
    late = [snapshot(member, scope.id, message_unread=99, row_version=50) for scope in here.scopes]
    with pytest.raises(LeaseMoved):
        store.upsert(here.id, here.epoch, late)
    assert list(Stored.objects.filter(member_id=member).values_list("message_unread_count", flat=True)) == [3]


def test_the_task_shadow_is_never_touched() -> None:
    here = place(members=1, scopes=1)
    member, scope = here.members[0].id, here.scopes[0].id
    store.upsert(here.id, here.epoch, [snapshot(member, scope)])
    shadow = {"messages": 2}
    Stored.objects.filter(member_id=member).update(task_snapshot_format_version=1, task_snapshot_json=shadow)
    store.upsert(here.id, here.epoch, [snapshot(member, scope, message_unread=8, row_version=2)])
    row = Stored.objects.get(member_id=member)
    assert (row.message_unread_count, row.task_snapshot_format_version, row.task_snapshot_json) == (8, 1, shadow)


def test_pages_follow_one_another_to_the_end() -> None:
    here = place(members=2, scopes=7)
    mine, other = (member.id for member in here.members)
    store.upsert(
        here.id,
        here.epoch,
        [
            snapshot(member, scope.id, row_version=n + 1)
            for n, scope in enumerate(here.scopes)
            for member in (mine, other)
        ],
    )
    seen: list[int] = []
    after, sizes = 0, []
    while True:
        page = store.load_member_page(here.id, mine.int, after, 3)
        sizes.append(len(page))
        seen += [row.snapshot.scope for row in page]
        assert all(row.snapshot.member == mine.int for row in page)
        if len(page) < 3:
            break
        after = page[-1].snapshot.scope
    assert sizes == [3, 3, 1]
    assert sorted(seen) == sorted(scope.id.int for scope in here.scopes)


def test_a_row_comes_with_the_status_of_its_scope_and_parent() -> None:
    here = place(members=1, scopes=1)
    channel = here.scopes[0]
    thread = Scope.objects.create(
        workspace=here.workspace, type="thread", parent_scope=channel, status="archived", roster_generation=5
    )
    Scope.objects.filter(id=channel.id).update(roster_generation=9)
    member = here.members[0].id
    store.upsert(here.id, here.epoch, [snapshot(member, channel.id), snapshot(member, thread.id, row_version=2)])
    found = {row.snapshot.scope: row for row in store.load_member_page(here.id, member.int, 0, 10)}
    assert (found[channel.id.int].parent, found[channel.id.int].active, found[channel.id.int].parent_active) == (
        0,
        True,
        True,
    )
    assert (found[thread.id.int].parent, found[thread.id.int].active) == (channel.id.int, False)
    assert (found[thread.id.int].roster_generation, found[thread.id.int].parent_roster_generation) == (5, 9)


def test_rows_of_an_unknown_format_are_not_read_and_are_replaced() -> None:
    here = place(members=1, scopes=1)
    member, scope = here.members[0].id, here.scopes[0].id
    store.upsert(here.id, here.epoch, [snapshot(member, scope)])
    Stored.objects.filter(member_id=member).update(format_version=2)
    assert store.load_member_page(here.id, member.int, 0, 10) == []
    store.upsert(here.id, here.epoch, [snapshot(member, scope, row_version=2)])
    assert len(store.load_member_page(here.id, member.int, 0, 10)) == 1


@pytest.mark.parametrize("size", [1, 1500])
def test_a_batch_is_one_statement(size: int) -> None:
    here = place(members=1, scopes=1, joined=False)
    member = here.members[0].id
    rows = [snapshot(member, UUID(int=n + 1), row_version=n + 1) for n in range(size)]
    with CaptureQueriesContext(connection) as captured:
        store.upsert(here.id, here.epoch, rows)
    statements = [query["sql"].lstrip().split(" ", 1)[0] for query in captured.captured_queries]
    assert statements == ["INSERT"]
    assert Stored.objects.filter(member_id=member).count() == size


def test_concurrent_batches_leave_the_greatest_version_of_every_row() -> None:
    here = place(members=1, scopes=20, joined=False)
    member, scopes = here.members[0].id, [scope.id for scope in here.scopes]
    start = threading.Barrier(4)

    def write(worker: int) -> None:
        start.wait(30)
        for turn in range(10):
            version = turn * 4 + worker + 1
            order = scopes if worker % 2 else scopes[::-1]
            store.upsert(
                here.id,
                here.epoch,
                [snapshot(member, scope, message_unread=version, row_version=version) for scope in order],
            )

    failures = _run([lambda worker=worker: write(worker) for worker in range(4)])
    assert failures == []
    rows = Stored.objects.filter(member_id=member)
    assert {(row.message_unread_count, row.row_version) for row in rows} == {(40, 40)}
    assert rows.count() == 20


def _move_lease(workspace_id: UUID, epoch: int) -> None:
    """Another process took the workspace over."""
    ResourceLock.objects.filter(resource=workspace_resource(workspace_id)).update(epoch=epoch, locker_id="elsewhere")


def _run(works: list[Callable[[], None]]) -> list[BaseException]:
    """Run each in a thread with a connection of its own; returns what they raised."""
    failures: list[BaseException] = []

    def guarded(work: Callable[[], Any]) -> None:
        try:
            work()
        except BaseException as error:
            failures.append(error)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=guarded, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    return failures
