"""`manage.py reconcile_task_shadows`: afterwards the plain columns say what a reader of shadows was shown."""

from __future__ import annotations

from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from conversations.models import RepairRun
from conversations.ownership import current_owner
from tests.unread.desks import Desk
from unread.core.states import CountState
from unread.models import MemberScopeUnreadRuntimeSnapshot as Stored


def reconcile(desk: Desk, *options: str) -> str:
    said = StringIO()
    call_command("reconcile_task_shadows", "--workspace", str(desk.world.id), *options, stdout=said)
    return said.getvalue().strip()


def stopped(**regular: Any) -> Desk:
    """Ben has two protected messages; a writer that knows no shadows came late; no server runs any more."""
    desk = Desk("ann", "ben", "cat")
    desk.message("ann", ["ben"], mentions=("ben",))
    desk.message("ann", ["ben"])
    desk.message("ann", ["cat"])
    desk.deliver()
    desk.house.stop()
    late = {"message_unread_count": 0, "mention_unread_count": 0, "latest_message_accounted_seq": 99, **regular}
    Stored.objects.filter(scope_id=desk.scope.id, member_id=desk.world.member["ben"].id).update(**late)
    current_owner().release(desk.world.id)
    return desk


def plain(desk: Desk) -> tuple[int, int, int, int]:
    row = desk.stored("ben")
    assert row is not None
    return (
        row.message_unread_count,
        row.mention_unread_count,
        row.latest_message_accounted_seq,
        row.notification_state,
    )


def test_every_supported_shadow_becomes_the_plain_row() -> None:
    desk = stopped()
    assert reconcile(desk) == "2 shadows, 1 differ, 1 written"
    assert plain(desk) == (2, 1, 2, 0)
    assert reconcile(desk) == "2 shadows, 0 differ, 0 written"
    run = RepairRun.objects.filter(workspace_id=desk.world.id).order_by("id").first()
    assert run is not None
    assert (run.action, run.status, run.after["written"]) == ("reconcile_task_shadows", "done", 1)


def test_newer_controls_and_whole_reads_of_the_plain_row_are_kept() -> None:
    desk = stopped(notification_state=2, notification_generation=7)
    reconcile(desk)
    assert plain(desk) == (2, 1, 2, 2)
    desk = stopped(last_message_read_seq=3, last_activity_read_seq=0, read_generation=9)
    reconcile(desk)
    row = desk.stored("ben")
    assert row is not None
    assert (row.message_unread_count, row.last_message_read_seq, row.read_generation) == (0, 3, 9)
    assert row.count_state == CountState.SNAPSHOT_SERVING


def test_a_check_writes_nothing() -> None:
    desk = stopped()
    assert reconcile(desk, "--check") == "2 shadows, 1 differ, 0 written"
    assert plain(desk) == (0, 0, 99, 0)


@pytest.mark.parametrize(
    ("why", "change"),
    [
        ("a shadow of version 9", {"task_snapshot_format_version": 9}),
        ("not the fields of a shadow", {"task_snapshot_json": {"x": 1}}),
        ("a shadow without a version", {"task_snapshot_format_version": None}),
        ("covers a part", {"last_message_read_seq": 1, "read_generation": 9}),
    ],
)
def test_one_shadow_that_cannot_be_reconciled_closes_the_gate(why: str, change: dict[str, Any]) -> None:
    desk = stopped(**change)
    other = Stored.objects.filter(scope_id=desk.scope.id, member_id=desk.world.member["cat"].id)
    other.update(message_unread_count=50)
    for options in (["--check"], []):
        with pytest.raises(CommandError, match=why):
            reconcile(desk, *options)
    assert other.get().message_unread_count == 50
    assert set(RepairRun.objects.filter(workspace_id=desk.world.id).values_list("status", flat=True)) == {"failed"}


def test_a_served_workspace_and_an_undelivered_event_close_the_gate() -> None:
    desk = stopped()
    current_owner().require(desk.world.id)
    with pytest.raises(CommandError, match="is served by"):
        reconcile(desk)
    current_owner().release(desk.world.id)
    desk.message("ann", ["ben"])
    with pytest.raises(CommandError, match="is not delivered"):
        reconcile(desk)
    assert plain(desk) == (0, 0, 99, 0)
