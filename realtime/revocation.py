"""Ends sockets whose login or membership has ended since they connected.

A membership that ends in this process closes its sockets at once (`publisher`). Everything else that can end a login
(a revoked token, a logout, a user who may not log in any more, another process) is found by this sweep, which runs
apart from heartbeats so that those stay free of any database.
"""

from __future__ import annotations

from uuid import UUID

from conversations.periodic import Periodic
from conversations.queries.logins import live_members, live_sessions, live_tokens

from .admission import NO_ACCESS, NO_LOGIN
from .hub import Hub
from .sockets import Socket

EVERY_S = 30.0


def access_sweep(hub: Hub, every_s: float = EVERY_S) -> Periodic:
    """The worker: three statements for each 500 sockets, and none without sockets."""
    return Periodic("realtime-access", every_s, lambda: sweep(hub))


def sweep(hub: Hub) -> None:
    sockets = hub.sockets.all()
    tokens, sessions = live_tokens(_tokens(sockets)), live_sessions(_sessions(sockets))
    members = live_members({socket.member_id for socket in sockets})
    for socket in sockets:
        kind, _, key = socket.credential.partition(":")
        logged_in = UUID(key) in tokens if kind == "token" else key in sessions
        if not logged_in:
            _close(hub, socket, NO_LOGIN)
        elif socket.member_id not in members:
            _close(hub, socket, NO_ACCESS)


def _close(hub: Hub, socket: Socket, code: int) -> None:
    hub.call(lambda: socket.close(code))


def _tokens(sockets: list[Socket]) -> set[UUID]:
    return {UUID(s.credential.partition(":")[2]) for s in sockets if s.credential.startswith("token:")}


def _sessions(sockets: list[Socket]) -> set[str]:
    return {s.credential.partition(":")[2] for s in sockets if s.credential.startswith("session:")}
