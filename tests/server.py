"""A real server process on a free port, for tests that restart, kill or load one.

    with running_server() as server:
        server.call(token, "GET", "/workspaces")

Its database is a fresh SQLite file or, where the test run has a MariaDB in `DATABASE_URL`, a fresh database beside it;
migrated by the server's own `manage.py`, gone at the end. `server.stop()` sends SIGTERM and waits, `server.kill()`
sends SIGKILL, `server.start()` starts it again.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, parse_qs, unquote, urlsplit, urlunsplit

PROJECT = Path(__file__).resolve().parent.parent
START_S, STOP_S = 60.0, 30.0


@dataclass(frozen=True)
class Answer:
    status: int
    value: Any
    headers: dict[str, str]


class Server:
    def __init__(self, home: Path, port: int, environment: dict[str, str], command: list[str]) -> None:
        self.home, self.port, self.own = home, port, environment
        self.environment = {**os.environ, "LOOPD_HOME": str(home), "PORT": str(port), **environment}
        self.command = command
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def log(self) -> str:
        return (self.home / f"server-{self.port}.log").read_text()

    def manage(self, *arguments: str) -> str:
        """Run a management command against the server's database; its standard output."""
        done = subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=PROJECT,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=START_S,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-2000:]
        return done.stdout

    def start(self, *, until_ready: bool = True) -> None:
        with (self.home / f"server-{self.port}.log").open("ab") as log:
            self.process = subprocess.Popen(self.command, cwd=PROJECT, env=self.environment, stdout=log, stderr=log)
        wanted = (200,) if until_ready else (200, 503)
        wait_until(lambda: self._alive() and self._readyz() in wanted, START_S, lambda: self.log[-3000:])

    def stop(self) -> int:
        """SIGTERM; the exit status."""
        assert self.process is not None
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(STOP_S)

    def kill(self) -> None:
        assert self.process is not None
        self.process.kill()
        self.process.wait(STOP_S)

    def end(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.kill()

    def call(
        self, token: str | None, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None
    ) -> Answer:
        """One request under `/v1` (or at an absolute path of the server: `//readyz`), on a connection of its own."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        given = {"Content-Type": "application/json", **(headers or {})}
        if token:
            given["Authorization"] = f"Bearer {token}"
        target = path[1:] if path.startswith("//") else f"/v1{path}"
        try:
            connection.request(method, target, None if body is None else json.dumps(body, default=str), given)
            response = connection.getresponse()
            raw = response.read()
            value = json.loads(raw) if raw[:1] in (b"{", b"[") else raw.decode()
            return Answer(response.status, value, {k.lower(): v for k, v in response.getheaders()})
        finally:
            connection.close()

    def socket_url(self, workspace_id: object, token: str | None = None) -> str:
        query = f"?token={token}" if token else ""
        return f"ws://127.0.0.1:{self.port}/ws/workspaces/{workspace_id}/{query}"

    def _readyz(self) -> int:
        try:
            return self.call(None, "GET", "//readyz").status
        except OSError:
            return 0

    def _alive(self) -> bool:
        assert self.process is not None
        assert self.process.poll() is None, f"the server ended with {self.process.returncode}: {self.log[-3000:]}"
        return True


@contextlib.contextmanager
def running_server(
    *,
    start: bool = True,
    command: list[str] | None = None,
    through: Callable[[str], str] = lambda url: url,
    **environment: str,
) -> Iterator[Server]:
    """A migrated, started server; killed and cleaned up at the end. `command` is Daphne's entry by default.

    `through` turns the database's URL into the one that the server gets.
    """
    home = Path(tempfile.mkdtemp(prefix="loopd-server-"))
    with _database() as database:
        database = {name: through(url) for name, url in database.items()}
        server = Server(
            home, free_port(), {**database, **environment}, command or [sys.executable, "-m", "loopd.server"]
        )
        try:
            server.manage("migrate", "-v", "0")
            if start:
                server.start()
            yield server
        finally:
            server.end()
            shutil.rmtree(home, ignore_errors=True)


@contextlib.contextmanager
def beside(server: Server, **environment: str) -> Iterator[Server]:
    """Another server process, not started, on the same database and host."""
    other = Server(server.home, free_port(), {**server.own, **environment}, server.command)
    try:
        yield other
    finally:
        other.end()


@contextlib.contextmanager
def _database() -> Iterator[dict[str, str]]:
    url = os.environ.get("DATABASE_URL", "")
    if not url.startswith("mysql"):
        yield {"DATABASE_URL": ""}
        return
    parts = urlsplit(url)
    prefix = os.environ.get("LOOPD_TEST_DATABASE_PREFIX", "loopd_test")
    name = f"{prefix}_server_{os.getpid()}_{secrets.token_hex(4)}"
    _execute(parts, f"CREATE DATABASE {name} CHARACTER SET utf8mb4")
    try:
        yield {"DATABASE_URL": urlunsplit(parts._replace(path=f"/{name}"))}
    finally:
        _execute(parts, f"DROP DATABASE {name}")


def _execute(parts: SplitResult, statement: str) -> None:
    import MySQLdb

    login: dict[str, Any] = {"user": unquote(parts.username or ""), "password": unquote(parts.password or "")}
    if path := parse_qs(parts.query).get("unix_socket"):
        login["unix_socket"] = path[0]
    else:
        login |= {"host": parts.hostname or "127.0.0.1", "port": parts.port or 3306}
    with contextlib.closing(MySQLdb.connect(**login)) as connection:
        connection.cursor().execute(statement)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def wait_until(true: Callable[[], Any], within_s: float = 10.0, why: Callable[[], object] = lambda: "") -> None:
    """Poll until `true`; fail after `within_s` seconds with what `why` says."""
    deadline = time.monotonic() + within_s
    while not true():
        assert time.monotonic() < deadline, f"not within {within_s:g} s: {why()}"
        time.sleep(0.02)
