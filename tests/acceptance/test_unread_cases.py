"""What is shown as unread, told as cases and played over HTTP against a real server, with real restarts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from .player import Player
from .servers import Server

pytestmark = pytest.mark.server

CASES = json.loads((Path(__file__).parents[1] / "data" / "unread.json").read_text())


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_case(server: Server, case: dict[str, Any]) -> None:
    _play(server, case)


WITH_RESTARTS = [case for case in CASES if any("restart" in step for step in case["steps"])]


@pytest.mark.mariadb
@pytest.mark.parametrize("case", WITH_RESTARTS, ids=[case["name"] for case in WITH_RESTARTS])
def test_case_with_restarts_on_mariadb(mariadb_server: Server, case: dict[str, Any]) -> None:
    """What comes back after a restart has been through the database."""
    _play(mariadb_server, case)


def _play(server: Server, case: dict[str, Any]) -> None:
    if not server.is_ready():  # the case before this one left it down
        server.kill()
        server.start()
    Player(server, case).play()
