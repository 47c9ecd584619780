"""Who is connected to this process, by workspace and member."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

from .outbox import Outbox

SOCKETS_PER_MEMBER = 32


class Socket:
    """One accepted connection of one member. `close` makes its consumer end it with that code."""

    __slots__ = ("close", "credential", "member_id", "outbox", "user_id", "workspace_id")

    def __init__(
        self, workspace_id: UUID, member_id: UUID, user_id: int, credential: str, close: Callable[[int], None]
    ) -> None:
        self.workspace_id, self.member_id, self.user_id = workspace_id, member_id, user_id
        self.credential = credential
        """What the login hangs on: `token:<id>` or `session:<key>`."""
        self.outbox = Outbox()
        self.close = close


class Sockets:
    """Changed on the event loop only; the questions about who is connected may come from any thread."""

    def __init__(self) -> None:
        self._workspaces: dict[UUID, dict[UUID, list[Socket]]] = {}
        self._all: dict[Socket, None] = {}

    def __len__(self) -> int:
        return len(self._all)

    def all(self) -> list[Socket]:
        """In order of connecting."""
        return list(self._all)

    def is_connected(self, workspace_id: UUID) -> bool:
        return workspace_id in self._workspaces

    def members(self, workspace_id: UUID) -> list[UUID]:
        """Who has a socket now, in no order."""
        return list(self._workspaces.get(workspace_id, ()))

    def of(self, workspace_id: UUID, member_id: UUID) -> tuple[Socket, ...]:
        return tuple(self._workspaces.get(workspace_id, {}).get(member_id, ()))

    def of_workspace(self, workspace_id: UUID) -> list[Socket]:
        return [socket for sockets in self._workspaces.get(workspace_id, {}).values() for socket in sockets]

    def add(self, socket: Socket) -> bool:
        """False where the member has as many as anybody may have."""
        mine = self._workspaces.setdefault(socket.workspace_id, {}).setdefault(socket.member_id, [])
        if len(mine) >= SOCKETS_PER_MEMBER:
            return False
        mine.append(socket)
        self._all[socket] = None
        return True

    def remove(self, socket: Socket) -> bool:
        """False where it was not there."""
        members = self._workspaces.get(socket.workspace_id, {})
        mine = members.get(socket.member_id, [])
        if socket not in mine:
            return False
        mine.remove(socket)
        del self._all[socket]
        if not mine:
            del members[socket.member_id]
        if not members:
            del self._workspaces[socket.workspace_id]
        return True
