"""The task outbox on the real database: accounted, protected, woken, delivered, in this order and none skipped."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import pytest
from django.db import DatabaseError, transaction
from django.db import connection as database
from django.test.utils import CaptureQueriesContext

from conversations.actions import attending
from conversations.actions.attending import MAX_ATTEMPTS, advance_feeds
from conversations.events import Counted, MessageStored
from conversations.ids import new_id
from conversations.models import ConversationConsumer, ResourceLock, TaskAttentionOutbox
from conversations.ownership import current_owner
from conversations.ownership.leases import workspace_resource
from conversations.publish import publish_on_commit
from tests.server import wait_until
from tests.unread.desks import Desk
from unread.attention.worker import IN_A_ROW, AttentionWorker
from unread.core.ports import SnapshotRow
from unread.models import MemberScopeUnreadRuntimeSnapshot as Stored
from unread.store import SnapshotTable

DELIVERED, PENDING, DEAD = ("delivered", 0, 0), ("pending", 0, 0), ("dead", MAX_ATTEMPTS, 0)


class Failing(SnapshotTable):
    """A snapshot table whose barrier fails as often as it is told to."""

    def __init__(self, times: int = 0) -> None:
        self.times = times
        self.wrote: list[list[UUID]] = []

    def protect(self, workspace: int, epoch: int, rows: Sequence[SnapshotRow]) -> None:
        if self.times:
            self.times -= 1
            raise DatabaseError("gone")
        self.wrote.append(sorted(UUID(int=row.member) for row in rows))
        super().protect(workspace, epoch, rows)


def test_an_event_is_accounted_protected_woken_and_delivered() -> None:
    desk = Desk("ann", "ben", "cat", agents=("bot",))
    row = desk.message("ann", ["ben", "bot"], mentions=("ben",))
    desk.activity("ann", ["ben", "cat"])
    desk.deliver()
    assert desk.badge("ben") == ("snapshot_serving", 1, 1, 1)
    assert desk.badge("cat") == ("snapshot_serving", 0, 0, 1)
    assert desk.states() == [DELIVERED, DELIVERED]
    assert desk.woken[0] == row.id
    stored = desk.stored("ben")
    assert stored is not None
    assert (stored.message_unread_count, stored.task_snapshot_format_version) == (1, 1)
    assert stored.task_snapshot_json["message_unread"] == 1
    assert desk.stored("ann") is None


def test_the_barrier_writes_the_frozen_recipients_and_nobody_else() -> None:
    failing = Failing()
    desk = Desk("ann", "ben", "cat", snapshots=failing)
    desk.message("ann", ["ben"])
    desk.message("ann", ["cat"])
    desk.deliver()
    assert failing.wrote == [[desk.world.member["ben"].id], [desk.world.member["cat"].id]]


def test_statements_do_not_grow_with_members_or_recipients() -> None:
    def statements(people: int, recipients: int) -> int:
        names = [f"p{n}" for n in range(people)]
        desk = Desk("ann", *names)
        desk.message("ann", names[:recipients])
        with CaptureQueriesContext(
            database,
        ) as captured:
            desk.deliver()
        assert desk.states() == [DELIVERED]
        return len(captured)

    assert statements(3, 1) == statements(40, 1) == statements(40, 30)


def test_a_failed_barrier_defers_wakes_nobody_and_costs_no_attempt() -> None:
    failing = Failing(times=2)
    desk = Desk("ann", "ben", agents=("bot",), snapshots=failing)
    desk.message("ann", ["ben", "bot"])
    desk.message("ann", ["ben"])
    for deferrals in (1, 2):
        desk.due()
        desk.deliver()
        assert desk.states() == [("pending", 0, deferrals), PENDING]  # and the later event waits for it
        assert desk.woken == []
    assert desk.metrics.counts["outbox_deferrals"] == 2
    desk.due()
    desk.deliver()
    assert [state for state, _, _ in desk.states()] == ["delivered", "delivered"]
    assert desk.badge("ben") == ("snapshot_serving", 2, 0, 0)


def test_a_deferred_event_is_not_tried_before_its_time() -> None:
    desk = Desk("ann", "ben", snapshots=Failing(times=5))
    desk.message("ann", ["ben"])
    for _ in range(4):
        desk.deliver()
    assert desk.states() == [("pending", 0, 1)]


def test_one_task_does_not_hold_up_another() -> None:
    first, second = Desk("ann", "ben", snapshots=Failing(times=1)), Desk("ann", "ben")
    first.house.own(second.world)
    first.open(first.house)
    first.message("ann", ["ben"])
    second.message("ann", ["ben"])
    first.deliver()
    assert first.states() == [("pending", 0, 1)]
    assert second.states() == [DELIVERED]


def test_a_wake_that_fails_is_tried_again_and_is_dead_at_last() -> None:
    desk = Desk("ann", "ben", agents=("bot",))

    def refuse(row: TaskAttentionOutbox) -> None:
        if row.order == 1:
            raise RuntimeError("nobody there")

    desk.wake = refuse
    desk.message("ann", ["ben", "bot"])
    desk.message("ann", ["ben"])
    for attempts in range(1, MAX_ATTEMPTS):
        desk.due()
        desk.deliver()
        assert desk.states() == [("pending", attempts, 0), PENDING]
    desk.due()
    desk.deliver()
    assert desk.states() == [DEAD, DELIVERED]
    assert desk.badge("ben") == ("snapshot_serving", 2, 0, 0)
    assert "nobody there" in TaskAttentionOutbox.objects.get(scope=desk.scope, order=1).last_error


def test_a_malformed_event_dies_and_lets_the_next_one_pass() -> None:
    desk = Desk("ann", "ben")
    broken = desk.message("ann", ["ben"])
    TaskAttentionOutbox.objects.filter(id=broken.id).update(payload={"seq": "x"})
    desk.message("ann", ["ben"])
    for _ in range(MAX_ATTEMPTS):
        desk.due()
        desk.deliver()
    assert desk.states() == [DEAD, DELIVERED]
    assert desk.badge("ben")[:2] == ("snapshot_serving", 1)


def test_a_claimed_event_is_left_alone_until_the_claim_runs_out_or_its_epoch_is_over() -> None:
    desk = Desk("ann", "ben")
    row = desk.message("ann", ["ben"])
    epoch = current_owner().require(desk.world.id)
    assert attending.claim_event(row.id, epoch) is not None
    assert attending.claim_event(row.id, epoch) is None
    desk.deliver()
    assert desk.states() == [PENDING]
    assert attending.claim_event(row.id, epoch + 1) is not None
    TaskAttentionOutbox.objects.filter(id=row.id).update(claim_expires_at=row.created_at)
    desk.deliver()
    assert desk.states() == [DELIVERED]


def test_a_lost_claim_changes_nothing() -> None:
    desk = Desk("ann", "ben")
    row = desk.message("ann", ["ben"])
    token = attending.claim_event(row.id, 1)
    assert token is not None
    assert attending.claim_event(row.id, 2) is not None
    assert attending.deliver_event(row.id, token) is False
    attending.defer_event(row, token, "late")
    attending.fail_event(row, token, "late")
    assert desk.states() == [PENDING]


def test_a_process_that_does_not_own_the_workspace_delivers_nothing() -> None:
    desk = Desk("ann", "ben")
    desk.message("ann", ["ben"])
    desk.house.runtime.disown(desk.world.id.int)
    desk.deliver()
    assert desk.states() == [("pending", 0, 1)]
    current_owner().release(desk.world.id)
    desk.due()
    desk.deliver()
    assert desk.states() == [("pending", 0, 1)]
    assert desk.stored("ben") is None


def test_a_moved_lease_defers_and_writes_nothing() -> None:
    desk = Desk("ann", "ben")
    desk.message("ann", ["ben"])
    ResourceLock.objects.filter(resource=workspace_resource(desk.world.id)).update(epoch=10_000)
    desk.deliver()
    assert desk.states() == [("pending", 0, 1)]
    assert desk.stored("ben") is None
    assert desk.woken == []


@pytest.mark.parametrize("again", ["crash", "restart"])
def test_what_was_delivered_is_shown_after(again: str) -> None:
    desk = Desk("ann", "ben")
    desk.message("ann", ["ben"], mentions=("ben",))
    desk.activity("ann", ["ben"])
    desk.deliver()
    getattr(desk, again)()
    assert desk.badge("ben") == ("snapshot_serving", 1, 1, 1)
    desk.message("ann", ["ben"])
    desk.deliver()
    assert desk.badge("ben") == ("snapshot_serving", 2, 1, 1)


def test_a_crash_between_the_barrier_and_delivered_counts_once() -> None:
    desk = Desk("ann", "ben")

    def die(row: TaskAttentionOutbox) -> None:
        raise KeyboardInterrupt

    desk.wake = die
    desk.message("ann", ["ben"])
    with pytest.raises(KeyboardInterrupt):
        desk.deliver()
    assert desk.states() == [PENDING]
    desk.wake = lambda row: desk.woken.append(row.id)
    desk.crash()  # a claim of an older epoch is free at once
    desk.deliver()
    assert desk.states() == [DELIVERED]
    assert desk.badge("ben") == ("snapshot_serving", 1, 0, 0)


def test_a_removal_lowers_what_is_protected_and_wakes_nobody() -> None:
    desk = Desk("ann", "ben")
    row = desk.message("ann", ["ben"], mentions=("ben",))
    desk.message("ann", ["ben"])
    desk.deliver()
    removal = desk.removal(row)
    desk.deliver()
    assert len(desk.woken) == 2
    assert removal.id not in desk.woken
    assert desk.badge("ben") == ("snapshot_serving", 1, 0, 0)
    desk.crash()
    assert desk.badge("ben") == ("snapshot_serving", 1, 0, 0)


def test_a_late_flush_of_another_writer_takes_nothing_back() -> None:
    desk = Desk("ann", "ben")
    desk.message("ann", ["ben"])
    desk.deliver()
    Stored.objects.filter(scope_id=desk.scope.id).update(
        message_unread_count=0, latest_message_accounted_seq=99, row_version=10**6
    )
    desk.crash()
    assert desk.badge("ben") == ("snapshot_serving", 1, 0, 0)


def test_a_row_without_a_shadow_shows_no_count_and_holds_nothing_up() -> None:
    desk = Desk("ann", "ben")
    desk.message("ann", ["ben"])
    desk.deliver()
    Stored.objects.filter(scope_id=desk.scope.id).update(
        task_snapshot_format_version=None,
        task_snapshot_json=None,
        message_unread_count=7,
        latest_message_accounted_seq=99,
        rewind_generation=99,
    )
    desk.crash()
    assert desk.badge("ben") == ("hydrating", 0, 0, 0)
    desk.message("ann", ["ben"])
    desk.deliver()
    assert desk.badge("ben") == ("snapshot_serving", 1, 0, 0)
    assert desk.states() == [DELIVERED, DELIVERED]


@pytest.mark.parametrize("damage", [{"task_snapshot_format_version": 9}, {"task_snapshot_json": {"message_unread": 1}}])
def test_a_shadow_that_cannot_be_read_suppresses_and_blocks(damage: dict[str, Any]) -> None:
    desk = Desk("ann", "ben")
    desk.message("ann", ["ben"])
    desk.deliver()
    Stored.objects.filter(scope_id=desk.scope.id).update(**damage)
    desk.crash()
    assert desk.badge("ben") == ("stale", 0, 0, 0)
    desk.message("ann", ["ben"])
    desk.deliver()
    assert desk.states() == [DELIVERED, ("pending", 0, 1)]
    assert desk.metrics.counts["shadow_mismatches"] == 1


def test_feeds_of_agents_are_moved_on_and_never_back() -> None:
    desk = Desk("ann", agents=("bot", "idle"))
    desk.wake = advance_feeds
    row = desk.message("ann", ["bot", "idle"])
    feed = ConversationConsumer.objects.create(scope=desk.scope, actor_kind="operator", actor_key="bot")
    desk.deliver()
    feed.refresh_from_db()
    assert feed.end_offset == UUID(row.payload["message_id"])
    assert ConversationConsumer.objects.filter(scope=desk.scope).count() == 1
    later = new_id()
    ConversationConsumer.objects.filter(id=feed.id).update(end_offset=later)
    advance_feeds(row)
    feed.refresh_from_db()
    assert feed.end_offset == later


def test_more_events_than_one_turn_takes_come_in_order() -> None:
    desk = Desk("ann", "ben")
    for _ in range(IN_A_ROW * 2 + 1):
        desk.message("ann", ["ben"])
    assert [desk.delivery.deliver_due() for _ in range(4)] == [True, True, False, False]
    assert desk.badge("ben")[1] == IN_A_ROW * 2 + 1
    assert desk.woken == sorted(desk.woken)


def told(desk: Desk, row: TaskAttentionOutbox) -> None:
    """The hook of the commit that wrote the row."""
    ben = desk.world.member["ben"].id
    facts = Counted(ben, ben, counts=True)
    with transaction.atomic():
        publish_on_commit(
            [MessageStored(desk.world.id, desk.scope.id, None, row.id, row.payload["seq"], facts, 1, 0, (ben,))]
        )


def test_the_worker_is_woken_by_the_commit() -> None:
    desk = Desk("ann", "ben")
    worker = AttentionWorker(desk.delivery, every_s=3600)
    worker.start()
    try:
        told(desk, desk.message("ann", ["ben"]))
        wait_until(lambda: desk.states() == [DELIVERED], 20, desk.states)
        assert worker.healthy()
    finally:
        worker.stop(10)
    assert not worker.healthy()


def test_the_worker_finds_by_itself_what_nobody_told_and_delivers_what_is_due_at_the_end() -> None:
    desk = Desk("ann", "ben")
    desk.message("ann", ["ben"])
    worker = AttentionWorker(desk.delivery, every_s=0.05)
    worker.start()
    wait_until(lambda: desk.states() == [DELIVERED], 20, desk.states)
    worker.stop(10)
    desk.message("ann", ["ben"])
    AttentionWorker(desk.delivery, every_s=3600).stop(10)
    assert desk.states() == [DELIVERED, DELIVERED]
