"""The golden files that the server and the browser both play."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

DATA = Path(__file__).resolve().parents[2] / "data"
FILES = ("agentue.json", "agentue_more.json")
EMPTY: dict[str, Any] = {"version": "1.1", "biz": "chat", "meta": {}, "blocks": []}


def cases(kind: str) -> list[tuple[str, dict[str, Any]]]:
    """`(file: name, case)` for every case of one kind: transitions, invalid_models or rejected_events."""
    return [
        (f"{file}: {case['name']}", case)
        for file in FILES
        for case in json.loads((DATA / file).read_text(encoding="utf-8"))[kind]
    ]
