"""Targeted task attention: the inbox row and the durable outbox."""

from __future__ import annotations

from django.db import models

from ..ids import new_id
from .scope import Scope
from .workspace import Member, Workspace


class InboxRow(models.Model):
    """One row per member and scope, for targeted task attention and manual unread only; no counts in it."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="+", db_index=False)
    member = models.ForeignKey(Member, on_delete=models.PROTECT, related_name="+", db_index=False)
    scope = models.ForeignKey(Scope, on_delete=models.PROTECT, related_name="+")
    kind = models.CharField(max_length=16)
    reason = models.CharField(max_length=32, blank=True, default="")
    sort_id = models.UUIDField()
    """UUIDv7 of the latest attention: newest first, and the page cursor."""
    active = models.BooleanField(default=True)
    updated_at = models.DateTimeField()

    class Meta:
        db_table = "im_conversation_index"
        constraints = [models.UniqueConstraint(fields=["member", "scope"], name="im_conversation_index_uniq")]
        indexes = [
            models.Index(fields=["workspace", "member", "active", "sort_id"], name="im_conversation_index_page_idx")
        ]


class OutboxStatus(models.TextChoices):
    PENDING = "pending"
    DELIVERED = "delivered"
    DEAD = "dead"


class TaskAttentionOutbox(models.Model):
    """One committed task event with its frozen recipients; delivered in `order` per task.

    `payload`, ids as text:

    - message: `seq`, `message_id`, `author`, `principal`, `mentions`, `counts` (default true), `rewind_generation` as
      of its facts, and `activity_seq` of the activity that goes with it and does not count;
    - activity: `activity_seq`, `type`, `author` (who acted);
    - removal: `seq`, `author`, `principal`, `mentions` as they counted, the scope's `rewind_generation` after it, and
      after an edit `mentions_after`; or several such under `changes`, each with the `recipients` of its own message.
      The row's recipients are those of all its messages.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="+", db_index=False)
    scope = models.ForeignKey(Scope, on_delete=models.PROTECT, related_name="+", db_index=False)
    event_id = models.UUIDField(unique=True)
    order = models.BigIntegerField()
    kind = models.CharField(max_length=24)
    """message, activity or removal."""
    payload = models.JSONField()
    human_recipients = models.JSONField()
    agent_recipients = models.JSONField()
    status = models.CharField(max_length=16, choices=OutboxStatus.choices, default=OutboxStatus.PENDING)
    attempts = models.IntegerField(default=0)
    deferrals = models.IntegerField(default=0)
    not_before = models.DateTimeField(null=True)
    claim_token = models.UUIDField(null=True)
    claim_epoch = models.BigIntegerField(default=0)
    claim_expires_at = models.DateTimeField(null=True)
    last_error = models.CharField(max_length=500, blank=True, default="")
    created_at = models.DateTimeField(auto_now_add=True)
    delivered_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "task_attention_outbox"
        verbose_name_plural = "task attention outbox"
        constraints = [models.UniqueConstraint(fields=["scope", "order"], name="task_attention_outbox_order_uniq")]
        indexes = [models.Index(fields=["status", "workspace", "not_before"], name="task_attention_outbox_due_idx")]
