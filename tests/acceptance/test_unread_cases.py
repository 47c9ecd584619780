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


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_case(server: Server, case: dict[str, Any]) -> None:
    if not server.is_ready():  # the case before this one left it down
        server.kill()
        server.start()
    Player(server, case).play()
