"""Messages and what hangs on them: overflow of content, mentions, reactions."""

from __future__ import annotations

from django.db import models

from ..content.codec import StoredJSONDecoder, StoredJSONEncoder
from ..ids import new_id
from .fields import ExactCharField
from .scope import Scope
from .workspace import KEY_LENGTH, Member


class MessageType(models.TextChoices):
    DEFAULT = "default"
    SYSTEM = "system"
    STICKER = "sticker"
    TASK_DISPATCH = "task_dispatch"


HIDDEN_TYPES = (MessageType.TASK_DISPATCH,)


class MessageStatus(models.TextChoices):
    STREAMING = "streaming"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    EXPIRED = "expired"


class Purpose(models.TextChoices):
    OUTPUT = "output"
    HUMAN_REQUEST = "human_request"
    HUMAN_REPLY = "human_reply"


class Message(models.Model):
    """One utterance. `seq`, `id` and commit order are one order inside a scope."""

    id = models.UUIDField(primary_key=True, editable=False)
    scope = models.ForeignKey(Scope, on_delete=models.PROTECT, related_name="messages", db_index=False)
    seq = models.BigIntegerField()
    author = models.ForeignKey(Member, on_delete=models.PROTECT, related_name="+")
    notify_principal = models.ForeignKey(Member, on_delete=models.PROTECT, related_name="+", db_index=False)
    """Who is not notified: the author, or the person on whose behalf a service account speaks."""
    actor_kind = ExactCharField(max_length=KEY_LENGTH)
    actor_key = ExactCharField(max_length=KEY_LENGTH)
    target_kind = ExactCharField(max_length=KEY_LENGTH, default="", blank=True)
    target_key = ExactCharField(max_length=KEY_LENGTH, default="", blank=True)
    reply_to_id = models.UUIDField(null=True)
    """A message of the same scope; kept where that message is deleted."""
    purpose = models.CharField(max_length=16, choices=Purpose.choices, default=Purpose.OUTPUT)
    message_type = models.CharField(max_length=16, choices=MessageType.choices, default=MessageType.DEFAULT)
    status = models.CharField(max_length=16, choices=MessageStatus.choices, default=MessageStatus.COMPLETED)
    revision = models.BigIntegerField(default=0)
    silent = models.BooleanField(default=False)
    """Imported history: visible, never unread."""
    client_message_id = ExactCharField(max_length=KEY_LENGTH, null=True)
    output_key = ExactCharField(max_length=64, null=True, unique=True)
    """Hash of scope, actor and the speaker's key."""
    creation_fingerprint = models.CharField(max_length=64, default="", blank=True)
    """What "same content" means for a retry; never changes after creation."""
    task_id = models.UUIDField(null=True)
    """A delivery mark on user inputs; unrelated to `tasks`, never identity."""
    effect_key = ExactCharField(max_length=KEY_LENGTH, null=True)
    human_due_at = models.DateTimeField(null=True, db_index=True)
    wake_pending = models.BooleanField(default=False)
    dispatch_pending = models.BooleanField(default=False)
    content = models.JSONField(encoder=StoredJSONEncoder, decoder=StoredJSONDecoder)
    last_event_fingerprint = models.CharField(max_length=64, default="", blank=True)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()
    edited_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "messages"
        constraints = [
            models.UniqueConstraint(fields=["scope", "seq"], name="messages_scope_seq_uniq"),
            models.UniqueConstraint(fields=["scope", "author", "client_message_id"], name="messages_client_id_uniq"),
        ]
        indexes = [
            models.Index(fields=["scope", "id"], name="messages_page_idx"),
            models.Index(fields=["scope", "message_type", "created_at"], name="messages_visible_idx"),
            models.Index(fields=["status", "updated_at"], name="messages_expiry_idx"),
            models.Index(fields=["scope", "updated_at"], name="messages_changed_idx"),
            models.Index(fields=["wake_pending", "id"], name="messages_wake_idx"),
            models.Index(fields=["dispatch_pending", "id"], name="messages_dispatch_idx"),
        ]

    def __str__(self) -> str:
        return f"message {self.id}"


class MessagePart(models.Model):
    """Physical overflow of one message's content; never visible outside `conversations.content`."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    message = models.ForeignKey(Message, on_delete=models.CASCADE, related_name="+")
    content = models.JSONField(encoder=StoredJSONEncoder, decoder=StoredJSONDecoder)
    size_bytes = models.BigIntegerField()

    class Meta:
        db_table = "message_parts"
        # Sizes are summed without touching the rows, which hold the content before them.
        indexes = [models.Index(fields=["message", "id", "size_bytes"], name="message_parts_sizes_idx")]


class MessageMention(models.Model):
    """Who is mentioned in a message: what mentions are, also for recount, rewind and repair."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    message = models.ForeignKey(Message, on_delete=models.CASCADE, related_name="mentions", db_index=False)
    member = models.ForeignKey(Member, on_delete=models.PROTECT, related_name="+")

    class Meta:
        db_table = "message_mentions"
        constraints = [models.UniqueConstraint(fields=["message", "member"], name="message_mentions_uniq")]


class MessageReaction(models.Model):
    """One member's emoji on a message."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    message = models.ForeignKey(Message, on_delete=models.CASCADE, related_name="reactions", db_index=False)
    member = models.ForeignKey(Member, on_delete=models.PROTECT, related_name="+")
    emoji = ExactCharField(max_length=64)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "message_reactions"
        constraints = [models.UniqueConstraint(fields=["message", "emoji", "member"], name="message_reactions_uniq")]
