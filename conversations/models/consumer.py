"""How far each actor has consumed a user conversation."""

from __future__ import annotations

from django.db import models

from ..ids import new_id
from .fields import ExactCharField
from .scope import Scope
from .workspace import KEY_LENGTH


class ConversationConsumer(models.Model):
    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    scope = models.ForeignKey(Scope, on_delete=models.PROTECT, related_name="consumers", db_index=False)
    process_scope = models.ForeignKey(Scope, on_delete=models.PROTECT, null=True, related_name="+")
    actor_kind = ExactCharField(max_length=KEY_LENGTH)
    actor_key = ExactCharField(max_length=KEY_LENGTH)
    end_offset = models.UUIDField(null=True)
    """The latest message for this actor."""
    position = models.UUIDField(null=True)
    """The last message returned to it."""
    committed = models.UUIDField(null=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        db_table = "conversation_consumers"
        constraints = [
            models.UniqueConstraint(fields=["scope", "actor_kind", "actor_key"], name="conversation_consumers_uniq")
        ]
