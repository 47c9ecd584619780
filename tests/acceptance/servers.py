"""A real server, started by `bin/run` on a home and a port of its own, spoken to over HTTP and ended by signals."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import time
from pathlib import Path
from typing import Any, NamedTuple

PROJECT = Path(__file__).resolve().parents[2]
START_S = 60.0
STOP_S = 40.0
CALL_S = 30.0
POLL_S = 0.05


class Answer(NamedTuple):
    status: int
    value: Any


class Server:
    """`environment` adds to this process's own; a restart finds the same home."""

    def __init__(self, home: Path, **environment: str) -> None:
        self.home, self.port = home, free_port()
        self.log = home.with_name(f"{home.name}.log")
        self.environment = {
            **{name: value for name, value in os.environ.items() if name not in ("SECRET_KEY", "DATABASE_URL")},
            "LOOPD_HOME": str(home),
            "PORT": str(self.port),
            "LOOPD_UNREAD_RUNTIME_SNAPSHOT_FLUSH_INTERVAL": "1s",
            **environment,
        }
        self._process: subprocess.Popen[bytes] | None = None
        self._tokens: dict[str, str] = {}
        self.said_last = ""
        """What `/readyz` answered."""

    def start(self) -> None:
        """Returns when `/readyz` says so; raises with the end of the log."""
        process = self.spawn()
        try:
            self._wait_until_ready(process)
        except BaseException:
            self.kill()
            raise

    def spawn(self) -> subprocess.Popen[bytes]:
        """Start it and wait for nothing."""
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [PROJECT / "bin" / "run"], env=self.environment, stdout=log, stderr=log, start_new_session=True
            )
        return self._process

    def lives(self) -> bool:
        try:
            return self._request("GET", "/healthz", None, {}, timeout_s=5).status == 200
        except OSError:
            return False

    def is_ready(self) -> bool:
        try:
            answer = self._request("GET", "/readyz", None, {}, timeout_s=5)
        except OSError as error:
            self.said_last = str(error)
            return False
        self.said_last = str(answer)
        return answer.status == 200

    def stop(self, how: signal.Signals = signal.SIGTERM) -> int:
        """Ask it to end, and return its exit status."""
        assert self._process is not None
        self._process.send_signal(how)
        try:
            return self._process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"{how.name} did not end the server:\n{self.tail()}") from None

    def kill(self) -> None:
        """SIGKILL, to everything that it started."""
        if self._process is not None and self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()

    def close(self) -> None:
        if self._process is not None and self._process.poll() is None:
            try:
                self.stop()
            finally:
                self.kill()

    def manage(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """A `manage.py` command on the same home."""
        return subprocess.run(
            [PROJECT / ".venv" / "bin" / "python", PROJECT / "manage.py", *arguments],
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=120,
            cwd=self.home,
        )

    def token(self, username: str) -> str:
        if username not in self._tokens:
            made = self.manage("create_token", username)
            assert made.returncode == 0, made.stderr
            self._tokens[username] = made.stdout.strip()
        return self._tokens[username]

    def call(self, token: str, method: str, path: str, body: Any = None) -> Answer:
        """One call under `/v1`; whatever it answers."""
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        return self._request(method, f"/v1{path}", body, headers, timeout_s=CALL_S)

    def ask(self, token: str, method: str, path: str, body: Any = None) -> Any:
        """The same, and it must succeed."""
        answer = self.call(token, method, path, body)
        assert 200 <= answer.status < 300, f"{method} {path} -> {answer.status} {answer.value}\n{self.tail()}"
        return answer.value

    def tail(self, characters: int = 3000) -> str:
        return self.log.read_text(errors="replace")[-characters:] if self.log.exists() else ""

    def _wait_until_ready(self, process: subprocess.Popen[bytes]) -> None:
        deadline = time.monotonic() + START_S
        while not self.is_ready():
            if process.poll() is not None:
                raise AssertionError(f"bin/run ended with {process.returncode}:\n{self.tail()}")
            if time.monotonic() > deadline:
                raise AssertionError(f"not ready within {START_S:g} s: {self.said_last}\n{self.tail()}")
            time.sleep(POLL_S)

    def _request(self, method: str, path: str, body: Any, headers: dict[str, str], timeout_s: float) -> Answer:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout_s)
        try:
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            response = connection.getresponse()
            raw = response.read()
        except http.client.HTTPException as error:
            raise OSError(f"{method} {path}: {error!r}") from error
        finally:
            connection.close()
        is_json = "json" in response.headers.get("Content-Type", "")
        return Answer(response.status, json.loads(raw) if is_json and raw else None)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
