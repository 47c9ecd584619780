"""Brings `.venv` beside `manage.py` up to requirements files; runs on a bare Python 3.11+, standard library only.

    python bin/environment.py requirements.txt [requirements-dev.txt ...]

A stamp in the environment holds the hash of what was installed, so an unchanged start installs nothing. One process at
a time works on it (a lock on the project directory). An installation that was killed half way leaves its mark, and the
next start makes the environment anew; one that pip itself gave up leaves the environment as it was.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
VENV = PROJECT / ".venv"
PYTHON = VENV / "bin" / "python"
OLDEST = (3, 11)
STAMPS = VENV / ".installed"
UNFINISHED = VENV / ".unfinished"


def main(names: list[str]) -> None:
    if sys.version_info < OLDEST:
        sys.exit(f"Python 3.11 or newer is needed; this is {sys.version.split()[0]} ({sys.executable}).")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that a running pip is ended with this process
    if all(_installed(name) for name in names):
        return
    with _locked():
        if not _usable():
            _make()
        for name in names:
            if not _installed(name):
                _install(name)


def _installed(name: str) -> bool:
    """True where the stamp is the hash of this very file, and nothing was left unfinished."""
    try:
        return not UNFINISHED.exists() and PYTHON.exists() and (STAMPS / name).read_text() == _wanted(name)
    except OSError:
        return False


def _wanted(name: str) -> str:
    """Hash of the requirements file, of those it includes, and of the interpreter that the environment stands on."""
    digest = hashlib.sha256()
    config = VENV / "pyvenv.cfg"
    digest.update(config.read_bytes() if config.exists() else b"")
    for path in _included(PROJECT / name):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _included(path: Path) -> list[Path]:
    found = [path]
    for line in path.read_text().splitlines():
        if line.startswith("-r "):
            found += _included(path.parent / line[3:].strip())
    return found


class _locked:  # noqa: N801 - reads as a statement
    """Waits for the only lock there is: on the project directory itself, so that no file is left behind."""

    def __enter__(self) -> None:
        self.handle = os.open(PROJECT, os.O_RDONLY)
        try:
            fcntl.flock(self.handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("Waiting for another start that is installing.", file=sys.stderr, flush=True)
            fcntl.flock(self.handle, fcntl.LOCK_EX)

    def __exit__(self, *_: object) -> None:
        os.close(self.handle)


def _usable() -> bool:
    """An environment that was finished, runs, is new enough and has pip."""
    if UNFINISHED.exists() or not PYTHON.exists():
        return False
    probe = f"import sys, pip; sys.exit(sys.version_info < {OLDEST})"
    return subprocess.run([PYTHON, "-c", probe], capture_output=True).returncode == 0


def _make() -> None:
    print("Making the virtual environment .venv ...", file=sys.stderr, flush=True)
    try:
        import ensurepip  # noqa: F401 - Debian ships it apart
        import venv  # noqa: F401
    except ImportError:
        sys.exit(
            f"The Python at {sys.executable} has no venv module. On Debian and Ubuntu: apt-get install python3-venv; "
            "or name another Python: PYTHON=/path/to/python3.11"
        )
    if VENV.is_symlink():
        VENV.unlink()
    shutil.rmtree(VENV, ignore_errors=True)
    VENV.mkdir()
    UNFINISHED.touch()
    status, said = _run([sys.executable, "-m", "venv", VENV])
    if status:
        sys.exit(f"The virtual environment could not be made in {VENV}:\n{said}".rstrip())


def _install(name: str) -> None:
    print(f"Installing {name} (the first time takes a minute or two) ...", file=sys.stderr, flush=True)
    UNFINISHED.touch()
    command = [PYTHON, "-m", "pip", "install", "-qq", "--no-input", "--disable-pip-version-check"]
    status, said = _run([*command, "-r", PROJECT / name])
    UNFINISHED.unlink(missing_ok=True)
    if status:
        sys.exit(f"{said}Installing {name} failed; what pip said stands above. Nothing was started.")
    STAMPS.mkdir(exist_ok=True)
    (STAMPS / name).write_text(_wanted(name))


def _run(command: list[str | Path]) -> tuple[int, str]:
    """Status and output of a command that does not outlive this process, nor does anything that it starts."""
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    ) as running:
        try:
            said, _ = running.communicate()
        except BaseException:
            os.killpg(running.pid, signal.SIGKILL)
            raise
        return running.returncode, said


if __name__ == "__main__":
    main(sys.argv[1:] or ["requirements.txt"])
