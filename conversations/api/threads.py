"""The thread of a message."""

from __future__ import annotations

from uuid import UUID

from django.urls import path
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from ..access import workspace_member
from ..actions.threads import open_thread
from ..queries.conversations import render_conversation
from .openapi import ConversationShape, refusals


class Thread(APIView):
    @extend_schema(
        operation_id="open_thread",
        request=None,
        responses={
            201: ConversationShape,
            200: OpenApiResponse(ConversationShape, description="The thread that the message has already."),
            **refusals(400, 403, 404, 409, 421, 503),
        },
    )
    def post(self, request: Request, message_id: UUID) -> Response:
        """The thread is a conversation of its own, read and written by whoever may read and write around it."""
        thread, new = open_thread(user=request.user, message_id=message_id)
        member = workspace_member(request.user, thread.workspace_id)
        return Response(render_conversation(member, thread), status=201 if new else 200)


urlpatterns = [path("messages/<uuid:message_id>/thread", Thread.as_view())]
