"""A text column that compares exactly, whatever the database's collation folds or pads."""

from __future__ import annotations

from typing import Any

from django.db import models


class ExactCharField(models.CharField):
    """Case, accents and trailing spaces count: on MySQL and its kin the column holds UTF-8 bytes."""

    def db_type(self, connection: Any) -> str | None:
        if connection.vendor == "mysql":
            return f"varbinary({(self.max_length or 0) * 4})"
        return super().db_type(connection)

    def from_db_value(self, value: Any, expression: Any, connection: Any) -> Any:
        return value.decode() if isinstance(value, bytes) else value
