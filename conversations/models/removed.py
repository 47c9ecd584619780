"""Keys of removed messages that their senders may still retry with."""

from __future__ import annotations

from django.db import models

from .fields import ExactCharField
from .scope import Scope
from .workspace import KEY_LENGTH, Member


class RemovedMessage(models.Model):
    """A removed message leaves nothing but its keys, so that a late retry of its send cannot bring it back."""

    id = models.UUIDField(primary_key=True, editable=False)
    """The id that the message had."""
    scope = models.ForeignKey(Scope, on_delete=models.PROTECT, related_name="+", db_index=False)
    author = models.ForeignKey(Member, on_delete=models.PROTECT, related_name="+")
    client_message_id = ExactCharField(max_length=KEY_LENGTH, null=True)
    output_key = ExactCharField(max_length=64, null=True, unique=True)
    removed_at = models.DateTimeField()

    class Meta:
        db_table = "removed_messages"
        constraints = [
            models.UniqueConstraint(
                fields=["scope", "author", "client_message_id"], name="removed_messages_client_id_uniq"
            ),
        ]

    def __str__(self) -> str:
        return f"removed message {self.id}"
