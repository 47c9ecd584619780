"""The browser's reducer plays the golden files, and histories that the server's has played before."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, seed, settings

from conversations.agentue.errors import AgentUEError
from conversations.agentue.events import parse_event
from conversations.agentue.reducer import reduce
from tests.conftest import missing

from .histories import histories, models

ROOT = Path(__file__).resolve().parents[3]
TIMEOUT_S = 60


def random_histories(count: int) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []

    @seed(1)
    @settings(max_examples=count, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(models(), histories(references=True))
    def play(initial: dict[str, Any], events: list[dict[str, Any]]) -> None:
        steps, model = [], initial
        for raw in events:
            try:
                model = reduce(model, parse_event(raw))
                steps.append({"event": raw, "model": model})
            except AgentUEError as refused:
                steps.append({"event": raw, "error": refused.code})
        found.append({"initial": initial, "steps": steps})

    play()
    return found


def test_the_browser_reduces_as_the_server_does(tmp_path: Path) -> None:
    node = shutil.which("node")
    if node is None:
        missing("node", "the browser's reducer is not played without it")
        return
    played = tmp_path / "histories.json"
    played.write_text(json.dumps(random_histories(300)), encoding="utf-8")
    done = subprocess.run(
        [node, "--test", "--test-reporter=tap", "tests/web/agentue.test.mjs"],
        cwd=ROOT,
        env={**os.environ, "AGENTUE_HISTORIES": str(played)},
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    assert "\n# fail 0\n" in done.stdout
    assert "\n# skipped 0\n" in done.stdout
