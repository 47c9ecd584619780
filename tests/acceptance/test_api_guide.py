"""The API guide does what it says: its examples run in order against a real server, and print what stands below."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import missing

from .servers import PROJECT, Server

pytestmark = pytest.mark.server

GUIDE = PROJECT / "docs" / "api-guide.md"
MARK = "@@@ example"


@dataclass(frozen=True, slots=True)
class Example:
    language: str
    code: str
    shown: str
    shown_as: str


def examples() -> Iterator[Example]:
    blocks = re.findall(r"^```(\w+)\n(.*?)^```", GUIDE.read_text(), re.MULTILINE | re.DOTALL)
    for (language, code), (next_language, shown) in zip(blocks, [*blocks[1:], ("", "")], strict=True):
        if language in ("sh", "python"):
            answered = next_language in ("json", "text")
            yield Example(language, code, shown if answered else "", next_language if answered else "")


@pytest.fixture(scope="module")
def guide(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The environment that the guide asks for."""
    if shutil.which("curl") is None:
        missing("curl", "it is not on the path")
    home: Path = tmp_path_factory.mktemp("guide") / "home"
    home.mkdir()
    running = Server(home)
    assert running.manage("migrate", "-v0").returncode == 0
    tokens = {"TOKEN": running.token("ann"), "BEN_TOKEN": running.token("ben")}
    running.start()
    yield {**os.environ, **tokens, "LOOPD": f"http://127.0.0.1:{running.port}", "GUIDE": str(home)}
    running.close()


def test_the_examples_run_and_print_what_the_guide_shows(guide: dict[str, str]) -> None:
    scripts = Path(guide["GUIDE"])
    shell = [each for each in examples() if each.language == "sh"]
    script = "".join(f"echo '{MARK}'\n{each.code}\necho\n" for each in shell)
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script], env=guide, capture_output=True, text=True, timeout=100
    )
    assert done.returncode == 0, done.stderr
    printed = done.stdout.split(f"{MARK}\n")[1:]
    for example, output in zip(shell, printed, strict=True):
        if example.shown_as == "json":
            difference = unlike(json.loads(example.shown), json.loads(output))
            assert not difference, f"{example.code}\nprinted {output}\n{difference}"

    for name, example in zip(("guide", "live"), (e for e in examples() if e.language == "python"), strict=True):
        (scripts / f"{name}.py").write_text(example.code)
        done = subprocess.run(
            [sys.executable, scripts / f"{name}.py"], env=guide, capture_output=True, text=True, timeout=100
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout.splitlines()[-1] == example.shown.strip()


def unlike(shown: Any, answered: Any, path: str = "") -> str:
    """Where the answer is not what the guide shows: `…` stands for anything, and answers may have more members."""
    if shown == "…" or shown is answered:
        return ""
    if isinstance(shown, dict) and isinstance(answered, dict):
        if list(shown) == ["…"]:
            shown = dict.fromkeys(answered, shown["…"])
        for name, value in shown.items():
            if name not in answered:
                return f"{path}.{name} is missing"
            if difference := unlike(value, answered[name], f"{path}.{name}"):
                return difference
        return ""
    if isinstance(shown, list) and isinstance(answered, list):
        if len(shown) != len(answered):
            return f"{path} has {len(answered)} items, shown are {len(shown)}"
        found = [unlike(a, b, f"{path}[{at}]") for at, (a, b) in enumerate(zip(shown, answered, strict=True))]
        return next(filter(None, found), "")
    if path.endswith(("version", "epoch", "user.id")):
        return "" if type(shown) is type(answered) else f"{path} is {answered!r}"
    return "" if shown == answered else f"{path} is {answered!r}, shown is {shown!r}"


def test_the_agent_in_the_guide_is_the_example() -> None:
    code = (PROJECT / "examples" / "stream_answer.py").read_text().rstrip()
    assert f"```py\n{code}\n```" in GUIDE.read_text()
