"""The documents are true: every setting with its default, every metric, every command and link that they name."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import get_commands

PROJECT = Path(__file__).resolve().parents[1]
OPERATIONS = PROJECT / "docs" / "operations.md"
DOCUMENTS = [PROJECT / "README.md", PROJECT / "CHANGELOG.md", *sorted((PROJECT / "docs").rglob("*.md"))]


def rows(title: str) -> list[list[str]]:
    """The cells of the table under a heading, without its head."""
    section = OPERATIONS.read_text().split(f"## {title}\n", 1)[1].split("\n## ", 1)[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def test_every_setting_is_listed_with_its_default() -> None:
    source = (PROJECT / "loopd" / "settings.py").read_text() + (PROJECT / "loopd" / "env.py").read_text()
    reads = r'(?:text|flag|positive_int|duration_s|listed|choice|hosts|origins|environ\.get)\(\s*"([A-Z][A-Z_]+)"'
    listed = {cells[0].strip("`"): cells[1].strip("`") for cells in rows("Settings")}
    assert set(listed) == set(re.findall(reads, source))
    written = re.findall(r'(?:duration_s|positive_int|choice)\(\s*"([A-Z_]+)", ("?[\w_ *-]+"?)', source)
    for name, default in written:
        value = str(eval(default))
        assert listed[name] == value, name
    assert {name: listed[name] for name in ("DEBUG", "LOOPD_SECURE_COOKIES")} == {
        "DEBUG": "false",
        "LOOPD_SECURE_COOKIES": "false",
    }


def test_every_metric_is_explained() -> None:
    """As a serving process exports them."""
    script = (
        "import loopd.asgi; from prometheus_client import REGISTRY;"
        "print(*(f'{m.name} {m.type}' for m in REGISTRY.collect()), sep='\\n')"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=PROJECT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    exported = [line.split() for line in done.stdout.splitlines() if line.startswith("loopd_")]
    assert len(exported) > 20
    explained = set(re.findall(r"`(loopd_\w+)`", " ".join(cell for cells in rows("Metrics") for cell in cells[:1])))
    assert {name + ("_total" if kind == "counter" else "") for name, kind in exported} == explained


def test_every_command_that_is_named_exists() -> None:
    text = "\n".join(document.read_text() for document in DOCUMENTS)
    named = set(re.findall(r"manage\.py ([a-z_]+)", text))
    assert named
    assert named <= set(get_commands())
    scripts = set(re.findall(r"(?<![\w/])(bin/[a-z-]+(?:\.py)?|\.ci/run)\b", text))
    assert {script for script in scripts if not (PROJECT / script).exists()} == set()


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(PROJECT)))
def test_every_link_leads_somewhere(document: Path) -> None:
    targets = re.findall(r"\]\((?!https?://|#)([^)#]+)", document.read_text())
    assert [target for target in targets if not (document.parent / target).exists()] == []


def test_decisions_are_numbered_once() -> None:
    numbers = [path.name[:4] for path in (PROJECT / "docs" / "decisions").glob("*.md")]
    assert len(numbers) == len(set(numbers))
