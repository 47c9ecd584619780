"""Fields of request bodies that take exactly what JSON says: no number passes for a text, no blank is trimmed."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from conversations.models.workspace import KEY_LENGTH


class Text(serializers.CharField):
    """A JSON string, as it is."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"trim_whitespace": False, **options})

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        return super().to_internal_value(data)


class Key(Text):
    """An identity that is compared exactly: case and trailing spaces count."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"max_length": KEY_LENGTH, **options})


@extend_schema_field({"type": "boolean"})
class Flag(serializers.Field):
    """JSON true or false."""

    default_error_messages = {"invalid": "Must be true or false."}

    def to_internal_value(self, data: Any) -> bool:
        if not isinstance(data, bool):
            self.fail("invalid")
        return data

    def to_representation(self, value: bool) -> bool:
        return value


@extend_schema_field({"type": "object", "additionalProperties": True})
class Json(serializers.Field):
    """Any JSON value; the action that takes it says what it must be."""

    def to_internal_value(self, data: Any) -> Any:
        return data

    def to_representation(self, value: Any) -> Any:
        return value


class ActorField(serializers.Serializer):
    """Who speaks, or is spoken to."""

    kind = Key()
    key = Key()
