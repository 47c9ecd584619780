"""Audit of operator repairs."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from ..ids import new_id


class RepairRun(models.Model):
    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    action = models.CharField(max_length=64)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    username = models.CharField(max_length=150)
    workspace_id = models.UUIDField(null=True)
    target = models.JSONField()
    before = models.JSONField(null=True)
    after = models.JSONField(null=True)
    status = models.CharField(max_length=16)
    error = models.CharField(max_length=500, blank=True, default="")
    started_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "repair_runs"
        permissions = [("repair", "May run repair actions")]
