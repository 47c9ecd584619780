"""Scopes: the places that hold messages. The HTTP API calls a scope a conversation."""

from __future__ import annotations

from django.db import models

from ..ids import new_id
from .fields import ExactCharField
from .workspace import KEY_LENGTH, Member, Workspace


class ScopeType(models.TextChoices):
    CHANNEL = "channel"
    DM = "dm"
    THREAD = "thread"
    TASK = "task"
    CONVERSATION = "conversation"


class Visibility(models.TextChoices):
    PUBLIC = "public"
    PRIVATE = "private"


class ScopeStatus(models.TextChoices):
    ACTIVE = "active"
    ARCHIVED = "archived"


class Scope(models.Model):
    """Topology and counters. Seqs, generations and the visible summary change only under this row's lock."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="scopes")
    type = models.CharField(max_length=16, choices=ScopeType.choices)
    name = models.CharField(max_length=120, blank=True, default="")
    created_by = models.ForeignKey(Member, on_delete=models.PROTECT, null=True, related_name="+")
    parent_scope = models.ForeignKey(
        "self", on_delete=models.PROTECT, null=True, related_name="children", db_index=False
    )
    root_message_id = models.UUIDField(null=True)
    """A thread's root. Not a foreign key: deleting the root keeps its thread."""
    actor_kind = ExactCharField(max_length=KEY_LENGTH, null=True)
    actor_key = ExactCharField(max_length=KEY_LENGTH, null=True)
    identity_key = ExactCharField(max_length=80, null=True)
    """For find-or-create only: `dm:<hash of the sorted member ids>`, `thread:<root>`."""
    visibility = models.CharField(max_length=16, choices=Visibility.choices, default=Visibility.PRIVATE)
    status = models.CharField(max_length=16, choices=ScopeStatus.choices, default=ScopeStatus.ACTIVE)
    archived_at = models.DateTimeField(null=True)
    latest_seq = models.BigIntegerField(default=0)
    latest_activity_seq = models.BigIntegerField(default=0)
    last_message_id = models.UUIDField(null=True)
    """The greatest message id ever given out here; ids only grow, also past deleted messages."""
    roster_generation = models.BigIntegerField(default=0)
    rewind_generation = models.BigIntegerField(default=0)
    visible_message_count = models.BigIntegerField(default=0)
    visible_last_message_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        db_table = "scopes"
        constraints = [
            models.UniqueConstraint(fields=["workspace", "identity_key"], name="scopes_identity_uniq"),
            models.UniqueConstraint(
                fields=["parent_scope", "actor_kind", "actor_key"], name="scopes_parent_actor_uniq"
            ),
        ]
        indexes = [
            models.Index(
                fields=["parent_scope", "root_message_id", "type", "status", "archived_at"],
                name="scopes_parent_root_thread_idx",
            ),
            models.Index(fields=["workspace", "type", "status"], name="scopes_workspace_type_idx"),
        ]

    def __str__(self) -> str:
        return self.name or f"{self.type} {self.id}"

    @property
    def active(self) -> bool:
        return self.status == ScopeStatus.ACTIVE
