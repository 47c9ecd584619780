"""Messages that grow: events into an open one, and its blocks."""

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
from ..actions.composing import TERMINAL
from ..actions.expiring import settle_expired
from ..actions.streams import emit_event
from ..agentue.limits import MAX_BLOCK_ID_CHARS
from ..content.pages import MAX_PAGE_BLOCKS, BlockCursor, block_page
from ..content.reading import MAX_BLOCK_IDS, read_blocks
from ..errors import InvalidRequest, Unavailable
from .fields import Json, Text
from .messages import validated
from .openapi import query, refusals
from .paging import DEFAULT_LIMIT, limit_of

STREAM_ANSWER = """Server-sent events. The data of each is an AgentUE event whose `stream_id` is the message it belongs
to. A message begins with `start` (its `model`, or `fetch: true` where that is too large, and the `message` without
content), goes on with events of the next `seq` each, and ends with `end` and its `status`; a new `start` replaces what
came before. A message that is complete is `start`, `end`. The event `resync` says that more changed than is told one by
one: read the history again. Comments keep an idle connection open."""


class NewEvent(serializers.Serializer):
    event = Json(help_text="An AgentUE event: `op`, `seq` and what the op needs.")
    status = Text(
        required=False,
        allow_null=True,
        max_length=16,
        help_text=f"With `end`: one of {', '.join(TERMINAL)}; by default completed, or failed where there is an error.",
    )


class EmittedShape(serializers.Serializer):
    id = serializers.UUIDField()
    revision = serializers.IntegerField(help_text="The seq of the last applied event.")


class BlockPageShape(serializers.Serializer):
    items = serializers.ListField(child=serializers.DictField(), help_text="Complete blocks, in order.")
    revision = serializers.IntegerField(help_text="Of the message that these blocks were read from.")
    next = serializers.CharField(allow_null=True, help_text="The cursor of the next page; null at the end.")


class Events(APIView):
    @extend_schema(
        operation_id="message_emit",
        tags=["messages"],
        request=NewEvent,
        responses={
            202: OpenApiResponse(EmittedShape, description="Applied, now or by an earlier call with the same event."),
            **refusals(400, 403, 404, 409, 413, 503),
        },
    )
    def post(self, request: Request, message_id: UUID) -> Response:
        """Apply one event to one's own open message.

        A 409 for a gap, a taken seq or an ended stream has `fields.expected_seq`: the seq of the next event, or null
        after the end.
        """
        given = validated(NewEvent, request)
        done = emit_event(user=request.user, message_id=message_id, event=given["event"], status=given.get("status"))
        return Response({"id": str(done.id), "revision": done.revision}, status=202)


class Blocks(APIView):
    @extend_schema(
        operation_id="message_blocks",
        tags=["messages"],
        parameters=[
            query("ids", f"Comma separated ids of blocks, at most {MAX_BLOCK_IDS}; then there is one page."),
            query("cursor", "`next` of the page before."),
            query(
                "limit",
                f"1 to {MAX_PAGE_BLOCKS}; default {DEFAULT_LIMIT}.",
                {"type": "integer", "minimum": 1, "maximum": MAX_PAGE_BLOCKS, "default": DEFAULT_LIMIT},
            ),
        ],
        responses={
            200: BlockPageShape,
            **refusals(400, 404, 409, 413),
        },
    )
    def get(self, request: Request, message_id: UUID) -> Response:
        """Some blocks of a message, or a page of all; a 409 says that it changed since the page before."""
        _, message = see_message(request.user, message_id)
        settle_expired([message])
        if (ids := _block_ids(request)) is not None:
            if "cursor" in request.query_params or "limit" in request.query_params:
                raise InvalidRequest("Ask for blocks by ids or for a page of them, not both.")
            blocks = read_blocks(message, ids)
            return Response({"items": blocks, "revision": message.revision, "next": None})
        cursor = request.query_params.get("cursor")
        page = block_page(
            message, BlockCursor.parse(cursor) if cursor else None, limit_of(request, DEFAULT_LIMIT, MAX_PAGE_BLOCKS)
        )
        return Response(
            {"items": page.blocks, "revision": page.revision, "next": None if page.next is None else str(page.next)}
        )


class Stream(APIView):
    """Documents the stream; `conversations.delivery.sse` serves it beside Django."""

    @extend_schema(
        operation_id="conversation_stream",
        tags=["messages"],
        parameters=[
            OpenApiParameter(
                "Last-Event-ID",
                str,
                OpenApiParameter.HEADER,
                description="The id of the last event received: messages that changed since are told again.",
            )
        ],
        responses={
            (200, "text/event-stream"): OpenApiResponse(OpenApiTypes.STR, description=STREAM_ANSWER),
            **refusals(400, 404, 429, 503),
        },
    )
    def get(self, request: Request, scope_id: UUID) -> Response:
        """Follow every message of a conversation and of its process conversations as server-sent events."""
        see_scope(request.user, scope_id)
        raise Unavailable("This process answers requests and serves no streams.")


def _block_ids(request: Request) -> list[str] | None:
    """An id with a comma in it is asked for by `ids` given more than once: each value is then one id."""
    given: list[Any] = request.query_params.getlist("ids")
    if not given:
        return None
    ids = given if len(given) > 1 else [part for part in given[0].split(",", MAX_BLOCK_IDS + 1) if part]
    if not ids:
        raise InvalidRequest("ids must list at least one block.")
    if any(len(each) > MAX_BLOCK_ID_CHARS for each in ids):
        raise InvalidRequest(f"The id of a block has at most {MAX_BLOCK_ID_CHARS} characters.")
    return ids


urlpatterns = [
    path("messages/<uuid:message_id>/events", Events.as_view()),
    path("messages/<uuid:message_id>/blocks", Blocks.as_view()),
    path("conversations/<uuid:scope_id>/stream", Stream.as_view()),
]
