"""The registry: operators and harnesses put themselves in, and everybody sees who is online."""

from __future__ import annotations

from typing import Any

from django.urls import path
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from ..actions.registry import MAX_LEASE_S, MIN_LEASE_S, register
from ..errors import InvalidRequest
from ..models.registry import KINDS
from ..models.workspace import KEY_LENGTH
from ..queries.actors import online_actors, render_actor
from .fields import Text
from .messages import validated
from .name_fields import ActorKeyField, NameField
from .openapi import LIMIT, paged, query, refusals
from .paging import choice_of, limit_of, text_of

MAX_DESCRIPTION_CHARS = 2000
MAX_Q_CHARS = 100


class RegisteredShape(serializers.Serializer[Any]):
    kind = serializers.ChoiceField(choices=sorted(KINDS))
    key = serializers.CharField()
    name = serializers.CharField()
    description = serializers.CharField()
    expires_at = serializers.DateTimeField(help_text="Until when it is online, unless it renews.")


class Registering(serializers.Serializer[Any]):
    name = NameField()
    description = Text(required=False, allow_blank=True, max_length=MAX_DESCRIPTION_CHARS)
    lease_s = serializers.IntegerField(min_value=MIN_LEASE_S, max_value=MAX_LEASE_S)


class Key(serializers.Serializer[Any]):
    key = ActorKeyField()


class Actors(APIView):
    @extend_schema(
        operation_id="list_actors",
        tags=["actors"],
        parameters=[
            query("kind", enum=sorted(KINDS)),
            query("q", "Part of a name or key.", {"type": "string", "maxLength": MAX_Q_CHARS}),
            LIMIT,
            query("cursor", "`next` of the page before."),
        ],
        responses={200: paged("ActorPage", RegisteredShape), **refusals(400)},
    )
    def get(self, request: Request) -> Response:
        """Those online, by kind and key. There is one registry for the site."""
        limit = limit_of(request)
        found = online_actors(
            limit + 1,
            kind=choice_of(request, "kind", sorted(KINDS)),
            q=text_of(request, "q", MAX_Q_CHARS),
            after=_after(request),
        )
        more, found = len(found) > limit, found[:limit]
        following = f"{found[-1][0]}/{found[-1][1].key}" if more else None
        return Response({"items": [render_actor(*each) for each in found], "next": following})


class _Register(APIView):
    kind: str

    def put(self, request: Request, key: str) -> Response:
        given = validated(Registering, request)
        checked = Key(data={"key": key})
        checked.is_valid(raise_exception=True)
        done = register(user=request.user, kind=self.kind, key=checked.validated_data["key"], **given)
        return Response(render_actor(done.kind, done.entry), status=201 if done.created else 200)


def _described(operation_id: str) -> Any:
    return extend_schema(
        operation_id=operation_id,
        tags=["actors"],
        request=Registering,
        responses={
            201: RegisteredShape,
            200: OpenApiResponse(RegisteredShape, description="Renewed."),
            **refusals(400, 403, 409),
        },
    )


class RegisterOperator(_Register):
    kind = "operator"

    @_described("register_operator")
    def put(self, request: Request, key: str) -> Response:
        """Be online as this operator, or renew that."""
        return super().put(request, key)


class RegisterHarness(_Register):
    kind = "harness"

    @_described("register_harness")
    def put(self, request: Request, key: str) -> Response:
        """Be online as this harness, or renew that."""
        return super().put(request, key)


def _after(request: Request) -> tuple[str, str] | None:
    raw = text_of(request, "cursor", KEY_LENGTH + 16)
    if not raw:
        return None
    kind, _, key = raw.partition("/")
    if kind not in KINDS or not key:
        raise InvalidRequest("cursor must be the `next` of a page.", cursor=raw[:80])
    return kind, key


urlpatterns = [
    path("actors", Actors.as_view()),
    path("operators/<path:key>", RegisterOperator.as_view()),
    path("harnesses/<path:key>", RegisterHarness.as_view()),
]
