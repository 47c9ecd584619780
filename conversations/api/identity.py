"""Who the caller is."""

from __future__ import annotations

from typing import Any

from django.urls import path
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from ..access import workspace_member
from ..models.workspace import Role
from ..queries.members import render_members
from .openapi import READ, ActorShape, MemberShape, query, refusals
from .paging import uuid_of


class UserShape(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    username = serializers.CharField()
    service = serializers.BooleanField(help_text="A service account: it has tokens and cannot log in.")


class MeShape(serializers.Serializer[Any]):
    user = UserShape()
    member = MemberShape(allow_null=True, help_text="In the workspace asked for; null without one.")
    actor = ActorShape(allow_null=True)
    role = serializers.ChoiceField(choices=Role.choices, allow_null=True)


class Me(APIView):
    @extend_schema(
        operation_id="me",
        parameters=[query("workspace_id", "Also the member there.", OpenApiTypes.UUID)],
        responses={200: MeShape, **refusals(*READ)},
    )
    def get(self, request: Request) -> Response:
        """The caller's user, and its member, actor and role in a workspace."""
        workspace_id = uuid_of(request, "workspace_id")
        user: Any = request.user
        member = None
        if workspace_id is not None:
            [member] = render_members([workspace_member(user, workspace_id, needs_owner=False)])
        shown = {"id": user.pk, "username": user.get_username(), "service": not user.has_usable_password()}
        return Response(
            {"user": shown, "member": member, "actor": member and member["actor"], "role": member and member["role"]}
        )


urlpatterns = [path("me", Me.as_view())]
