"""The protocol stands on the standard library alone: a fresh interpreter shows what it pulls in."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
PROBE = """
import sys
before = set(sys.modules)
from conversations.agentue import chat, errors, events, fingerprint, limits, model, reducer, text, values
loaded = {name.split(".")[0] for name in set(sys.modules) - before} - set(sys.stdlib_module_names)
print(",".join(sorted(loaded)))
"""


def test_agentue_loads_nothing_but_itself() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROBE], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == "conversations"
