"""Request bodies under Daphne: read to a bound, thrown away past it, cut off past a second one.

Daphne spools a body of any size to disk before the application hears of the request. Here the application hears of a
body that is one byte too long, and answers; a client that goes on far beyond that is not listened to.
"""

from __future__ import annotations

from typing import Any

from daphne.http_protocol import WebRequest

from .http import MAX_BODY_BYTES

MAX_PATIENCE_BYTES = 64 * 1024 * 1024


class BoundedRequest(WebRequest):
    _received = 0

    def gotLength(self, length: int | None) -> None:  # noqa: N802 - Twisted's name
        if length is not None and length > MAX_PATIENCE_BYTES:
            self.transport.abortConnection()
            return
        super().gotLength(None if length is None else min(length, MAX_BODY_BYTES + 1))

    def handleContentChunk(self, data: bytes) -> None:  # noqa: N802
        room = MAX_BODY_BYTES + 1 - self._received
        self._received += len(data)
        if self._received > MAX_PATIENCE_BYTES:
            self.transport.abortConnection()
        elif room > 0:
            super().handleContentChunk(data[:room])


def bound_uploads(factory: Any) -> None:
    """Make connections of a Daphne HTTP factory use bounded requests."""
    build = factory.buildProtocol

    def build_bounded(address: Any) -> Any:
        protocol = build(address)
        protocol.requestFactory = BoundedRequest
        return protocol

    factory.buildProtocol = build_bounded
