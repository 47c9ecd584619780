"""No warm path runs unread SQL, and none runs more statements for 500 conversations than for one."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from django.db import connection, connections

from conversations.models import Membership, Scope
from realtime.consumers import WorkspaceSockets
from realtime.hub import Hub
from tests.server import wait_until
from tests.unread.guard import Statements, UnreadSqlError, is_unread_sql, no_unread_sql
from tests.unread.serving import shown, warm
from tests.verbs import post, read
from tests.world import World
from unread.app import hydrate, unread_app
from unread.core.runtime import UnreadRuntime


@pytest.fixture
def world(runtime: UnreadRuntime) -> World:
    """Ann and Ben in a channel with something unread, everything warm, and the use of their tokens noted."""
    made = World("ann", "ben")
    for who in ("ann", "ben"):
        made.call(who, "GET", "/me").ok()
    made.channel("x", "ann", "ben")
    post(made, "ann", "x", "warms the roster")
    warm(runtime, made, "ann", "ben")
    return made


def many_channels(world: World, runtime: UnreadRuntime, count: int) -> None:
    """Ben joins `count` more channels that were there all along, as rows."""
    scopes = Scope.objects.bulk_create(
        Scope(workspace=world.workspace, type="channel", name=f"c{n}", visibility="public") for n in range(count)
    )
    Membership.objects.bulk_create(Membership(scope=scope, member=world.member["ben"]) for scope in scopes)


def test_the_guard_sees_what_it_guards_against() -> None:
    with pytest.raises(UnreadSqlError), no_unread_sql(), connection.cursor() as cursor:
        cursor.execute("SELECT COUNT(*) FROM messages")
    assert is_unread_sql('SELECT * FROM "member_scope_unread_runtime_snapshots"')
    assert is_unread_sql('SELECT 1 AS "a" FROM "messages" WHERE "messages"."seq" > 3 LIMIT 1')
    assert is_unread_sql('SELECT %s AS "a" FROM "messages" WHERE "messages"."seq" > %s LIMIT 1')
    assert is_unread_sql("SELECT EXISTS(SELECT 1 FROM `scope_activity_events` WHERE 1)")
    assert is_unread_sql("SELECT a FROM scopes WHERE 3 < (SELECT COUNT(*) FROM messages)")
    assert is_unread_sql("SELECT MAX(m.seq) FROM scopes JOIN messages m ON m.scope_id = scopes.id")
    assert not is_unread_sql('SELECT "messages"."id" FROM "messages" LIMIT 1')
    assert not is_unread_sql("SELECT id FROM messages WHERE (SELECT SUM(size_bytes) FROM message_parts) < 9")
    assert not is_unread_sql('SELECT COUNT(*) FROM "scopes"')


Ask = Callable[[World], Any]
WARM_READS: dict[str, Ask] = {
    "workspace list": lambda world: world.call("ben", "GET", "/workspaces"),
    "unread": lambda world: world.call("ben", "GET", f"/workspaces/{world.id}/unread"),
    "unread of some": lambda world: world.call(
        "ben", "GET", f"/workspaces/{world.id}/unread", conversation_ids=str(world.scope["x"].id)
    ),
    "bootstrap": lambda world: world.call("ben", "GET", f"/workspaces/{world.id}/bootstrap"),
}


@pytest.mark.parametrize("name", WARM_READS)
def test_a_warm_read_runs_no_unread_sql_and_shows_the_unread(world: World, name: str) -> None:
    with no_unread_sql():
        answer = WARM_READS[name](world).ok()
    body = answer.body
    if name == "workspace list":
        assert [item["has_unread"] for item in body["items"]] == [True]
    else:
        unread = body["unread"] if name == "bootstrap" else body
        assert (unread["state"], unread["has_unread"]) == ("ready", True)
        assert unread["counts"][str(world.scope["x"].id)]["messages"] == 1


@pytest.mark.parametrize("name", WARM_READS)
def test_a_warm_read_costs_the_same_for_one_and_for_500(world: World, runtime: UnreadRuntime, name: str) -> None:
    with no_unread_sql() as for_one:
        WARM_READS[name](world).ok()
    many_channels(world, runtime, 499)
    with no_unread_sql() as for_many:
        answer = WARM_READS[name](world).ok()
    if name == "bootstrap":
        assert len(answer["conversations"]) == 500
    assert len(for_many) == len(for_one)


def test_a_message_with_a_warm_roster_runs_no_unread_sql(world: World, runtime: UnreadRuntime) -> None:
    with no_unread_sql():
        post(world, "ann", "x", "counted in memory")
    assert _messages(runtime, world, "ben", "x") == 2
    with no_unread_sql():
        read(world, "ben", "x")
    assert _messages(runtime, world, "ben", "x") == 0


def test_a_message_over_http_costs_the_same_for_2_and_for_500_members(runtime: UnreadRuntime) -> None:
    world = World("ann", *(f"p{n}" for n in range(499)))
    world.call("ann", "GET", "/me").ok()
    counts = []
    for name, people in (("small", 1), ("large", 499)):
        world.channel(name, "ann", *(f"p{n}" for n in range(people)))
        post(world, "ann", name, "warms the roster")
        wait_until(lambda: runtime.stats().waiting_events == 0, 15)
        body = {"text": "hello"}
        with no_unread_sql() as statements:
            world.call("ann", "POST", f"/conversations/{world.scope[name].id}/messages", body).ok()
        counts.append(len(statements))
    assert counts[0] == counts[1]
    warm(runtime, world, "p0", "p498")
    assert (_messages(runtime, world, "p0", "large"), _messages(runtime, world, "p498", "large")) == (2, 2)


async def test_connecting_again_and_again_and_heartbeats_run_no_unread_sql(
    world: World, runtime: UnreadRuntime
) -> None:
    statements = Statements()
    hub = Hub(runtime, heartbeat_s=0.2)
    unread_app().deltas.listen(hub.changed)
    hub.attach()
    sockets = WorkspaceSockets(hub, GuardedPool(statements), lambda who: hydrate(who.workspace_id, who.member_id))
    counts = []
    for _ in range(3):  # the first in a thread also asks for the server's version
        before = len(statements)
        async with connected(sockets, world, "ben") as frames:
            assert (await frames())["type"] == "hello"
            snapshot = await frames()
            assert snapshot["counts"][str(world.scope["x"].id)]["messages"] == 1
            counts.append(len(statements) - before)
            for _ in range(3):
                assert (await frames())["type"] == "heartbeat"
            assert len(statements) - before == counts[-1]
    assert counts[1] == counts[2]
    assert statements.unread == []
    assert len(hub.sockets) == 0
    await hub.detach(4012)


class GuardedPool:
    """Runs a consumer's blocking work in a thread of its own whose connection is watched."""

    def __init__(self, statements: Statements) -> None:
        self._statements = statements

    async def run(self, work: Callable[..., Any], *arguments: Any) -> Any:
        def watched() -> Any:
            try:
                with connection.execute_wrapper(self._statements):
                    return work(*arguments)
            finally:
                connections.close_all()

        return await asyncio.to_thread(watched)


@asynccontextmanager
async def connected(sockets: WorkspaceSockets, world: World, who: str) -> AsyncIterator[Callable[[], Any]]:
    """A socket without a network: yields what awaits its next frame."""
    told: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
    heard: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
    scope = {
        "type": "websocket",
        "headers": [],
        "query_string": f"token={world.token[who]}".encode(),
        "path_parameters": {"workspace_id": str(world.id)},
    }
    told.put_nowait({"type": "websocket.connect"})
    serving = asyncio.create_task(sockets(scope, told.get, heard.put))
    assert (await asyncio.wait_for(heard.get(), 10))["type"] == "websocket.accept"

    async def frame() -> Any:
        return json.loads((await asyncio.wait_for(heard.get(), 10))["text"])

    yield frame
    told.put_nowait({"type": "websocket.disconnect", "code": 1000})
    await asyncio.wait_for(serving, 10)


def _messages(runtime: UnreadRuntime, world: World, who: str, scope: str) -> int:
    counts: Any = shown(runtime, world, who)["counts"]
    found: int = counts.get(str(world.scope[scope].id), {"messages": 0})["messages"]
    return found
