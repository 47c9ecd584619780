"""Who is in a scope, how far they read, what they want to hear of, and what they marked. Rows are never deleted."""

from __future__ import annotations

from django.db import models

from ..ids import new_id
from .scope import Scope
from .workspace import Member


class MembershipStatus(models.TextChoices):
    ACTIVE = "active"
    LEFT = "left"


class Membership(models.Model):
    """`read_generation` orders both cursors, `membership_generation` everything else here."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    scope = models.ForeignKey(Scope, on_delete=models.PROTECT, related_name="memberships", db_index=False)
    member = models.ForeignKey(Member, on_delete=models.PROTECT, related_name="scope_memberships", db_index=False)
    status = models.CharField(max_length=16, choices=MembershipStatus.choices, default=MembershipStatus.ACTIVE)
    visible = models.BooleanField(default=True)
    effective_from_seq = models.BigIntegerField(default=1)
    last_read_seq = models.BigIntegerField(default=0)
    last_activity_read_seq = models.BigIntegerField(default=0)
    read_generation = models.BigIntegerField(default=0)
    membership_generation = models.BigIntegerField(default=1)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        db_table = "scope_memberships"
        constraints = [models.UniqueConstraint(fields=["scope", "member"], name="scope_memberships_uniq")]
        indexes = [models.Index(fields=["member", "status", "scope"], name="scope_memberships_member_idx")]

    @property
    def active(self) -> bool:
        return self.status == MembershipStatus.ACTIVE


class NotificationLevel(models.TextChoices):
    ALL = "all"
    MENTIONS = "mentions"
    NONE = "none"


class NotificationSetting(models.Model):
    """Policy of one member for one scope; no row means level `all` and no explicit watch."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    scope = models.ForeignKey(Scope, on_delete=models.PROTECT, related_name="+", db_index=False)
    member = models.ForeignKey(Member, on_delete=models.PROTECT, related_name="+")
    level = models.CharField(max_length=16, choices=NotificationLevel.choices, default=NotificationLevel.ALL)
    watch = models.BooleanField(null=True)
    """Explicit task watch (true) or unwatch (false)."""
    generation = models.BigIntegerField(default=1)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        db_table = "scope_notification_settings"
        constraints = [models.UniqueConstraint(fields=["scope", "member"], name="scope_notification_settings_uniq")]


class MemberState(models.Model):
    """Manual unread marker. Set without a message it sits at the scope's `latest_seq` of that moment."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    scope = models.ForeignKey(Scope, on_delete=models.PROTECT, related_name="+", db_index=False)
    member = models.ForeignKey(Member, on_delete=models.PROTECT, related_name="+")
    manual_unread = models.BooleanField(default=False)
    manual_unread_seq = models.BigIntegerField(default=0)
    generation = models.BigIntegerField(default=1)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        db_table = "conversation_member_states"
        constraints = [models.UniqueConstraint(fields=["scope", "member"], name="conversation_member_states_uniq")]
