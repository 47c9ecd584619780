"""Snapshot rows as the columns that flushes write and hydrates read, in their order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .core.events import Level
from .core.ports import SnapshotRow
from .core.states import CountState
from .ids import id_of

FACTS = (
    "message_unread_count",
    "mention_unread_count",
    "activity_unread_count",
    "manual_unread",
    "manual_unread_seq",
    "effective_from_seq",
    "last_message_read_seq",
    "last_activity_read_seq",
    "latest_message_accounted_seq",
    "latest_activity_accounted_seq",
    "scope_message_generation",
    "scope_activity_generation",
    "notification_state",
    "membership_visibility",
    "count_state",
    "scope_roster_generation",
    "rewind_generation",
    "membership_generation",
    "read_generation",
    "notification_generation",
    "manual_unread_generation",
)
READ_COLUMNS = (
    "member_id",
    "scope_id",
    "message_unread_count",
    "mention_unread_count",
    "activity_unread_count",
    "manual_unread",
    "manual_unread_seq",
    "effective_from_seq",
    "last_message_read_seq",
    "last_activity_read_seq",
    "latest_message_accounted_seq",
    "latest_activity_accounted_seq",
    "notification_state",
    "membership_visibility",
    "count_state",
    "scope_roster_generation",
    "rewind_generation",
    "membership_generation",
    "read_generation",
    "notification_generation",
    "manual_unread_generation",
    "row_version",
    "task_snapshot_format_version",
    "task_snapshot_json",
)


def regular_row(columns: Sequence[Any]) -> SnapshotRow:
    """The columns that flushes write, without the shadow beside them."""
    (
        member,
        scope,
        messages,
        mentions,
        activities,
        manual,
        marker_seq,
        effective_from_seq,
        last_read_seq,
        last_activity_read_seq,
        message_frontier,
        activity_frontier,
        level,
        visibility,
        count_state,
        roster_generation,
        rewind_generation,
        membership_generation,
        read_generation,
        policy_generation,
        marker_generation,
        row_version,
    ) = columns
    return SnapshotRow(
        member=id_of(member),
        scope=id_of(scope),
        message_unread=messages,
        mention_unread=mentions,
        activity_unread=activities,
        marker_seq=marker_seq if manual else 0,
        effective_from_seq=effective_from_seq,
        last_read_seq=last_read_seq,
        last_activity_read_seq=last_activity_read_seq,
        message_frontier=message_frontier,
        activity_frontier=activity_frontier,
        level=Level(level),
        active=bool(visibility & 1),
        visible=bool(visibility & 2),
        count_state=CountState(count_state),
        roster_generation=roster_generation,
        rewind_generation=rewind_generation,
        membership_generation=membership_generation,
        read_generation=read_generation,
        policy_generation=policy_generation,
        marker_generation=marker_generation,
        row_version=row_version,
    )


def facts(row: SnapshotRow) -> tuple[int, ...]:
    """The values of `FACTS`."""
    return (
        row.message_unread,
        row.mention_unread,
        row.activity_unread,
        int(row.marker_seq > 0),
        row.marker_seq,
        row.effective_from_seq,
        row.last_read_seq,
        row.last_activity_read_seq,
        row.message_frontier,
        row.activity_frontier,
        row.message_frontier,
        row.activity_frontier,
        int(row.level),
        row.active | row.visible << 1,
        int(row.count_state),
        row.roster_generation,
        row.rewind_generation,
        row.membership_generation,
        row.read_generation,
        row.policy_generation,
        row.marker_generation,
    )


def facts_of(row: SnapshotRow) -> dict[str, int]:
    """The row's columns by name, but for its key and versions."""
    return dict(zip(FACTS, facts(row), strict=True))
