"""Messages: send, page, look at, edit, delete, rewind, and the summaries of their threads."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.urls import path
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from ..access import see_message, see_scope
from ..actions.editing import edit_message
from ..actions.expiring import settle_expired
from ..actions.messages import send_message
from ..actions.removing import delete_message, rewind
from ..errors import InvalidRequest, NotFound
from ..models import Message
from ..queries.history import history_page
from ..queries.messages import render_messages
from ..queries.replies import reply_summaries
from .message_shapes import (
    Body,
    MessageMeta,
    MessagePage,
    MessageShape,
    NewMessage,
    Removed,
    ReplySummaries,
    Rewind,
)
from .openapi import refusals
from .paging import MAX_LIMIT, limit_of, uuid_of, uuids_of


def validated(shape: type[serializers.Serializer], request: Request) -> dict[str, Any]:
    serializer = shape(data=request.data)
    serializer.is_valid(raise_exception=True)
    return serializer.validated_data


def cursor_parameters(*names: str) -> list[OpenApiParameter]:
    return [OpenApiParameter(name, OpenApiTypes.UUID, description="An id of this conversation.") for name in names] + [
        OpenApiParameter("limit", OpenApiTypes.INT, description=f"1 to {MAX_LIMIT}, by default 50.")
    ]


class Messages(APIView):
    @extend_schema(
        operation_id="messages_send",
        tags=["messages"],
        request=NewMessage,
        responses={
            201: MessageShape,
            200: OpenApiResponse(MessageShape, description="A retry: the first message, as it is now."),
            **refusals(400, 403, 404, 409, 413, 429, 503),
        },
    )
    def post(self, request: Request, scope_id: UUID) -> Response:
        """Send a message, complete at once or (`stream`) open for events."""
        given = validated(NewMessage, request)
        sent = send_message(
            user=request.user,
            scope_id=scope_id,
            text=given.get("text"),
            content=given.get("content"),
            mentions=given.get("mentions") or (),
            client_message_id=given.get("client_message_id"),
            key=given.get("key"),
            actor=_actor(given.get("actor")),
            target=_actor(given.get("target")),
            reply_to_id=given.get("reply_to_id"),
            message_type=given.get("message_type"),
            stream=given.get("stream", False),
            status=given.get("status"),
            error=given.get("error"),
            notify_principal_id=given.get("notify_principal_id"),
        )
        return Response(_one(sent.message), status=201 if sent.created else 200)

    @extend_schema(
        operation_id="messages_history",
        tags=["messages"],
        parameters=cursor_parameters("after", "before", "around"),
        responses={200: MessagePage, **refusals(400, 404, 413)},
    )
    def get(self, request: Request, scope_id: UUID) -> Response:
        """A page in id order: the newest, or the one after, before or around a message."""
        page = history_page(
            see_scope(request.user, scope_id),
            after=uuid_of(request, "after"),
            before=uuid_of(request, "before"),
            around=uuid_of(request, "around"),
            limit=limit_of(request),
            settle=settle_expired,
        )
        return Response(page)


class OneMessage(APIView):
    @extend_schema(operation_id="message", tags=["messages"], responses={200: MessageShape, **refusals(404, 413)})
    def get(self, request: Request, message_id: UUID) -> Response:
        """One message with its content."""
        _, message = see_message(request.user, message_id)
        settle_expired([message])
        return Response(_one(message))

    @extend_schema(
        operation_id="message_edit",
        tags=["messages"],
        request=Body,
        responses={200: MessageShape, **refusals(400, 403, 404, 409, 413, 503)},
    )
    def put(self, request: Request, message_id: UUID) -> Response:
        """Replace what one's own message says, and whom it mentions."""
        given = validated(Body, request)
        message = edit_message(
            user=request.user,
            message_id=message_id,
            text=given.get("text"),
            content=given.get("content"),
            mentions=given.get("mentions") or (),
        )
        return Response(_one(message))

    @extend_schema(
        operation_id="message_delete",
        tags=["messages"],
        responses={204: OpenApiResponse(description="Gone."), **refusals(403, 404, 409, 503)},
    )
    def delete(self, request: Request, message_id: UUID) -> Response:
        """Remove a message: its author or an admin. A thread under it stays."""
        delete_message(user=request.user, message_id=message_id)
        return Response(status=204)


class Meta(APIView):
    @extend_schema(operation_id="message_meta", tags=["messages"], responses={200: MessageMeta, **refusals(404)})
    def get(self, request: Request, message_id: UUID) -> Response:
        """One message without its content."""
        _, message = see_message(request.user, message_id)
        settle_expired([message])
        return Response(render_messages([message], content=False)[0])


class RewindConversation(APIView):
    @extend_schema(
        operation_id="conversation_rewind",
        tags=["messages"],
        request=Rewind,
        responses={200: Removed, **refusals(400, 403, 404, 409, 503)},
    )
    def post(self, request: Request, scope_id: UUID) -> Response:
        """Keep one message and remove all later ones: the creator or an admin."""
        given = validated(Rewind, request)
        return Response({"removed": rewind(user=request.user, scope_id=scope_id, to_message_id=given["to_message_id"])})


class Replies(APIView):
    @extend_schema(
        operation_id="replies_summary",
        tags=["messages"],
        parameters=[
            OpenApiParameter(
                "message_ids", str, required=True, description=f"Comma separated ids, at most {MAX_LIMIT}."
            )
        ],
        responses={
            200: ReplySummaries,
            **refusals(400, 404),
        },
    )
    def get(self, request: Request, scope_id: UUID) -> Response:
        """The threads under these messages; messages without one are absent."""
        ids = uuids_of(request, "message_ids", MAX_LIMIT)
        if not ids:
            raise InvalidRequest("message_ids must list at least one id.")
        return Response(reply_summaries(see_scope(request.user, scope_id).scope, ids))


def _actor(given: dict[str, str] | None) -> tuple[str, str] | None:
    return None if given is None else (given["kind"], given["key"])


def _one(message: Message) -> dict[str, Any]:
    rendered = render_messages([message])
    if not rendered:
        raise NotFound("This message does not exist.")
    return rendered[0]


urlpatterns = [
    path("conversations/<uuid:scope_id>/messages", Messages.as_view()),
    path("conversations/<uuid:scope_id>/rewind", RewindConversation.as_view()),
    path("messages/<uuid:message_id>", OneMessage.as_view()),
    path("messages/<uuid:message_id>/meta", Meta.as_view()),
]
