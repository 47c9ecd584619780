"""Workspaces, their members, and the directory."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.urls import path
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from ..access import workspace_member, workspaces_of
from ..actions.workspace_members import add_member, deactivate_member, update_member
from ..actions.workspaces import create_workspace, update_workspace
from ..models import Member, Workspace
from ..models.workspace import MemberStatus, Role
from ..queries.directory import find_by_name
from ..queries.members import members_of_workspace, render_members
from ..unread_port import unread_reader
from .fields import Text
from .name_fields import ActorKeyField, NameField, SlugField
from .openapi import (
    MEMBER_PAGE,
    PAGING,
    READ,
    WRITE,
    ConversationShape,
    MemberShape,
    WorkspaceShape,
    paged,
    query,
    refusals,
)
from .paging import page, text_of

MAX_Q_CHARS = 100
Q = query("q", "Part of a name.", {"type": "string", "maxLength": MAX_Q_CHARS})


class NewWorkspace(serializers.Serializer[Any]):
    slug = SlugField()
    name = NameField()


class NewMember(serializers.Serializer[Any]):
    username = Text(max_length=150)
    display_name = NameField(required=False, allow_blank=True)
    actor_kind = ActorKeyField(required=False, allow_blank=True)
    actor_key = ActorKeyField(required=False, allow_blank=True)
    role = serializers.ChoiceField(choices=Role.choices, required=False)


class MemberChange(serializers.Serializer[Any]):
    role = serializers.ChoiceField(choices=Role.choices)
    display_name = NameField()
    status = serializers.ChoiceField(choices=MemberStatus.choices)


class DirectoryShape(serializers.Serializer[Any]):
    members = MemberShape(many=True)
    conversations = ConversationShape(many=True)


class Workspaces(APIView):
    @extend_schema(
        operation_id="list_workspaces",
        parameters=PAGING,
        responses={200: paged("WorkspacePage", WorkspaceShape), **refusals(400)},
    )
    def get(self, request: Request) -> Response:
        """Those in which the caller is an active member, each with its red dot."""
        return Response(page(workspaces_of(request.user), request, lambda rows: _with_dots(rows, request.user)))

    @extend_schema(
        operation_id="create_workspace",
        request=NewWorkspace,
        responses={201: WorkspaceShape, **refusals(400, 403, 409, 413)},
    )
    def post(self, request: Request) -> Response:
        """The caller becomes its admin."""
        given = NewWorkspace(data=request.data)
        given.is_valid(raise_exception=True)
        workspace = create_workspace(user=request.user, **given.validated_data)
        return Response(_with_dots([workspace], request.user)[0], status=201)


class OneWorkspace(APIView):
    @extend_schema(operation_id="get_workspace", responses={200: WorkspaceShape, **refusals(404)})
    def get(self, request: Request, workspace_id: UUID) -> Response:
        """Any process answers; `has_unread` is false where it may not say."""
        member = workspace_member(request.user, workspace_id, needs_owner=False)
        return Response(_with_dots([member.workspace], request.user)[0])

    @extend_schema(
        operation_id="update_workspace",
        request=NewWorkspace(partial=True),
        responses={200: WorkspaceShape, **refusals(400, 403, 404, 409, 413)},
    )
    def patch(self, request: Request, workspace_id: UUID) -> Response:
        """Admins only."""
        given = NewWorkspace(data=request.data, partial=True)
        given.is_valid(raise_exception=True)
        workspace = update_workspace(user=request.user, workspace_id=workspace_id, **given.validated_data)
        return Response(_with_dots([workspace], request.user)[0])


class Members(APIView):
    @extend_schema(
        operation_id="list_members",
        parameters=[*PAGING, Q],
        responses={200: MEMBER_PAGE, **refusals(*READ)},
    )
    def get(self, request: Request, workspace_id: UUID) -> Response:
        """All members, deactivated ones too."""
        workspace_member(request.user, workspace_id)
        members = members_of_workspace(workspace_id, text_of(request, "q", MAX_Q_CHARS))
        return Response(page(members, request, render_members))

    @extend_schema(operation_id="add_member", request=NewMember, responses={201: MemberShape, **refusals(*WRITE)})
    def post(self, request: Request, workspace_id: UUID) -> Response:
        """An existing user becomes a member. Admins only."""
        given = NewMember(data=request.data)
        given.is_valid(raise_exception=True)
        member = add_member(user=request.user, workspace_id=workspace_id, **given.validated_data)
        return Response(render_members([member])[0], status=201)


class OneMember(APIView):
    @extend_schema(
        operation_id="update_member",
        request=MemberChange(partial=True),
        responses={200: MemberShape, **refusals(*WRITE)},
    )
    def patch(self, request: Request, workspace_id: UUID, member_id: UUID) -> Response:
        """Role, display name or status. Admins only; the last admin stays one."""
        given = MemberChange(data=request.data, partial=True)
        given.is_valid(raise_exception=True)
        member = update_member(
            user=request.user, workspace_id=workspace_id, member_id=member_id, **given.validated_data
        )
        return Response(render_members([member])[0])

    @extend_schema(operation_id="deactivate_member", responses={204: None, **refusals(403, 404, 409, 421, 503)})
    def delete(self, request: Request, workspace_id: UUID, member_id: UUID) -> Response:
        """The member is deactivated and out of every conversation; what it wrote stays. Admins only."""
        deactivate_member(user=request.user, workspace_id=workspace_id, member_id=member_id)
        return Response(status=204)


class Directory(APIView):
    @extend_schema(operation_id="directory", parameters=[Q], responses={200: DirectoryShape, **refusals(*READ)})
    def get(self, request: Request, workspace_id: UUID) -> Response:
        """Members, and conversations that the caller may see, by name: the best few of each."""
        member = workspace_member(request.user, workspace_id)
        return Response(find_by_name(member, text_of(request, "q", MAX_Q_CHARS)))


def _with_dots(workspaces: list[Workspace], user: Any) -> list[dict[str, Any]]:
    """One statement, and has_unread from memory."""
    own = dict(Member.objects.filter(user=user, workspace__in=workspaces).values_list("workspace_id", "id"))
    return [
        {
            "id": str(workspace.id),
            "slug": workspace.slug,
            "name": workspace.name,
            "has_unread": workspace.id in own and unread_reader().has_unread(workspace.id, own[workspace.id]),
        }
        for workspace in workspaces
    ]


urlpatterns = [
    path("workspaces", Workspaces.as_view()),
    path("workspaces/<uuid:workspace_id>", OneWorkspace.as_view()),
    path("workspaces/<uuid:workspace_id>/members", Members.as_view()),
    path("workspaces/<uuid:workspace_id>/members/<uuid:member_id>", OneMember.as_view()),
    path("workspaces/<uuid:workspace_id>/directory", Directory.as_view()),
]
