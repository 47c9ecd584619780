"""Who may have a socket: the login of the handshake and the access gate. Runs in a thread, once per connection."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from importlib import import_module
from typing import Any
from urllib.parse import parse_qs, urlsplit
from uuid import UUID

from django.conf import settings
from django.contrib.auth import get_user
from django.http import HttpRequest

from conversations.access import workspace_member
from conversations.api.authentication import user_of_token
from conversations.errors import Misdirected, NotFound

NO_LOGIN, NO_ACCESS, NOT_THE_OWNER = 4001, 4004, 4021


class Refused(Exception):
    """The socket is accepted only to be closed with `code`, so that the client learns why."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


@dataclass(frozen=True, slots=True)
class Admitted:
    user: Any
    workspace_id: UUID
    member_id: UUID
    credential: str


@dataclass(frozen=True, slots=True)
class Handshake:
    """What a WebSocket handshake says, as far as it matters here."""

    headers: dict[str, str]
    query: dict[str, list[str]]
    offered: tuple[str, ...]

    @property
    def bearer(self) -> str | None:
        """The token of the header, the query or the protocol list."""
        scheme, _, token = self.headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer":
            return token.strip()
        if token := self.query.get("token", [""])[0]:
            return token
        for place, protocol in enumerate(self.offered):
            if protocol.lower() == "bearer":
                return self.offered[place + 1] if place + 1 < len(self.offered) else ""
            if protocol.lower().startswith("bearer."):
                return protocol[len("bearer.") :]
        return None

    @property
    def accepted_protocol(self) -> str | None:
        """What the client must hear back where it offered a token as protocol; nothing else is spoken here."""
        return next((name for name in self.offered if name.lower().split(".")[0] == "bearer"), None)


def handshake(scope: dict[str, Any]) -> Handshake:
    headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
    return Handshake(headers, _query(scope), tuple(scope.get("subprotocols") or ()))


def _query(scope: dict[str, Any]) -> dict[str, list[str]]:
    """Empty where it has more fields than any client of ours sends: then it carries no login."""
    try:
        return parse_qs(scope.get("query_string", b"").decode("latin-1"), max_num_fields=20)
    except ValueError:
        return {}


def admit(shaken: Handshake, workspace_id: str) -> Admitted:
    """The member behind a handshake; `Refused` with the code to close with."""
    user, credential = _login(shaken)
    try:
        member = workspace_member(user, UUID(workspace_id))
    except (NotFound, ValueError):
        raise Refused(NO_ACCESS) from None
    except Misdirected:
        raise Refused(NOT_THE_OWNER) from None
    return Admitted(user, member.workspace_id, member.id, credential)


def _login(shaken: Handshake) -> tuple[Any, str]:
    token = shaken.bearer
    if token is not None:
        found = user_of_token(token)
        if found is None:
            raise Refused(NO_LOGIN)
        return found[0], f"token:{found[1].pk}"
    key = _session_key(shaken)
    if key is None or not _from_here(shaken):
        raise Refused(NO_LOGIN)
    request = HttpRequest()
    request.session = import_module(settings.SESSION_ENGINE).SessionStore(key)
    user = get_user(request)
    if not user.is_authenticated or not user.is_active:
        raise Refused(NO_LOGIN)
    return user, f"session:{key}"


def _session_key(shaken: Handshake) -> str | None:
    try:
        cookies = SimpleCookie(shaken.headers.get("cookie", ""))
    except CookieError:
        return None
    found = cookies.get(settings.SESSION_COOKIE_NAME)
    return found.value if found else None


def _from_here(shaken: Handshake) -> bool:
    """A browser names the page's origin: only our own pages may use the session. Programs send none."""
    origin = shaken.headers.get("origin")
    if origin is None:
        return True
    host = shaken.headers.get("host", "")
    if settings.USE_X_FORWARDED_HOST:
        host = shaken.headers.get("x-forwarded-host", host)
    return urlsplit(origin).netloc == host or _trusted(origin, settings.CSRF_TRUSTED_ORIGINS)


def _trusted(origin: str, trusted: Iterable[str]) -> bool:
    parts = urlsplit(origin)
    for allowed in map(urlsplit, trusted):
        suffix = allowed.netloc.removeprefix("*")
        exact = parts.netloc == allowed.netloc
        if parts.scheme == allowed.scheme and (
            exact or (allowed.netloc.startswith("*.") and parts.netloc.endswith(suffix))
        ):
            return True
    return False
