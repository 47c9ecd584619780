"""Where content lies is known in one package: nothing else of the product names its rows or its plans."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
PACKAGES = ("conversations", "unread", "realtime", "loopd")
INSIDE = ("conversations/content/", "conversations/migrations/", "conversations/models/")
PHYSICAL = re.compile(
    r"\bMessagePart\b|\bmessage_parts\b|content\.(layout|packing|snapshot)\b|content import (layout|packing|snapshot)\b"
)


def test_parts_are_named_inside_the_store_alone() -> None:
    named = []
    inside = 0
    for path in (path for package in PACKAGES for path in (ROOT / package).rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        if PHYSICAL.search(path.read_text(encoding="utf-8")):
            if name.startswith(INSIDE):
                inside += 1
            else:
                named.append(name)
    assert named == []
    assert inside > 3, "the search itself finds what it looks for"
