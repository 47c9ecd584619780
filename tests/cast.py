"""A cast on a real server: people with tokens in a workspace of their own, driven over HTTP and sockets."""

from __future__ import annotations

import asyncio
import contextlib
import json
import secrets
from collections.abc import AsyncIterator
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from .server import Answer, Server


class Cast:
    """The first of `people` is admin; `strangers` have a login and no membership."""

    def __init__(self, server: Server, *people: str, strangers: tuple[str, ...] = ()) -> None:
        self.server = server
        self.tag = secrets.token_hex(4)
        self.token = {name: _token(server, f"{name}-{self.tag}") for name in (*people, *strangers)}
        first = people[0]
        self.workspace = self.call(first, "POST", "/workspaces", {"slug": f"w-{self.tag}", "name": "Cast"})["id"]
        listed = self.call(first, "GET", f"/workspaces/{self.workspace}/members")["items"]
        self.member = {first: listed[0]["id"]}
        for name in people[1:]:
            body = {"username": f"{name}-{self.tag}", "display_name": name}
            self.member[name] = self.call(first, "POST", f"/workspaces/{self.workspace}/members", body)["id"]

    def ask(self, who: str, method: str, path: str, body: Any = None) -> Answer:
        return self.server.call(self.token[who], method, path, body)

    def call(self, who: str, method: str, path: str, body: Any = None) -> Any:
        answer = self.ask(who, method, path, body)
        assert answer.status < 300, (method, path, answer)
        return answer.value

    def channel(self, *members: str, private: bool = False) -> str:
        """The id of a new channel; the first member named opens it."""
        body = {
            "workspace_id": self.workspace,
            "type": "channel",
            "name": f"c-{secrets.token_hex(3)}",
            "visibility": "private" if private else "public",
            "member_ids": [self.member[name] for name in members[1:]],
        }
        found: str = self.call(members[0], "POST", "/conversations", body)["id"]
        return found

    def post(self, who: str, conversation: str, text: str = "hello", **more: Any) -> Any:
        return self.call(who, "POST", f"/conversations/{conversation}/messages", {"text": text, **more})

    def unread(self, who: str) -> Any:
        return self.call(who, "GET", f"/workspaces/{self.workspace}/unread")

    @contextlib.asynccontextmanager
    async def socket(self, who: str, **options: Any) -> AsyncIterator[LiveSocket]:
        url = self.server.socket_url(self.workspace, self.token[who])
        async with connect(url, max_size=None, proxy=None, **options) as connection:
            yield LiveSocket(connection)


class LiveSocket:
    """Frames of a connection, remembered in `seen`."""

    def __init__(self, connection: ClientConnection) -> None:
        self.connection = connection
        self.seen: list[dict[str, Any]] = []

    async def next(self, kind: str | None = None, within_s: float = 15.0) -> dict[str, Any]:
        """The next frame, or the next of this type (others are remembered and passed over)."""
        async with asyncio.timeout(within_s):
            while True:
                frame: dict[str, Any] = json.loads(await self.connection.recv())
                self.seen.append(frame)
                if kind is None or frame["type"] == kind:
                    return frame

    async def say(self, **command: Any) -> None:
        await self.connection.send(json.dumps(command))

    async def closed(self, within_s: float = 15.0) -> int | None:
        """Read to the end; the code it was closed with."""
        async with asyncio.timeout(within_s):
            with contextlib.suppress(ConnectionClosed):
                while True:
                    self.seen.append(json.loads(await self.connection.recv()))
        return self.connection.close_code


def shown(socket: LiveSocket, channel: str) -> int:
    """What a page would show that follows the rules: a snapshot replaces, a delta adds where its `since` fits."""
    version, counts = None, {}
    for frame in socket.seen:
        if frame["type"] == "unread.snapshot":
            version, counts = frame["version"], dict(frame["counts"])
        elif frame["type"] == "unread.delta" and frame["since"] == version:
            version = frame["version"]
            counts.update(frame["counts"])
    found: int = counts.get(channel, {}).get("messages", 0)
    return found


def _token(server: Server, username: str) -> str:
    """Made inside the server's database by its own command."""
    return server.manage("create_token", username).strip().splitlines()[-1]
