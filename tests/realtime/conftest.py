from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.server import Server, running_server


@pytest.fixture(scope="package")
def server() -> Iterator[Server]:
    """One server process for all tests of this package."""
    with running_server(LOOPD_HEARTBEAT="400ms", LOOPD_MESSAGES_PER_SECOND="100000") as running:
        yield running
