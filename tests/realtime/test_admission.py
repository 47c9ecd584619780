"""Who may have a socket: sessions only from our own pages, tokens from anywhere, members only."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.test import override_settings

from conversations.ids import new_id
from realtime.admission import NO_ACCESS, NO_LOGIN, Refused, admit, handshake
from tests.world import World


@pytest.fixture(scope="module")
def world() -> World:
    return World("ann", "ben", strangers=("zoe",))


def session_of(world: World, who: str) -> str:
    """A logged-in session's key."""
    session = import_module(settings.SESSION_ENGINE).SessionStore()
    session[SESSION_KEY] = str(world.user[who].pk)
    session[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[0]
    session[HASH_SESSION_KEY] = world.user[who].get_session_auth_hash()
    session.create()
    key: str = session.session_key
    return key


def shaken(query: str = "", offered: tuple[str, ...] = (), **headers: str) -> Any:
    listed = [(name.encode(), value.encode()) for name, value in headers.items()]
    return handshake({"headers": listed, "query_string": query.encode(), "subprotocols": list(offered)})


def code(refused: Any, workspace_id: object) -> int:
    with pytest.raises(Refused) as found:
        admit(refused, str(workspace_id))
    return found.value.code


@pytest.mark.parametrize(
    ("origin", "host", "admitted"),
    [
        ("http://chat.example", "chat.example", True),
        ("https://chat.example:8443", "chat.example:8443", True),
        (None, "chat.example", True),
        ("http://evil.example", "chat.example", False),
        ("http://chat.example:81", "chat.example", False),
        ("null", "chat.example", False),
        ("https://front.example", "chat.example", True),
        ("http://front.example", "chat.example", False),
        ("https://a.pages.example", "chat.example", True),
        ("https://apages.example", "chat.example", False),
    ],
)
def test_a_session_counts_for_pages_of_this_origin(world: World, origin: str | None, host: str, admitted: bool) -> None:
    headers = {"cookie": f"{settings.SESSION_COOKIE_NAME}={session_of(world, 'ann')}", "host": host}
    if origin is not None:
        headers["origin"] = origin
    with override_settings(CSRF_TRUSTED_ORIGINS=["https://front.example", "https://*.pages.example"]):
        if admitted:
            assert admit(shaken(**headers), str(world.id)).member_id == world.member["ann"].id
        else:
            assert code(shaken(**headers), world.id) == NO_LOGIN


def test_a_token_counts_from_any_origin(world: World) -> None:
    found = admit(
        shaken(f"token={world.token['ben']}", host="chat.example", origin="http://evil.example"), str(world.id)
    )
    assert (found.member_id, found.workspace_id) == (world.member["ben"].id, world.id)


def test_a_wrong_token_is_not_replaced_by_the_session(world: World) -> None:
    cookie = f"{settings.SESSION_COOKIE_NAME}={session_of(world, 'ann')}"
    assert code(shaken("token=wrong", cookie=cookie, host="x"), world.id) == NO_LOGIN


def test_a_query_of_too_many_fields_carries_no_login(world: World) -> None:
    flood = "&".join(f"f{number}=1" for number in range(21))
    assert code(shaken(f"{flood}&token={world.token['ann']}"), world.id) == NO_LOGIN


def test_the_protocol_that_carried_the_token_is_accepted(world: World) -> None:
    token = world.token["ann"]
    assert shaken(offered=("bearer", token)).bearer == token
    assert shaken(offered=("bearer", token)).accepted_protocol == "bearer"
    assert shaken(offered=("chat", f"bearer.{token}")).bearer == token
    assert shaken(offered=("chat",)).accepted_protocol is None


def test_whoever_is_no_active_member_has_no_access(world: World) -> None:
    assert code(shaken(f"token={world.token['zoe']}"), world.id) == NO_ACCESS
    assert code(shaken(f"token={world.token['ann']}"), new_id()) == NO_ACCESS
    assert code(shaken(f"token={world.token['ann']}"), "not-an-id") == NO_ACCESS


@pytest.mark.parametrize("cookie", ["", "sessionid=", "sessionid=unknown", "; ;=;sessionid", 'a="\\'])
def test_a_broken_or_unknown_session_is_no_login(world: World, cookie: str) -> None:
    assert code(shaken(cookie=cookie, host="x"), world.id) == NO_LOGIN
