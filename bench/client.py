"""One kept HTTP connection to a server, for requests that are timed."""

from __future__ import annotations

import http.client
import json
import time
from pathlib import Path
from typing import Any


class Client:
    def __init__(self, port: int, token: str) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """Raises RuntimeError for an answer that is none of the good ones."""
        raw = self._send(method, f"/v1{path}", None if body is None else json.dumps(body))
        return json.loads(raw) if raw else None

    def text(self, path: str) -> str:
        return self._send("GET", path, None).decode()

    def timed(self, method: str, path: str, body: Any = None) -> float:
        """Milliseconds from the first byte sent to the last byte read."""
        before = time.perf_counter()
        self.call(method, path, body)
        return (time.perf_counter() - before) * 1e3

    def close(self) -> None:
        self._connection.close()

    def _send(self, method: str, path: str, body: str | None) -> bytes:
        self._connection.request(method, path, body, self._headers)
        response = self._connection.getresponse()
        raw = response.read()
        if response.status >= 300:
            raise RuntimeError(f"{method} {path}: {response.status} {raw[:300]!r}")
        return raw


def processor_s(pid: int) -> float:
    """What a process has used of the processor so far, in seconds, to the nanosecond."""
    threads = Path(f"/proc/{pid}/task").iterdir()
    return sum(int((thread / "schedstat").read_text().split()[0]) for thread in threads) / 1e9


def scrape(client: Client) -> dict[str, float]:
    """What `/metrics` says, by name; of what has labels the last one."""
    lines = client.text("/metrics").splitlines()
    found = (line.rsplit(" ", 1) for line in lines if line and not line.startswith("#"))
    return {name.split("{")[0]: float(value) for name, value in found}
