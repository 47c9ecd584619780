"""Refusals that a caller can act on; `loopd.problem` turns each into its HTTP answer.

Raised by the access gate, actions and queries; never by models. `message` is for a person, `fields` for a program.
"""

from __future__ import annotations

from typing import Any


class Refusal(Exception):
    type = "internal"
    status = 500

    def __init__(self, message: str, **fields: Any) -> None:
        super().__init__(message)
        self.message = message
        self.fields = fields


class InvalidRequest(Refusal):
    type, status = "invalid_request", 400


class Unauthenticated(Refusal):
    type, status = "unauthenticated", 401


class Forbidden(Refusal):
    type, status = "forbidden", 403


class NotFound(Refusal):
    type, status = "not_found", 404


class Conflict(Refusal):
    type, status = "conflict", 409


class TooLarge(Refusal):
    type, status = "too_large", 413


class Misdirected(Refusal):
    """This process does not own the workspace."""

    type, status = "misdirected", 421


class RateLimited(Refusal):
    type, status = "rate_limited", 429


class Unavailable(Refusal):
    """Try again later; nothing was written."""

    type, status = "unavailable", 503
