"""The virtual environment behind every command: made once, mended when an installation was cut short, never twice."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
PATIENCE_S = 60.0
BASE = getattr(sys, "_base_executable", sys.executable)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project that needs nothing, in a folder with a space in its name."""
    root = tmp_path / "a project"
    shutil.copytree(PROJECT / "bin", root / "bin", ignore=shutil.ignore_patterns("__pycache__"))
    (root / "requirements.txt").write_text("# nothing\n")
    return root


def start(project: Path, **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [BASE, project / "bin" / "environment.py", "requirements.txt"],
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def install(project: Path, **environment: str) -> tuple[int, str]:
    running = start(project, **environment)
    said, _ = running.communicate(timeout=PATIENCE_S)
    return running.returncode, said


def works(project: Path) -> bool:
    python = project / ".venv" / "bin" / "python"
    return subprocess.run([python, "-m", "pip", "--version"], capture_output=True).returncode == 0


def test_it_is_made_once_and_again_only_for_other_requirements(project: Path) -> None:
    status, said = install(project)
    assert (status, works(project)) == (0, True), said
    assert "Making the virtual environment" in said
    assert install(project) == (0, "")
    (project / "requirements.txt").write_text("# nothing, said otherwise\n")
    status, said = install(project)
    assert status == 0
    assert "Installing" in said
    assert "Making" not in said
    assert install(project) == (0, "")


def test_a_killed_first_installation_is_begun_anew(project: Path) -> None:
    running = start(project)
    unfinished = project / ".venv" / ".unfinished"
    deadline = time.monotonic() + PATIENCE_S
    while not unfinished.exists():
        assert running.poll() is None, running.communicate()
        assert time.monotonic() < deadline
    os.killpg(running.pid, signal.SIGKILL)
    running.communicate()
    assert unfinished.exists()
    status, said = install(project)
    assert (status, works(project), unfinished.exists()) == (0, True, False), said
    assert install(project) == (0, "")


def test_sigterm_ends_the_installation_that_it_started(project: Path) -> None:
    running = start(project)
    deadline = time.monotonic() + PATIENCE_S
    while not (project / ".venv" / ".unfinished").exists():
        assert time.monotonic() < deadline
    running.terminate()
    running.communicate(timeout=PATIENCE_S)
    assert running.returncode == 143
    while str(project) in subprocess.run(["ps", "-eo", "args="], capture_output=True, text=True, check=True).stdout:
        assert time.monotonic() < deadline


def test_of_two_starts_at_once_one_installs(project: Path) -> None:
    both = [start(project), start(project)]
    said = [running.communicate(timeout=PATIENCE_S)[0] for running in both]
    assert [running.returncode for running in both] == [0, 0], said
    assert sum("Making" in each for each in said) == 1
    assert works(project)


def test_what_cannot_be_installed_is_said_and_costs_nothing(project: Path) -> None:
    install(project)
    (project / "requirements.txt").write_text("./no-such-package\n")
    status, said = install(project)
    assert status == 1
    assert "Installing requirements.txt failed" in said
    assert works(project)
    (project / "requirements.txt").write_text("# nothing\n")
    assert install(project)[0] == 0


def test_a_python_without_venv_is_named_with_the_remedy(project: Path, tmp_path: Path) -> None:
    blocked = tmp_path / "blocked"
    blocked.mkdir()
    (blocked / "ensurepip.py").write_text("raise ImportError('Debian ships it apart')\n")
    status, said = install(project, PYTHONPATH=str(blocked))
    assert status == 1
    assert "has no venv module" in said
    assert "python3-venv" in said


def test_an_old_python_is_refused_by_name(project: Path, tmp_path: Path) -> None:
    """On a path with nothing but an old Python and what the shell needs."""
    path = tmp_path / "path"
    path.mkdir()
    for tool in ("bash", "env", "dirname", "basename"):
        (path / tool).symlink_to(shutil.which(tool) or "")
    old = path / "python3"
    old.write_text('#!/usr/bin/env bash\n[ "$1" = --version ] && echo "Python 3.9.2" && exit 0\nexit 1\n')
    old.chmod(0o755)
    refused = subprocess.run([project / "bin" / "run"], env={"PATH": str(path)}, capture_output=True, text=True)
    assert refused.returncode == 1
    assert "Python 3.11 or newer is needed and was not found (found: Python 3.9.2)" in refused.stderr
