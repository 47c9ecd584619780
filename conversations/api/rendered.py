"""The text of messages as safe HTML, for pages that show Markdown. What is stored stays as it was written."""

from __future__ import annotations

from uuid import UUID

from django.db.models import Q
from django.urls import path
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from ..access import see_scope
from ..errors import InvalidRequest
from ..models import Message
from ..queries.rendered import rendered_blocks
from ..visibility import human_visible
from .openapi import query, refusals
from .paging import uuids_of

MAX_MESSAGES = 50
MAX_BLOCKS = 50


class RenderedBlock(serializers.Serializer):
    id = serializers.CharField()
    html = serializers.CharField(allow_null=True, help_text="Null where the text is too long: show it as it is.")


class RenderedMessage(serializers.Serializer):
    id = serializers.UUIDField()
    revision = serializers.IntegerField(help_text="Of the content that this was made from.")
    blocks = RenderedBlock(many=True)


class RenderedMessages(serializers.Serializer):
    items = RenderedMessage(many=True)


class Rendered(APIView):
    @extend_schema(
        operation_id="messages_rendered",
        tags=["messages"],
        parameters=[
            query("message_ids", f"Comma separated ids, at most {MAX_MESSAGES}.", required=True),
            query("block_id", f"Only these blocks; repeated, at most {MAX_BLOCKS} times.", many=True),
        ],
        responses={200: RenderedMessages, **refusals(400, 404, 413)},
    )
    def get(self, request: Request, scope_id: UUID) -> Response:
        """The text blocks of some messages as HTML: Markdown, sanitised. Messages that are gone are left out."""
        access = see_scope(request.user, scope_id)
        ids = uuids_of(request, "message_ids", MAX_MESSAGES)
        if ids is None:
            raise InvalidRequest("message_ids is missing.")
        only = request.query_params.getlist("block_id")
        if len(only) > MAX_BLOCKS:
            raise InvalidRequest(f"block_id may be given at most {MAX_BLOCKS} times.")
        shown = human_visible() if access.member.is_person else Q()
        messages = list(Message.objects.defer("content").filter(shown, scope=access.scope, id__in=ids).order_by("id"))
        return Response({"items": rendered_blocks(messages, only)})


urlpatterns = [path("conversations/<uuid:scope_id>/rendered", Rendered.as_view())]
