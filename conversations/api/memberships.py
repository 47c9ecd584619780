"""Who is in a conversation."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.urls import path
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from ..access import see_scope, workspace_member
from ..actions.joining import add_to_scope, remove_from_scope
from ..queries.conversations import render_conversation
from ..queries.members import places_in, render_members
from .name_fields import IdField
from .openapi import MEMBER_PAGE, PAGING, READ, WRITE, ConversationShape, refusals
from .paging import page


class Joining(serializers.Serializer[Any]):
    member_id = IdField(required=False, allow_null=True, help_text="Oneself by default.")


class Places(APIView):
    @extend_schema(
        operation_id="list_conversation_members",
        parameters=PAGING,
        responses={200: MEMBER_PAGE, **refusals(*READ)},
    )
    def get(self, request: Request, scope_id: UUID) -> Response:
        """Its members, in the order in which they first joined. A process conversation has none."""
        access = see_scope(request.user, scope_id)
        return Response(page(places_in(access.scope), request, lambda rows: render_members(r.member for r in rows)))

    @extend_schema(
        operation_id="join_conversation",
        request=Joining,
        responses={
            201: ConversationShape,
            200: OpenApiResponse(ConversationShape, description="They were in it already."),
            **refusals(*WRITE),
        },
    )
    def post(self, request: Request, scope_id: UUID) -> Response:
        """Join a public channel, or add a member to a conversation that one is in. A DM's members never change."""
        given = Joining(data=request.data)
        given.is_valid(raise_exception=True)
        scope, changed = add_to_scope(
            user=request.user, scope_id=scope_id, member_id=given.validated_data.get("member_id")
        )
        member = workspace_member(request.user, scope.workspace_id)
        return Response(render_conversation(member, scope), status=201 if changed else 200)


class Place(APIView):
    @extend_schema(operation_id="leave_conversation", responses={204: None, **refusals(400, 403, 404, 409, 421, 503)})
    def delete(self, request: Request, scope_id: UUID, member_id: UUID) -> Response:
        """Leave; or remove somebody: its creator or an admin. Their places in its threads end with it."""
        remove_from_scope(user=request.user, scope_id=scope_id, member_id=member_id)
        return Response(status=204)


urlpatterns = [
    path("conversations/<uuid:scope_id>/members", Places.as_view()),
    path("conversations/<uuid:scope_id>/members/<uuid:member_id>", Place.as_view()),
]
