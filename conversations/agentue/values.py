"""Which Python values are JSON that every database and browser can keep."""

from __future__ import annotations

import math
import re
from typing import Any

from .errors import AgentUEError, BadNumber, BadString, NotJson, TooDeep, TooLong, WrongType
from .limits import INTEGER_MAX, INTEGER_MIN, MAX_DEPTH, MAX_NAME_CHARS

JsonObject = dict[str, Any]

_SURROGATE = re.compile("[\ud800-\udfff]")
_KEY_SHOWN_CHARS = 40


def json_type(value: Any) -> str:
    """The JSON name of a value's type, for messages."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, (int, float)):
        return "a number"
    if isinstance(value, str):
        return "a string"
    return "a list" if isinstance(value, list) else "an object" if isinstance(value, dict) else type(value).__name__


def require_object(value: Any, path: str) -> JsonObject:
    if not isinstance(value, dict):
        raise WrongType(path, f"must be an object, not {json_type(value)}")
    return value


def require_name(value: Any, path: str, max_chars: int = MAX_NAME_CHARS) -> str:
    """A filled string of at most `max_chars` characters."""
    if not isinstance(value, str):
        raise WrongType(path, f"must be a string, not {json_type(value)}")
    if not value:
        raise WrongType(path, "must not be empty")
    check_string(value, path)
    if len(value) > max_chars:
        raise TooLong(path, f"has {len(value)} characters; at most {max_chars} are allowed")
    return value


def check_string(value: str, path: str) -> None:
    if not value.isascii() and _SURROGATE.search(value):
        raise BadString(path, "contains half of a surrogate pair, which is not a character")


def check_value(value: Any, path: str, depth: int) -> None:
    """Refuses what is not plain JSON at or below `value`; `depth` counts the containers around it."""
    try:
        _walk(value, depth)
    except _Fault as fault:
        raise fault.error(path + "".join(reversed(fault.trail)), fault.message) from None


class _Fault(Exception):
    """A refusal on its way up; every level adds its step, so a good value pays for no path."""

    def __init__(self, error: type[AgentUEError], message: str) -> None:
        super().__init__(message)
        self.error, self.message, self.trail = error, message, list[str]()


def _walk(value: Any, level: int) -> None:
    """Recursion ends at `MAX_DEPTH`, whatever comes in."""
    if value is None or value is True or value is False:
        return
    if isinstance(value, str):
        if not value.isascii() and _SURROGATE.search(value):
            raise _Fault(BadString, "contains half of a surrogate pair, which is not a character")
    elif isinstance(value, int):
        if not INTEGER_MIN <= value <= INTEGER_MAX:
            raise _Fault(BadNumber, "is an integer beyond 64 bits; send it as a string")
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise _Fault(BadNumber, "is not a finite number")
    elif isinstance(value, (dict, list)):
        if level >= MAX_DEPTH:
            raise _Fault(TooDeep, f"is nested deeper than {MAX_DEPTH} levels; send deep structures as a string")
        _walk_children(value, level + 1)
    else:
        raise _Fault(NotJson, f"is a {type(value).__name__}, which JSON does not have")


def _walk_children(value: JsonObject | list[Any], level: int) -> None:
    if isinstance(value, list):
        for at, child in enumerate(value):
            try:
                _walk(child, level)
            except _Fault as fault:
                fault.trail.append(f"[{at}]")
                raise
        return
    for key, child in value.items():
        if not isinstance(key, str):
            raise _Fault(NotJson, f"has a key that is {json_type(key)}, not a string")
        try:
            _walk(key, level)
            _walk(child, level)
        except _Fault as fault:
            fault.trail.append(f".{key[:_KEY_SHOWN_CHARS]}")
            raise
