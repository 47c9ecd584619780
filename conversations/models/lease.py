"""General leases, claimed and renewed by conditional updates."""

from __future__ import annotations

from django.db import models

from ..ids import new_id
from .fields import ExactCharField


class ResourceLock(models.Model):
    """`epoch` rises at every acquisition; a holder proves itself by `(resource, locker_id, epoch)`."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    resource = ExactCharField(max_length=160, unique=True)
    locker_id = models.CharField(max_length=200, blank=True, default="")
    epoch = models.BigIntegerField(default=0)
    expires_at = models.DateTimeField()
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        db_table = "resource_locks"

    def __str__(self) -> str:
        return self.resource
