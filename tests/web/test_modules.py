"""The pure modules of the page, by node's own test runner."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.conftest import missing

HERE = Path(__file__).parent
FILES = sorted(HERE.glob("*.test.mjs"))


@pytest.mark.parametrize("file", FILES, ids=[file.name for file in FILES])
def test_module(file: Path) -> None:
    node = shutil.which("node")
    if node is None:
        missing("node", "the modules of the page are tested by `node --test`")
    assert node is not None
    done = subprocess.run([node, "--test", str(file)], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout[-4000:]
