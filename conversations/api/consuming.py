"""Consuming a user conversation: poll, commit, and how far everybody is."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.urls import path
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from ..access import see_scope
from ..actions.consuming import commit, poll
from ..errors import TooLarge
from ..queries.consumers import consumers_of
from ..queries.json_values import id_text
from ..queries.messages import render_messages
from .fields import ActorField
from .message_shapes import MessageShape
from .messages import validated
from .name_fields import IdField
from .openapi import WRITE, ActorShape, refusals
from .paging import DEFAULT_LIMIT, MAX_LIMIT


class Poll(serializers.Serializer[Any]):
    actor = ActorField()
    after = IdField(required=False, allow_null=True, help_text="Default: what the actor has committed.")
    limit = serializers.IntegerField(required=False, min_value=1, max_value=MAX_LIMIT)


class PollAnswer(serializers.Serializer[Any]):
    items = MessageShape(many=True)
    position = serializers.UUIDField(allow_null=True, help_text="The last message ever returned to this actor.")
    process_conversation_id = serializers.UUIDField(allow_null=True)


class Commit(serializers.Serializer[Any]):
    actor = ActorField()
    message_id = IdField()


class CommitAnswer(serializers.Serializer[Any]):
    committed = serializers.UUIDField()


class ConsumerShape(serializers.Serializer[Any]):
    actor = ActorShape()
    process_conversation_id = serializers.UUIDField(allow_null=True)
    end_offset = serializers.UUIDField(allow_null=True, help_text="The latest message directed at this actor.")
    position = serializers.UUIDField(allow_null=True)
    committed = serializers.UUIDField(allow_null=True)


class ConsumerList(serializers.Serializer[Any]):
    items = ConsumerShape(many=True)


class Polling(APIView):
    @extend_schema(
        operation_id="poll", tags=["consuming"], request=Poll, responses={200: PollAnswer, **refusals(*WRITE)}
    )
    def post(self, request: Request, scope_id: UUID) -> Response:
        """What is directed at the actor or at everybody, in order, up to a message that is still being written."""
        given = validated(Poll, request)
        found = poll(
            user=request.user,
            scope_id=scope_id,
            actor=_actor(given),
            after=given.get("after"),
            limit=given.get("limit", DEFAULT_LIMIT),
        )
        try:
            items = render_messages(found.messages)
        except TooLarge as refusal:  # one message alone: it can be read by its blocks, and committed
            raise TooLarge(refusal.message, message_id=id_text(found.messages[0].id)) from None
        return Response(
            {
                "items": items,
                "position": id_text(found.position),
                "process_conversation_id": id_text(found.process_scope_id),
            }
        )


class Committing(APIView):
    @extend_schema(
        operation_id="commit", tags=["consuming"], request=Commit, responses={200: CommitAnswer, **refusals(*WRITE)}
    )
    def post(self, request: Request, scope_id: UUID) -> Response:
        """Everything up to this message is done; the next poll begins after it."""
        given = validated(Commit, request)
        done = commit(user=request.user, scope_id=scope_id, actor=_actor(given), message_id=given["message_id"])
        return Response({"committed": str(done)})


class Consumers(APIView):
    @extend_schema(operation_id="consumers", tags=["consuming"], responses={200: ConsumerList, **refusals(404)})
    def get(self, request: Request, scope_id: UUID) -> Response:
        """How far each actor is."""
        return Response({"items": consumers_of(see_scope(request.user, scope_id).scope)})


def _actor(given: dict[str, Any]) -> tuple[str, str]:
    return given["actor"]["kind"], given["actor"]["key"]


urlpatterns = [
    path("conversations/<uuid:scope_id>/poll", Polling.as_view()),
    path("conversations/<uuid:scope_id>/commit", Committing.as_view()),
    path("conversations/<uuid:scope_id>/consumers", Consumers.as_view()),
]
