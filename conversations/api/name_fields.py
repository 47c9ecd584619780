"""Names in request bodies: of people, conversations, workspaces and actors, and ids that are strings."""

from __future__ import annotations

import unicodedata
from typing import Any
from uuid import UUID

from django.core.validators import RegexValidator
from rest_framework import serializers

from .fields import Key, Text

MAX_NAME_CHARS = 120
_FORBIDDEN = {"Cc", "Cs", "Zl", "Zp"}
_UNSEEN = {"Cf", "Mn", "Me", "Zs"}
"""Categories that draw nothing of their own: joiners and direction marks, marks without a letter, spaces."""


class NameField(Text):
    """One line for people: trimmed, with a visible character, without control characters."""

    default_error_messages = {
        "control": "Must be one line without control characters.",
        "unseen": "Needs a visible character.",
    }

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"max_length": MAX_NAME_CHARS, "trim_whitespace": True, **options})

    def to_internal_value(self, data: Any) -> str:
        value = super().to_internal_value(data)
        if has_control(value):
            self.fail("control")
        if value and not any(unicodedata.category(character) not in _UNSEEN for character in value):
            self.fail("unseen")
        return value


class ActorKeyField(Key):
    """A kind or key of an actor: compared exactly, so nothing in it may be invisible at its ends."""

    default_error_messages = {"control": "Must not contain control characters, nor begin or end with a space."}

    def to_internal_value(self, data: Any) -> str:
        value = super().to_internal_value(data)
        if value != value.strip() or has_control(value):
            self.fail("control")
        return value


class SlugField(Text):
    """A workspace's name in addresses."""

    def __init__(self, **options: Any) -> None:
        super().__init__(max_length=64, **options)
        self.validators.append(
            RegexValidator(r"^[a-z0-9][a-z0-9_-]*\Z", "Use a-z, 0-9, - and _, beginning with a letter or digit.")
        )


class IdField(serializers.UUIDField):
    """A UUID as a string; integers are no ids here."""

    def to_internal_value(self, data: Any) -> UUID:
        if not isinstance(data, str):
            self.fail("invalid", value=data)
        return super().to_internal_value(data)


class IdListField(serializers.ListField):
    """At most `max_length` ids. A longer list is refused unread: naming what is wrong with each entry takes long."""

    def __init__(self, *, max_length: int, **options: Any) -> None:
        super().__init__(child=IdField(), max_length=max_length, **options)
        self._at_most = max_length

    def to_internal_value(self, data: Any) -> list[UUID]:
        if isinstance(data, list) and len(data) > self._at_most:
            raise serializers.ValidationError(f"Ensure this field has no more than {self._at_most} elements.")
        return super().to_internal_value(data)


def has_control(value: str) -> bool:
    return any(unicodedata.category(character) in _FORBIDDEN for character in value)
