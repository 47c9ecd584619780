"""A Redis of the tests' own, which they may flush, kill and start again."""

from __future__ import annotations

import shutil
import socket
import subprocess
import tempfile
import time
from typing import Any

import redis

from tests.conftest import missing

PATIENCE_S = 20.0


class RedisServer:
    """On a free port, without persistence: what it held is gone when it is killed."""

    def __init__(self) -> None:
        self._dir = tempfile.mkdtemp(prefix="loopd-redis-")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port: int = free.getsockname()[1]
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self._process: subprocess.Popen[bytes] | None = None
        self.client: Any = redis.Redis.from_url(self.url, socket_timeout=PATIENCE_S)

    def start(self) -> None:
        binary = shutil.which("redis-server")
        if binary is None:
            missing("redis", "redis-server is not installed")
            return
        options = {"port": str(self.port), "bind": "127.0.0.1", "save": "", "appendonly": "no", "dir": self._dir}
        arguments = [part for name, value in options.items() for part in (f"--{name}", value)]
        self._process = subprocess.Popen([binary, *arguments], stdout=subprocess.DEVNULL)
        deadline = time.monotonic() + PATIENCE_S
        while True:
            try:
                self.client.ping()
                return
            except redis.RedisError:
                assert time.monotonic() < deadline, "redis-server does not answer"
                time.sleep(0.01)

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait(PATIENCE_S)
            self._process = None

    def remove(self) -> None:
        self.kill()
        self.client.close()
        shutil.rmtree(self._dir, ignore_errors=True)
