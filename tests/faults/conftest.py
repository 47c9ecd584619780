from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.faults.stage import Stage, staged


@pytest.fixture(scope="session")
def stage() -> Iterator[Stage]:
    """One private database for all tests that ask for it; each makes a workspace of its own."""
    with staged() as made:
        yield made
