"""The only unread persistence: one row per member and scope, written by the flusher, read by hydrate and warm jobs."""

from __future__ import annotations

from django.db import models


class MemberScopeUnreadRuntimeSnapshot(models.Model):
    """Named by `unread.store` alone. Ids are values, not foreign keys: a hint must never block a fact."""

    pk = models.CompositePrimaryKey("workspace_id", "member_id", "scope_id")
    workspace_id = models.UUIDField()
    member_id = models.UUIDField()
    scope_id = models.UUIDField()
    message_unread_count = models.BigIntegerField()
    mention_unread_count = models.BigIntegerField()
    activity_unread_count = models.BigIntegerField()
    manual_unread = models.BooleanField()
    manual_unread_seq = models.BigIntegerField()
    last_message_read_seq = models.BigIntegerField()
    last_activity_read_seq = models.BigIntegerField()
    effective_from_seq = models.BigIntegerField()
    latest_message_accounted_seq = models.BigIntegerField()
    latest_activity_accounted_seq = models.BigIntegerField()
    notification_state = models.SmallIntegerField()
    """`unread.core.events.Level`."""
    membership_visibility = models.SmallIntegerField()
    """Bit 0: active, bit 1: visible."""
    count_state = models.SmallIntegerField()
    """`unread.core.states.CountState`."""
    scope_roster_generation = models.BigIntegerField()
    scope_message_generation = models.BigIntegerField()
    scope_activity_generation = models.BigIntegerField()
    membership_generation = models.BigIntegerField()
    read_generation = models.BigIntegerField()
    notification_generation = models.BigIntegerField()
    manual_unread_generation = models.BigIntegerField()
    rewind_generation = models.BigIntegerField()
    format_version = models.SmallIntegerField()
    owner_epoch = models.BigIntegerField()
    row_version = models.BigIntegerField()
    task_snapshot_format_version = models.SmallIntegerField(null=True)
    task_snapshot_json = models.JSONField(null=True)
    updated_at = models.DateTimeField()

    class Meta:
        db_table = "member_scope_unread_runtime_snapshots"
        indexes = [
            models.Index(fields=["workspace_id", "scope_id", "member_id"], name="unread_snapshots_scope_idx"),
        ]
