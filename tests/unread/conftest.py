from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.unread.serving import serving
from unread.app import unread_app
from unread.core.runtime import UnreadRuntime


@pytest.fixture
def runtime() -> Iterator[UnreadRuntime]:
    """The process's own runtime, with its workers, for one test."""
    with serving(unread_app()) as running:
        yield running
