"""Activities of a conversation: what happened besides messages."""

from __future__ import annotations

from uuid import UUID

from django.urls import path
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from ..access import see_scope
from ..actions.activities import MAX_REF_CHARS, post_activity
from ..activity_types import CLIENT_TYPES
from ..queries.activities import render_activities
from ..queries.timeline import activities
from .fields import Json, Text
from .messages import cursor_parameters, validated
from .openapi import refusals
from .paging import limit_of, uuid_of


class NewActivity(serializers.Serializer):
    type = Text(max_length=64, help_text=f"One of {', '.join(sorted(CLIENT_TYPES))}.")
    ref = Text(required=False, allow_null=True, allow_blank=True, max_length=MAX_REF_CHARS)
    payload = Json(required=False, allow_null=True)


class ActivityShape(serializers.Serializer):
    id = serializers.UUIDField()
    conversation_id = serializers.UUIDField()
    seq = serializers.IntegerField()
    type = serializers.CharField()
    ref_type = serializers.CharField(allow_blank=True)
    ref = serializers.CharField(allow_blank=True)
    actor_id = serializers.UUIDField()
    payload = serializers.DictField()
    created_at = serializers.DateTimeField()


class ActivityPage(serializers.Serializer):
    items = ActivityShape(many=True)
    has_more_before = serializers.BooleanField()
    has_more_after = serializers.BooleanField()


class Activities(APIView):
    @extend_schema(
        operation_id="activity_post",
        tags=["activities"],
        request=NewActivity,
        responses={201: ActivityShape, **refusals(400, 403, 404, 409, 503)},
    )
    def post(self, request: Request, scope_id: UUID) -> Response:
        """Record that something was shared, attached, pinned, called or became the topic."""
        given = validated(NewActivity, request)
        stored = post_activity(
            user=request.user,
            scope_id=scope_id,
            kind=given["type"],
            ref=given.get("ref") or "",
            payload=given.get("payload"),
        )
        return Response(render_activities([stored])[0], status=201)

    @extend_schema(
        operation_id="activities",
        tags=["activities"],
        parameters=cursor_parameters("after", "before"),
        responses={200: ActivityPage, **refusals(400, 404)},
    )
    def get(self, request: Request, scope_id: UUID) -> Response:
        """A page in order: the newest, or the one after or before an activity."""
        page = activities(
            see_scope(request.user, scope_id),
            after=uuid_of(request, "after"),
            before=uuid_of(request, "before"),
            limit=limit_of(request),
        )
        return Response(
            {
                "items": render_activities(page.items),
                "has_more_before": page.has_more_before,
                "has_more_after": page.has_more_after,
            }
        )


urlpatterns = [path("conversations/<uuid:scope_id>/activities", Activities.as_view())]
