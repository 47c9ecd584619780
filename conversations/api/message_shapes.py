"""Messages in requests and answers, for validation and for the OpenAPI document."""

from __future__ import annotations

from rest_framework import serializers

from ..actions.composing import TERMINAL
from ..actions.mentioning import MAX_MENTIONS
from ..models.message import MessageStatus, MessageType, Purpose
from .fields import ActorField, Flag, Json, Key, Text
from .name_fields import IdField, IdListField
from .openapi import ActorShape, MapShape


class Body(serializers.Serializer):
    """What a message says: `text` (which becomes one text block) or `content` (an AgentUE model)."""

    text = Text(required=False, allow_null=True, allow_blank=True)
    content = Json(required=False, allow_null=True)
    mentions = IdListField(required=False, allow_null=True, max_length=MAX_MENTIONS)


class NewMessage(Body):
    client_message_id = Key(required=False, allow_null=True, help_text="Identity of a send, by author.")
    key = Key(required=False, allow_null=True, help_text="Identity of a send, by actor.")
    actor = ActorField(required=False, allow_null=True)
    target = ActorField(required=False, allow_null=True)
    reply_to_id = IdField(required=False, allow_null=True)
    message_type = Text(
        required=False, allow_null=True, max_length=16, help_text=f"One of {', '.join(MessageType.values)}."
    )
    stream = Flag(required=False)
    status = Text(required=False, allow_null=True, max_length=16, help_text=f"One of {', '.join(TERMINAL)}.")
    error = Json(required=False, allow_null=True, help_text="An object with `code` and `message`.")
    notify_principal_id = IdField(required=False, allow_null=True)


class Rewind(serializers.Serializer):
    to_message_id = IdField()


class Removed(serializers.Serializer):
    removed = serializers.IntegerField()


class ThreadSummary(serializers.Serializer):
    conversation_id = serializers.UUIDField()
    count = serializers.IntegerField()
    last_at = serializers.DateTimeField(allow_null=True)


class MessageMeta(serializers.Serializer):
    id = serializers.UUIDField()
    conversation_id = serializers.UUIDField()
    seq = serializers.IntegerField()
    revision = serializers.IntegerField()
    status = serializers.ChoiceField(choices=MessageStatus.choices)
    author_id = serializers.UUIDField()
    actor = ActorShape()
    target = ActorShape(allow_null=True)
    reply_to_id = serializers.UUIDField(allow_null=True)
    message_type = serializers.ChoiceField(choices=MessageType.choices)
    purpose = serializers.ChoiceField(choices=Purpose.choices)
    task_id = serializers.UUIDField(allow_null=True)
    client_message_id = serializers.CharField(allow_null=True)
    mentions = serializers.ListField(child=serializers.UUIDField())
    reactions = serializers.DictField(child=serializers.ListField(child=serializers.UUIDField()))
    thread = ThreadSummary(allow_null=True)
    process_conversation_id = serializers.UUIDField(allow_null=True)
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField()
    edited_at = serializers.DateTimeField(allow_null=True)


class MessageShape(MessageMeta):
    content = serializers.DictField(help_text="The AgentUE model, every block complete.")
    error = serializers.DictField(allow_null=True, help_text="The model's `meta.error`.")


class MessagePage(serializers.Serializer):
    items = MessageShape(many=True)
    has_more_before = serializers.BooleanField()
    has_more_after = serializers.BooleanField()


class ReplySummary(serializers.Serializer):
    conversation_id = serializers.UUIDField()
    visible_message_count = serializers.IntegerField()
    visible_last_message_at = serializers.DateTimeField(allow_null=True)
    participants = serializers.ListField(child=serializers.UUIDField())


class ReplySummaries(MapShape):
    """By message id."""

    item = ReplySummary
