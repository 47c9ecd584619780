"""The inbox: conversations that want the caller's attention."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.urls import path
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from ..access import workspace_member
from ..actions.inbox import MANUAL, TASK
from ..queries.inbox import inbox_rows, render_inbox
from .openapi import PAGING, READ, ConversationShape, paged, refusals
from .paging import limit_of, uuid_of
from .reading import Unread


class InboxItem(serializers.Serializer[Any]):
    id = serializers.UUIDField(help_text="Of the latest attention; the cursor of a page.")
    kind = serializers.ChoiceField(choices=[MANUAL, TASK])
    reason = serializers.CharField(help_text="message, mention or an activity's type; empty for a marker.")
    conversation = ConversationShape()
    unread = Unread()
    updated_at = serializers.DateTimeField()


class Inbox(APIView):
    @extend_schema(
        operation_id="inbox",
        tags=["tasks"],
        parameters=PAGING,
        responses={200: paged("InboxPage", InboxItem), **refusals(*READ)},
    )
    def get(self, request: Request, workspace_id: UUID) -> Response:
        """Tasks that were written to or changed for the caller, and what he marked unread; the latest first."""
        member = workspace_member(request.user, workspace_id)
        limit = limit_of(request)
        rows = inbox_rows(member, uuid_of(request, "cursor"), limit + 1)
        more, rows = len(rows) > limit, rows[:limit]
        return Response({"items": render_inbox(member, rows), "next": str(rows[-1].sort_id) if more else None})


urlpatterns = [path("workspaces/<uuid:workspace_id>/inbox", Inbox.as_view())]
