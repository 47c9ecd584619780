"""Reactions to a message."""

from __future__ import annotations

from uuid import UUID

from django.urls import path
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from ..actions.reactions import react, unreact
from ..queries.messages import reactions_of
from .openapi import refusals

_EMOJI = OpenApiParameter(
    "emoji", str, OpenApiParameter.PATH, description="A name like `thumbsup`, or one emoji, percent-encoded."
)


class Reactions(serializers.Serializer):
    reactions = serializers.DictField(child=serializers.ListField(child=serializers.UUIDField()))


class Reaction(APIView):
    @extend_schema(
        operation_id="reaction_put",
        tags=["messages"],
        parameters=[_EMOJI],
        request=None,
        responses={200: Reactions, **refusals(400, 404, 409, 503)},
    )
    def put(self, request: Request, message_id: UUID, emoji: str) -> Response:
        """React; the same reaction again changes nothing. Answers with all reactions of the message."""
        react(user=request.user, message_id=message_id, emoji=emoji)
        return Response({"reactions": reactions_of([message_id]).get(message_id, {})})

    @extend_schema(
        operation_id="reaction_delete",
        tags=["messages"],
        parameters=[_EMOJI],
        responses={204: OpenApiResponse(description="Not there (any more)."), **refusals(400, 404, 409, 503)},
    )
    def delete(self, request: Request, message_id: UUID, emoji: str) -> Response:
        """Take one's reaction back."""
        unreact(user=request.user, message_id=message_id, emoji=emoji)
        return Response(status=204)


urlpatterns = [path("messages/<uuid:message_id>/reactions/<path:emoji>", Reaction.as_view())]
