"""What the OpenAPI document says about answers: the shared shapes, the refusals, and who may call."""

from __future__ import annotations

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension, OpenApiSerializerExtension
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, inline_serializer
from rest_framework import serializers

from ..models.membership import NotificationLevel
from ..models.scope import ScopeStatus, ScopeType, Visibility
from ..models.workspace import KEY_LENGTH, MemberStatus, Role
from .paging import DEFAULT_LIMIT, MAX_LIMIT

ERROR_TYPES = {
    400: "invalid_request",
    401: "unauthenticated",
    403: "forbidden",
    404: "not_found",
    409: "conflict",
    413: "too_large",
    421: "misdirected",
    429: "rate_limited",
    503: "unavailable",
}


class ProblemBody(serializers.Serializer[Any]):
    type = serializers.ChoiceField(choices=[*ERROR_TYPES.values(), "internal"])
    message = serializers.CharField(help_text="For a person.")
    fields = serializers.DictField(help_text="For a program: what was wrong where.")  # type: ignore[assignment]


class Problem(serializers.Serializer[Any]):
    error = ProblemBody()


def refusals(*statuses: int) -> dict[int, OpenApiResponse]:
    """The error answers of a call. Being nobody (401) is always one, and what may be missing may also be elsewhere."""
    every = {401, *statuses} | ({421} if 404 in statuses else set())
    return {status: OpenApiResponse(Problem, description=ERROR_TYPES[status]) for status in sorted(every)}


def too_large_bodies(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Postprocessing hook: whatever takes a body refuses one that is too large."""
    schema = {"$ref": "#/components/schemas/Problem"}
    answer = {"description": ERROR_TYPES[413], "content": {"application/json": {"schema": schema}}}
    for item in result["paths"].values():
        for operation in item.values():
            if "requestBody" in operation:
                operation["responses"].setdefault("413", answer)
    return result


READ = (400, 404, 421)
"""Refusals of a read of one workspace."""
WRITE = (400, 403, 404, 409, 413, 421, 503)
"""Refusals of a write that changes facts."""


def paged(name: str, item: Any) -> Any:
    """`{items, next}` of some shape."""
    return inline_serializer(
        name,
        {
            "items": item(many=True),
            "next": serializers.CharField(allow_null=True, help_text="The cursor of the next page; null at the end."),
        },
    )


def query(name: str, description: str = "", kind: Any = OpenApiTypes.STR, **more: Any) -> OpenApiParameter:
    return OpenApiParameter(name, kind, OpenApiParameter.QUERY, description=description, **more)


LIMIT = query(
    "limit",
    f"1 to {MAX_LIMIT}; default {DEFAULT_LIMIT}.",
    {"type": "integer", "minimum": 1, "maximum": MAX_LIMIT, "default": DEFAULT_LIMIT},
)
CURSOR = query("cursor", "`next` of the page before.", OpenApiTypes.UUID)
PAGING = [LIMIT, CURSOR]


class ActorShape(serializers.Serializer[Any]):
    kind = serializers.CharField(max_length=KEY_LENGTH)
    key = serializers.CharField(max_length=KEY_LENGTH)


class MemberShape(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    username = serializers.CharField()
    actor = ActorShape()
    display_name = serializers.CharField()
    role = serializers.ChoiceField(choices=Role.choices)
    status = serializers.ChoiceField(choices=MemberStatus.choices)


MEMBER_PAGE = paged("MemberPage", MemberShape)


class WorkspaceShape(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    slug = serializers.CharField()
    name = serializers.CharField()
    has_unread = serializers.BooleanField()


class LastMessageShape(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    author = MemberShape()
    preview = serializers.CharField()
    created_at = serializers.DateTimeField()


class ConversationShape(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    workspace_id = serializers.UUIDField()
    type = serializers.ChoiceField(choices=ScopeType.choices)
    name = serializers.CharField()
    visibility = serializers.ChoiceField(choices=Visibility.choices)
    parent_id = serializers.UUIDField(allow_null=True)
    root_message_id = serializers.UUIDField(allow_null=True)
    actor = ActorShape(allow_null=True)
    status = serializers.ChoiceField(choices=ScopeStatus.choices)
    archived_at = serializers.DateTimeField(allow_null=True)
    archived = serializers.BooleanField(help_text="By itself or with its parent.")
    created_by = serializers.UUIDField(allow_null=True)
    created_at = serializers.DateTimeField()
    latest_seq = serializers.IntegerField()
    latest_activity_seq = serializers.IntegerField()
    visible_message_count = serializers.IntegerField()
    visible_last_message_at = serializers.DateTimeField(allow_null=True)
    joined = serializers.BooleanField()
    level = serializers.ChoiceField(choices=NotificationLevel.choices, allow_null=True)
    watch = serializers.BooleanField(allow_null=True)
    last_read_seq = serializers.IntegerField(allow_null=True)
    last_activity_read_seq = serializers.IntegerField(allow_null=True)
    effective_from_seq = serializers.IntegerField(allow_null=True)
    manual = serializers.BooleanField()
    members = MemberShape(many=True, allow_null=True, help_text="Of a DM; null elsewhere.")
    last_message = LastMessageShape(allow_null=True)


class MapShape(serializers.Serializer[Any]):
    """An object whose keys are data, ids for instance; subclasses name the shape of the values."""

    item: type[serializers.Serializer[Any]]


class MapExtension(OpenApiSerializerExtension):  # type: ignore[no-untyped-call]
    target_class = "conversations.api.openapi.MapShape"
    match_subclasses = True

    def map_serializer(self, auto_schema: Any, direction: Any) -> dict[str, Any]:
        values = auto_schema.resolve_serializer(self.target.item, direction)
        return {"type": "object", "additionalProperties": values.ref}


class BearerScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = "conversations.api.authentication.BearerAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer"}


class SessionScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = "conversations.api.authentication.SessionAuthentication"
    name = "session"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "apiKey", "in": "cookie", "name": "sessionid"}
