from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from .databases import mariadb_database
from .servers import Server


@pytest.fixture(scope="session", autouse=True)
def database() -> None:
    """None of the suite's own: every server here has a home, and so a database, of its own."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One server for a module, on SQLite."""
    home: Path = tmp_path_factory.mktemp("server") / "home"
    home.mkdir()
    running = Server(home)
    running.start()
    yield running
    running.close()


@pytest.fixture(scope="module")
def mariadb_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The same on MariaDB."""
    home: Path = tmp_path_factory.mktemp("mariadb") / "home"
    home.mkdir()
    with mariadb_database() as url:
        running = Server(home, DATABASE_URL=url)
        running.start()
        yield running
        running.close()
