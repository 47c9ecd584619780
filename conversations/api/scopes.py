"""Conversations: opened, listed, shown, renamed, archived and restored."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.urls import path
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from ..access import see_scope, workspace_member
from ..actions.archiving import archive, restore
from ..actions.scopes import MAX_FIRST_MEMBERS, create_channel, create_conversation, open_dm, rename
from ..errors import InvalidRequest
from ..models import Member, Scope
from ..models.scope import ScopeType, Visibility
from ..queries.conversations import listed_scopes, render_conversation, render_conversations
from .name_fields import IdField, IdListField, NameField
from .openapi import PAGING, READ, WRITE, ConversationShape, paged, query, refusals
from .paging import choice_of, flag_of, page, uuid_of

NEW_TYPES = (ScopeType.CHANNEL, ScopeType.DM, ScopeType.CONVERSATION)


class NewConversation(serializers.Serializer[Any]):
    workspace_id = IdField()
    type = serializers.ChoiceField(choices=[(kind.value, kind.label) for kind in NEW_TYPES])
    name = NameField(required=False, allow_blank=True, help_text="Needed for a channel; a DM has none.")
    visibility = serializers.ChoiceField(
        choices=Visibility.choices, required=False, help_text="Of a channel; public by default."
    )
    member_ids = IdListField(required=False, max_length=MAX_FIRST_MEMBERS)


class ConversationChange(serializers.Serializer[Any]):
    name = NameField(allow_blank=True)
    visibility = serializers.ChoiceField(choices=Visibility.choices)


class Conversations(APIView):
    @extend_schema(
        operation_id="list_conversations",
        parameters=[
            query("workspace_id", "Needed unless `parent_id` is given.", OpenApiTypes.UUID),
            query("type", enum=ScopeType.values),
            query("joined", "Only those joined, or only those not joined.", OpenApiTypes.BOOL),
            query("parent_id", "The threads and process conversations of this one.", OpenApiTypes.UUID),
            query("archived", "true: only archived ones; else only others.", OpenApiTypes.BOOL),
            *PAGING,
        ],
        responses={200: paged("ConversationPage", ConversationShape), **refusals(*READ)},
    )
    def get(self, request: Request) -> Response:
        """Those that the caller may see: main conversations, or what hangs on `parent_id`.

        With `type=thread&joined=true` and without a parent: the caller's own threads.
        """
        member, parent = _place(request)
        kind = choice_of(request, "type", ScopeType.values)
        scopes = listed_scopes(
            member,
            parent=parent,
            scope_type=ScopeType(kind) if kind else None,
            joined=flag_of(request, "joined"),
            archived=flag_of(request, "archived") or False,
        )
        return Response(page(scopes, request, lambda rows: render_conversations(member, rows)))

    @extend_schema(
        operation_id="create_conversation",
        request=NewConversation,
        responses={
            201: ConversationShape,
            200: OpenApiResponse(ConversationShape, description="The DM that these members have already."),
            **refusals(*WRITE),
        },
    )
    def post(self, request: Request) -> Response:
        """A channel, a user conversation, or the one DM of these members (restored if it was archived)."""
        given = NewConversation(data=request.data)
        given.is_valid(raise_exception=True)
        scope, new = _open(request.user, **given.validated_data)
        member = workspace_member(request.user, scope.workspace_id)
        return Response(render_conversation(member, scope), status=201 if new else 200)


class OneConversation(APIView):
    @extend_schema(operation_id="get_conversation", responses={200: ConversationShape, **refusals(404, 421)})
    def get(self, request: Request, scope_id: UUID) -> Response:
        access = see_scope(request.user, scope_id)
        return Response(render_conversation(access.member, access.scope))

    @extend_schema(
        operation_id="update_conversation",
        request=ConversationChange(partial=True),
        responses={200: ConversationShape, **refusals(*WRITE)},
    )
    def patch(self, request: Request, scope_id: UUID) -> Response:
        """Another name, another visibility of a channel. Its creator or an admin."""
        given = ConversationChange(data=request.data, partial=True)
        given.is_valid(raise_exception=True)
        scope = rename(user=request.user, scope_id=scope_id, **given.validated_data)
        return Response(_rendered(request, scope))


class Archive(APIView):
    @extend_schema(
        operation_id="archive_conversation",
        request=None,
        responses={200: ConversationShape, **refusals(403, 404, 421, 503)},
    )
    def post(self, request: Request, scope_id: UUID) -> Response:
        """It refuses messages, activities, reactions and joins from now on. Its creator or an admin."""
        return Response(_rendered(request, archive(user=request.user, scope_id=scope_id)))


class Restore(APIView):
    @extend_schema(
        operation_id="restore_conversation",
        request=None,
        responses={200: ConversationShape, **refusals(403, 404, 421, 503)},
    )
    def post(self, request: Request, scope_id: UUID) -> Response:
        """What was unread in it is unread again. Its creator or an admin."""
        return Response(_rendered(request, restore(user=request.user, scope_id=scope_id)))


def _open(
    user: Any,
    *,
    workspace_id: UUID,
    type: str,  # noqa: A002 - the contract's name
    name: str = "",
    visibility: str = Visibility.PUBLIC,
    member_ids: list[UUID] | None = None,
) -> tuple[Scope, bool]:
    where: dict[str, Any] = {"user": user, "workspace_id": workspace_id, "member_ids": member_ids or []}
    if type == ScopeType.DM:
        if name:
            raise InvalidRequest("A direct conversation has no name; it is called after its members.", name=name)
        return open_dm(**where)
    if type == ScopeType.CONVERSATION:
        return create_conversation(name=name, **where), True
    if not name:
        raise InvalidRequest("A channel needs a name.", name=name)
    return create_channel(name=name, visibility=Visibility(visibility), **where), True


def _place(request: Request) -> tuple[Member, Scope | None]:
    workspace_id, parent_id = uuid_of(request, "workspace_id"), uuid_of(request, "parent_id")
    if parent_id is not None:
        access = see_scope(request.user, parent_id)
        if workspace_id not in (None, access.scope.workspace_id):
            raise InvalidRequest("parent_id is not in this workspace.", workspace_id=str(workspace_id))
        return access.member, access.scope
    if workspace_id is None:
        raise InvalidRequest("Say which workspace_id or parent_id.")
    return workspace_member(request.user, workspace_id), None


def _rendered(request: Request, scope: Scope) -> dict[str, Any]:
    return render_conversation(workspace_member(request.user, scope.workspace_id), scope)


urlpatterns = [
    path("conversations", Conversations.as_view()),
    path("conversations/<uuid:scope_id>", OneConversation.as_view()),
    path("conversations/<uuid:scope_id>/archive", Archive.as_view()),
    path("conversations/<uuid:scope_id>/restore", Restore.as_view()),
]
