"""Workspaces and their members."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from ..ids import new_id
from .fields import ExactCharField

KEY_LENGTH = 128


class Workspace(models.Model):
    """The tenant, and the unit of ownership."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    slug = models.SlugField(max_length=64, unique=True)
    name = models.CharField(max_length=120)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "workspaces"

    def __str__(self) -> str:
        return self.slug


class Role(models.TextChoices):
    ADMIN = "admin"
    MEMBER = "member"


class MemberStatus(models.TextChoices):
    ACTIVE = "active"
    DEACTIVATED = "deactivated"


class Member(models.Model):
    """A principal in a workspace. It speaks as the actor `(actor_kind, actor_key)`."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="members")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="memberships")
    actor_kind = ExactCharField(max_length=KEY_LENGTH, default="user")
    actor_key = ExactCharField(max_length=KEY_LENGTH)
    display_name = models.CharField(max_length=120)
    role = models.CharField(max_length=16, choices=Role.choices, default=Role.MEMBER)
    status = models.CharField(max_length=16, choices=MemberStatus.choices, default=MemberStatus.ACTIVE)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "members"
        constraints = [
            models.UniqueConstraint(fields=["workspace", "actor_kind", "actor_key"], name="members_actor_uniq"),
            models.UniqueConstraint(fields=["workspace", "user"], name="members_user_uniq"),
        ]
        indexes = [models.Index(fields=["workspace", "display_name"], name="members_name_idx")]

    def __str__(self) -> str:
        return self.display_name

    @property
    def active(self) -> bool:
        return self.status == MemberStatus.ACTIVE

    @property
    def is_person(self) -> bool:
        return self.actor_kind == "user"

    @property
    def is_admin(self) -> bool:
        return self.role == Role.ADMIN
