"""Harness runs: calls of a harness, each with an output message of its own."""

from __future__ import annotations

from django.db import models

from ..ids import new_id
from .fields import ExactCharField
from .message import Message
from .scope import Scope
from .workspace import KEY_LENGTH, Member


class RunStatus(models.TextChoices):
    QUEUED = "queued"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"
    TIMED_OUT = "timed_out"
    UNKNOWN = "unknown"


class HarnessRun(models.Model):
    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    scope = models.ForeignKey(Scope, on_delete=models.PROTECT, related_name="runs")
    message = models.OneToOneField(Message, on_delete=models.PROTECT, related_name="run")
    requested_by = models.ForeignKey(Member, on_delete=models.PROTECT, related_name="+")
    harness = ExactCharField(max_length=KEY_LENGTH)
    actor_kind = ExactCharField(max_length=KEY_LENGTH)
    actor_key = ExactCharField(max_length=KEY_LENGTH)
    identity = models.CharField(max_length=64, unique=True)
    """Hash of scope, actor and idempotency key."""
    idempotency_key = ExactCharField(max_length=KEY_LENGTH)
    effect_key = ExactCharField(max_length=KEY_LENGTH, null=True)
    fingerprint = models.CharField(max_length=64)
    request = models.JSONField()
    status = models.CharField(max_length=16, choices=RunStatus.choices, default=RunStatus.QUEUED)
    phase = models.CharField(max_length=32, blank=True, default="")
    deadline = models.DateTimeField()
    cancel_requested_at = models.DateTimeField(null=True)
    execution_ref = models.CharField(max_length=256, blank=True, default="")
    checkpoint = models.JSONField(null=True)
    error = models.JSONField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "harness_runs"
        indexes = [models.Index(fields=["status", "deadline"], name="harness_runs_due_idx")]
