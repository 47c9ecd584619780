"""An import that is killed leaves whole batches, and the next run completes them."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import time
from pathlib import Path

import pytest

from tests.conversations.importing.exports import big_team

from .servers import PROJECT, Server

pytestmark = pytest.mark.server

MESSAGES = 8_000
PATIENCE_S = 90.0


def test_kill_9_in_the_middle_loses_and_doubles_nothing(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    here = Server(home)
    assert here.manage("migrate", "-v0").returncode == 0
    export = big_team(40, 4, MESSAGES, replies_every=7).write(tmp_path / "export.zip")
    command = ["import_slack", str(export), "--workspace", "team"]
    running = subprocess.Popen(
        [PROJECT / ".venv" / "bin" / "python", PROJECT / "manage.py", *command],
        env=here.environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    deadline = time.monotonic() + PATIENCE_S
    while rows(home, "SELECT count(*) FROM messages")[0][0] < MESSAGES // 4:
        assert running.poll() is None
        assert time.monotonic() < deadline
    os.killpg(running.pid, signal.SIGKILL)
    running.wait()
    so_far = rows(home, "SELECT count(*) FROM messages")[0][0]
    assert 0 < so_far < MESSAGES
    assert holes(home) == []

    again = here.manage(*command)
    assert f"Here already: {so_far} messages" in again.stdout, again.stdout + again.stderr
    assert rows(home, "SELECT count(*), count(DISTINCT client_message_id) FROM messages") == [(MESSAGES, MESSAGES)]
    assert holes(home) == []


def rows(home: Path, statement: str) -> list[tuple[int, ...]]:
    with sqlite3.connect(f"file:{home / 'loopd.sqlite3'}?mode=ro", uri=True, timeout=20) as database:
        return database.execute(statement).fetchall()


def holes(home: Path) -> list[tuple[int, ...]]:
    """Scopes whose seqs are not 1, 2, 3 … up to their latest, or whose counters say otherwise."""
    return rows(
        home,
        "SELECT s.latest_seq, count(m.id), min(m.seq), max(m.seq), s.visible_message_count FROM scopes s "
        "JOIN messages m ON m.scope_id = s.id GROUP BY s.id HAVING s.latest_seq <> count(m.id) OR min(m.seq) <> 1 "
        "OR max(m.seq) <> s.latest_seq OR s.visible_message_count <> count(m.id)",
    )
