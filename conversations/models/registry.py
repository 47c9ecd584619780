"""Who is online: operators and harnesses with leases; expired rows are kept."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from ..ids import new_id
from .fields import ExactCharField
from .workspace import KEY_LENGTH


class Registered(models.Model):
    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    key = ExactCharField(max_length=KEY_LENGTH, unique=True)
    name = models.CharField(max_length=120)
    description = models.TextField(blank=True, default="", max_length=2000)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    expires_at = models.DateTimeField(db_index=True)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return self.key


class Operator(Registered):
    class Meta:
        db_table = "operators"


class Harness(Registered):
    class Meta:
        db_table = "harnesses"
        verbose_name_plural = "harnesses"


KINDS: dict[str, type[Registered]] = {"operator": Operator, "harness": Harness}
"""By the kind of actor that is registered there."""
