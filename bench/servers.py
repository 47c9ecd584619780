"""Real server processes on one fresh database, each for a workspace of its own."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.server import Server, free_port

from . import child
from .client import Client

PRODUCT = "loopd.server"
WITHOUT_RUNTIME = "bench.server_without_runtime"


@dataclass(frozen=True, slots=True)
class Place:
    """A server, and the workspace that only it serves."""

    server: Server
    workspace: str
    channel: str
    tokens: list[str]

    def client(self, person: int = 0) -> Client:
        return Client(self.server.port, self.tokens[person])

    @property
    def pid(self) -> int:
        assert self.server.process is not None
        return self.server.process.pid


@contextmanager
def places(environment: dict[str, str], people: int, *modules: str) -> Iterator[list[Place]]:
    """One running server for each module named; stopped at the end."""
    crowds: list[dict[str, Any]] = child.run(
        "bench.children.crowds", environment=environment, workspaces=len(modules), people=people
    )
    with ExitStack() as stack:
        found = []
        for module, crowd in zip(modules, crowds, strict=True):
            home = Path(environment["LOOPD_HOME"])
            server = Server(home, free_port(), environment, [sys.executable, "-m", module])
            stack.callback(server.end)
            server.start()
            found.append(Place(server, crowd["id"], crowd["channel"], crowd["tokens"]))
        yield found


def wait_until_counted(place: Place, person: int, messages: int, within_s: float = 60.0) -> None:
    """Until the server shows so many messages to a person: everything is warm."""
    client = place.client(person)
    until = time.monotonic() + within_s
    try:
        while True:
            unread = client.call("GET", f"/workspaces/{place.workspace}/unread")
            shown = unread["counts"].get(place.channel, {}).get("messages", 0)
            if shown >= messages:
                return
            if time.monotonic() > until:
                raise RuntimeError(f"the server shows {unread} and not {messages} messages")
            time.sleep(0.05)
    finally:
        client.close()
