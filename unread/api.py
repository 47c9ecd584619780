"""A member's unread, and everything for the first paint; counts come from memory."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.urls import path
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from conversations.access import workspace_member
from conversations.api.openapi import ConversationShape, MemberShape, WorkspaceShape, query, refusals
from conversations.api.paging import uuids_of

from .app import runtime
from .first_paint import first_paint
from .shapes import member_json

MAX_CONVERSATIONS = 200
STATES = ("ready", "snapshot_serving", "hydrating", "unavailable")


class ShownShape(serializers.Serializer[Any]):
    state = serializers.ChoiceField(choices=["ready", "snapshot_serving", "hydrating", "stale"])
    messages = serializers.IntegerField(min_value=0)
    activities = serializers.IntegerField(min_value=0)
    manual = serializers.BooleanField(help_text="Marked unread by hand.")
    mentions = serializers.IntegerField(min_value=0)


class UnreadShape(serializers.Serializer[Any]):
    state = serializers.ChoiceField(
        choices=STATES, help_text="`ready` is exact, `snapshot_serving` is a hint; the others show no counts."
    )
    has_unread = serializers.BooleanField()
    epoch = serializers.IntegerField(help_text="Of the owner; with another one versions start anew.")
    version = serializers.IntegerField(help_text="What the next delta over the socket follows.")
    counts = serializers.DictField(child=ShownShape(), help_text="By conversation id; only what shows something.")


class FirstPaintShape(serializers.Serializer[Any]):
    workspace = WorkspaceShape()
    me = MemberShape()
    conversations = ConversationShape(many=True, help_text="At most 500 joined ones, unread and newest first.")
    next = serializers.UUIDField(
        allow_null=True, help_text="Where there are more: the cursor for the list of joined conversations."
    )
    unread = UnreadShape()


class Unread(APIView):
    @extend_schema(
        operation_id="workspace_unread",
        tags=["unread"],
        parameters=[query("conversation_ids", f"At most {MAX_CONVERSATIONS} ids, comma separated.", OpenApiTypes.STR)],
        responses={200: UnreadShape, **refusals(400, 404, 421)},
    )
    def get(self, request: Request, workspace_id: UUID) -> Response:
        """The caller's unread, of all conversations or of some; what is not in `counts` shows nothing."""
        wanted = uuids_of(request, "conversation_ids", MAX_CONVERSATIONS)
        member = workspace_member(request.user, workspace_id)
        workspace, me = workspace_id.int, member.id.int
        runtime().request_hydrate(workspace, me)
        scopes = None if wanted is None else [scope_id.int for scope_id in wanted]
        return Response(member_json(runtime().member_unread(workspace, me, scopes)))


class Bootstrap(APIView):
    @extend_schema(
        operation_id="workspace_bootstrap",
        tags=["unread"],
        responses={200: FirstPaintShape, **refusals(404, 421)},
    )
    def get(self, request: Request, workspace_id: UUID) -> Response:
        """Everything that a page needs for its first paint."""
        return Response(first_paint(workspace_member(request.user, workspace_id)))


urlpatterns = [
    path("workspaces/<uuid:workspace_id>/unread", Unread.as_view()),
    path("workspaces/<uuid:workspace_id>/bootstrap", Bootstrap.as_view()),
]
