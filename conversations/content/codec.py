"""The stored form of content: compact UTF-8 JSON, and what it measures."""

from __future__ import annotations

import json
from typing import Any

import orjson


class StoredJSONEncoder(json.JSONEncoder):
    """For `JSONField(encoder=…)`: sizes measured here are then the bytes of the column."""

    def encode(self, o: Any) -> str:
        return orjson.dumps(o).decode()


class StoredJSONDecoder(json.JSONDecoder):
    """For `JSONField(decoder=…)`."""

    def decode(self, s: str, _w: Any = None) -> Any:
        return orjson.loads(s)


def encoded(value: Any) -> bytes:
    return orjson.dumps(value)


def size_bytes(value: Any) -> int:
    return len(orjson.dumps(value))


# The densest text there is: a list of digits takes 2 bytes a number, and TiDB's binary form 13.
_BINARY_PER_TEXT = 6.5
_ENTRY, _KEY_ENTRY, _HEADER, _NUMBER = 5, 6, 8, 8


def row_bytes(value: Any, limit_bytes: int) -> int:
    """What a value takes in a row at most: the larger of its text and of the binary JSON of MySQL and TiDB.

    The binary form is only computed where it could matter for `limit_bytes`.
    """
    text = size_bytes(value)
    return text if text * _BINARY_PER_TEXT <= limit_bytes else max(text, 1 + _binary(value))


def _binary(value: Any) -> int:
    if value is None or value is True or value is False:
        return 0  # lies in the entry that points to it
    if isinstance(value, str):
        return len(value.encode()) + 5
    if isinstance(value, (int, float)):
        return _NUMBER
    if isinstance(value, list):
        return _HEADER + sum(_ENTRY + _binary(item) for item in value)
    return _HEADER + sum(_KEY_ENTRY + len(key.encode()) + _ENTRY + _binary(item) for key, item in value.items())
