"""Reading and its opposite: cursors, the manual marker, notification levels."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.urls import path
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from ..actions.marking_unread import clear_unread, mark_unread
from ..actions.notifications import set_notifications
from ..actions.reading import READ_MANY_MAX_SCOPES, mark_many_read, mark_read
from ..actions.unchanged import UNCHANGED
from ..models import Member
from ..models.membership import NotificationLevel
from ..unread_port import unread_reader
from .fields import Flag
from .messages import validated
from .name_fields import IdField, IdListField
from .openapi import refusals


class UpTo(serializers.Serializer):
    message_id = IdField(required=False, allow_null=True)


class ReadMany(serializers.Serializer):
    conversation_ids = IdListField(max_length=READ_MANY_MAX_SCOPES)


class Unread(serializers.Serializer):
    state = serializers.CharField()
    messages = serializers.IntegerField()
    activities = serializers.IntegerField()
    manual = serializers.BooleanField()
    mentions = serializers.IntegerField()


class ReadAnswer(Unread):
    previous_message_id = serializers.UUIDField(
        allow_null=True, help_text="The last message that had been read before; null where the cursor did not move."
    )
    unread_from_message_id = serializers.UUIDField(
        allow_null=True, help_text="Marking unread from this message undoes the read."
    )


class ReadManyAnswer(serializers.Serializer):
    counts = serializers.DictField(child=Unread())


class Notifications(serializers.Serializer):
    level = serializers.ChoiceField(choices=NotificationLevel.choices, required=False)
    watch = Flag(required=False, allow_null=True)


class NotificationsAnswer(serializers.Serializer):
    level = serializers.ChoiceField(choices=NotificationLevel.choices)
    watch = serializers.BooleanField(allow_null=True)


class ReadConversation(APIView):
    @extend_schema(
        operation_id="conversation_read",
        tags=["reading"],
        request=UpTo,
        responses={200: ReadAnswer, **refusals(400, 404, 409, 503)},
    )
    def put(self, request: Request, scope_id: UUID) -> Response:
        """Read up to a message or, without one, everything; the cursor never moves back."""
        read = mark_read(user=request.user, scope_id=scope_id, message_id=validated(UpTo, request).get("message_id"))
        return Response(
            {
                **_unread(read.member, scope_id),
                "previous_message_id": read.previous_message_id,
                "unread_from_message_id": read.unread_from_message_id,
            }
        )


class ReadConversations(APIView):
    @extend_schema(
        operation_id="conversations_read",
        tags=["reading"],
        request=ReadMany,
        responses={200: ReadManyAnswer, **refusals(400, 404, 409, 503)},
    )
    def post(self, request: Request, workspace_id: UUID) -> Response:
        """Read exactly these conversations to their ends: all of them or, with a refusal, none."""
        ids = validated(ReadMany, request)["conversation_ids"]
        member = mark_many_read(user=request.user, workspace_id=workspace_id, scope_ids=ids)
        return Response({"counts": {str(scope_id): _unread(member, scope_id) for scope_id in ids}})


class UnreadMarker(APIView):
    @extend_schema(
        operation_id="conversation_mark_unread",
        tags=["reading"],
        request=UpTo,
        responses={200: Unread, **refusals(400, 404, 409, 503)},
    )
    def put(self, request: Request, scope_id: UUID) -> Response:
        """Mark unread by hand: as a whole, or from a message on."""
        member = mark_unread(
            user=request.user, scope_id=scope_id, message_id=validated(UpTo, request).get("message_id")
        )
        return Response(_unread(member, scope_id))

    @extend_schema(
        operation_id="conversation_clear_unread",
        tags=["reading"],
        responses={204: OpenApiResponse(description="No marker is set."), **refusals(404, 409, 503)},
    )
    def delete(self, request: Request, scope_id: UUID) -> Response:
        """Take the marker away."""
        clear_unread(user=request.user, scope_id=scope_id)
        return Response(status=204)


class NotificationLevels(APIView):
    @extend_schema(
        operation_id="conversation_notifications",
        tags=["reading"],
        request=Notifications,
        responses={200: NotificationsAnswer, **refusals(400, 404, 409, 503)},
    )
    def put(self, request: Request, scope_id: UUID) -> Response:
        """Choose what to hear of: all, mentions or none; tasks can be watched or unwatched."""
        given = validated(Notifications, request)
        policy = set_notifications(
            user=request.user, scope_id=scope_id, level=given.get("level"), watch=given.get("watch", UNCHANGED)
        )
        return Response({"level": policy.level, "watch": policy.watch})


def _unread(member: Member, scope_id: UUID) -> dict[str, Any]:
    return unread_reader().scope_unread(member.workspace_id, member.id, scope_id)


urlpatterns = [
    path("conversations/<uuid:scope_id>/read", ReadConversation.as_view()),
    path("conversations/<uuid:scope_id>/unread", UnreadMarker.as_view()),
    path("conversations/<uuid:scope_id>/notifications", NotificationLevels.as_view()),
    path("workspaces/<uuid:workspace_id>/read", ReadConversations.as_view()),
]
