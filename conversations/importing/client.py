"""A small HTTP client for one loopd server: one connection, bearer tokens, and patience where it is asked for."""

from __future__ import annotations

import http.client
import ipaddress
import json
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

TIMEOUT_S = 30.0
MAX_ATTEMPTS = 6
MAX_WAIT_S = 30.0
MAX_ANSWER_BYTES = 64 * 1024**2


class CallFailed(Exception):
    """The server refused, or did not answer."""

    def __init__(self, message: str, status: int = 0) -> None:
        super().__init__(message)
        self.status = status


class Client:
    """`wait` is called with seconds to wait; given, so that nothing sleeps in a test."""

    def __init__(self, url: str, *, allow_remote: bool = False, wait: Callable[[float], None] = time.sleep) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise CallFailed(f"{url!r} is not an address like http://127.0.0.1:8000")
        if not _is_loopback(parts.hostname):
            if not allow_remote:
                raise CallFailed(f"{parts.hostname} is not this machine; --allow-remote says that it is meant")
            if parts.scheme != "https":
                raise CallFailed("tokens are sent to another machine by https only")
        self._secure, self._host, self._port = parts.scheme == "https", parts.hostname, parts.port
        self._prefix = parts.path.rstrip("/") + "/v1"
        self._wait = wait
        self._connection: http.client.HTTPConnection | None = None

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

    def call(self, token: str, method: str, path: str, body: Any = None) -> Any:
        """The answer's value. Waits and repeats on 429 and 503, a few times; sends carry keys, so repeating is safe."""
        for attempt in range(1, MAX_ATTEMPTS + 1):
            status, value, retry_after_s = self._once(token, method, path, body)
            if 200 <= status < 300:
                return value
            if status not in (429, 503) or attempt == MAX_ATTEMPTS:
                break
            self._wait(min(retry_after_s or attempt * 0.5, MAX_WAIT_S))
        message = value.get("error", {}).get("message", "") if isinstance(value, dict) else ""
        raise CallFailed(f"{method} {path}: {status} {message}".rstrip(), status)

    def pages(self, token: str, path: str) -> list[dict[str, Any]]:
        """All items of a paged list, at most 100 pages."""
        found: list[dict[str, Any]] = []
        cursor = ""
        for _ in range(100):
            page = self.call(token, "GET", f"{path}{'&' if '?' in path else '?'}limit=200{cursor}")
            found += page["items"]
            if not page["next"]:
                break
            cursor = f"&cursor={page['next']}"
        return found

    def _once(self, token: str, method: str, path: str, body: Any) -> tuple[int, Any, float]:
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        payload = None if body is None else json.dumps(body)
        for fresh in (False, True):  # a kept connection may have been closed by the server meanwhile
            connection = self._open(fresh)
            reused = connection.sock is not None
            try:
                connection.request(method, self._prefix + path, payload, headers)
                response = connection.getresponse()
                raw = response.read(MAX_ANSWER_BYTES)
            except (OSError, http.client.HTTPException) as error:
                self._close()
                if not reused:
                    raise CallFailed(f"{self._host} does not answer: {error}") from None
                continue
            is_json = "json" in response.headers.get("Content-Type", "") and raw
            after = response.headers.get("Retry-After", "")
            return response.status, json.loads(raw) if is_json else None, float(after) if after.isdigit() else 0.0
        raise CallFailed(f"{self._host} does not answer")

    def _open(self, fresh: bool) -> http.client.HTTPConnection:
        if fresh:
            self._close()
        if self._connection is None:
            kind = http.client.HTTPSConnection if self._secure else http.client.HTTPConnection
            self._connection = kind(self._host, self._port, timeout=TIMEOUT_S)
        return self._connection

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
