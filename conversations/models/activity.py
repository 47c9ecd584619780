"""Durable message-domain events that are not messages."""

from __future__ import annotations

from django.db import models

from ..ids import new_id
from .scope import Scope
from .workspace import Member


class Activity(models.Model):
    """`(scope, seq)` orders them; what is high-signal is decided by the registry, not by the row."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    scope = models.ForeignKey(Scope, on_delete=models.PROTECT, related_name="activities", db_index=False)
    seq = models.BigIntegerField()
    type = models.CharField(max_length=64)
    ref_type = models.CharField(max_length=64, blank=True, default="")
    ref = models.CharField(max_length=256, blank=True, default="")
    actor = models.ForeignKey(Member, on_delete=models.PROTECT, related_name="+")
    payload = models.JSONField(default=dict)
    created_at = models.DateTimeField()

    class Meta:
        db_table = "scope_activity_events"
        verbose_name_plural = "activities"
        constraints = [models.UniqueConstraint(fields=["scope", "seq"], name="scope_activity_events_uniq")]
