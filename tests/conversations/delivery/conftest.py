"""One private Redis for the bridge tests of a session."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from .redis_server import RedisServer


@pytest.fixture(scope="session")
def redis_server() -> Iterator[RedisServer]:
    server = RedisServer()
    try:
        server.start()
        yield server
    finally:
        server.remove()
