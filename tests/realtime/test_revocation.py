"""Sockets whose login or membership ended elsewhere are found by the sweep; the others stay."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from django.utils import timezone

from conversations.models import ApiToken, Member
from realtime.admission import NO_ACCESS, NO_LOGIN, Admitted, admit, handshake
from realtime.hub import Hub
from realtime.revocation import sweep
from realtime.sockets import Socket
from tests.realtime.test_admission import session_of
from tests.world import World
from unread.core.states import MemberUnread


class Quiet:
    """A runtime that nothing happens in."""

    def watch(self, workspace: int, member: int) -> None: ...

    def unwatch(self, workspace: int, member: int) -> None: ...

    def take_delta(self, workspace: int, member: int) -> None:
        return None

    def snapshot(self, workspace: int, member: int) -> MemberUnread:
        return MemberUnread("ready", False, 1, 1, {})


class Connected:
    """One admitted socket, and the code it was closed with."""

    def __init__(self, hub: Hub, admitted: Admitted) -> None:
        self.code: int | None = None
        self.socket = Socket(
            admitted.workspace_id, admitted.member_id, admitted.user.pk, admitted.credential, self._close
        )
        assert hub.add(self.socket)

    def _close(self, code: int) -> None:
        self.code = code


def by_token(world: World, who: str) -> Admitted:
    scope = {"headers": [], "query_string": f"token={world.token[who]}".encode()}
    return admit(handshake(scope), str(world.id))


def by_session(world: World, who: str) -> tuple[Admitted, str]:
    key = session_of(world, who)
    return admit(handshake({"headers": [(b"cookie", f"sessionid={key}".encode())]}), str(world.id)), key


def revoke_token(world: World) -> None:
    ApiToken.objects.filter(user=world.user["ben"]).update(revoked_at=timezone.now())


def forbid_login(world: World) -> None:
    world.user["ben"].is_active = False
    world.user["ben"].save()


def deactivate(world: World) -> None:
    Member.objects.filter(id=world.member["ben"].id).update(status="deactivated")


@pytest.mark.parametrize(
    ("ends", "code"), [(revoke_token, NO_LOGIN), (forbid_login, NO_LOGIN), (deactivate, NO_ACCESS)]
)
async def test_what_ends_a_login_ends_its_sockets(ends: Any, code: int) -> None:
    world = await asyncio.to_thread(World, "ann", "ben")
    hub = Hub(Quiet(), heartbeat_s=60)
    hub.attach()
    ann, ben = [Connected(hub, await asyncio.to_thread(by_token, world, who)) for who in ("ann", "ben")]
    await asyncio.to_thread(sweep, hub)
    await asyncio.sleep(0)
    assert (ann.code, ben.code) == (None, None)
    await asyncio.to_thread(ends, world)
    await asyncio.to_thread(sweep, hub)
    await asyncio.sleep(0)
    assert (ann.code, ben.code) == (None, code)


async def test_a_logout_ends_the_sockets_of_that_session_only() -> None:
    from django.contrib.sessions.models import Session

    world = await asyncio.to_thread(World, "ann")
    hub = Hub(Quiet(), heartbeat_s=60)
    hub.attach()
    (here, key), (there, _) = [await asyncio.to_thread(by_session, world, "ann") for _ in range(2)]
    gone, kept = Connected(hub, here), Connected(hub, there)
    await asyncio.to_thread(Session.objects.filter(pk=key).delete)
    await asyncio.to_thread(sweep, hub)
    await asyncio.sleep(0)
    assert (gone.code, kept.code) == (NO_LOGIN, None)
