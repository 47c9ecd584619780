"""Sockets of a real server: who gets one, what it says, what it hears, and how it ends."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from websockets.asyncio.client import connect

from tests.cast import Cast, LiveSocket, shown
from tests.server import Server

pytestmark = pytest.mark.server


@pytest.fixture(scope="module")
def cast(server: Server) -> Cast:
    return Cast(server, "ann", "ben", "cat", strangers=("zoe",))


async def in_thread(call: Any, *arguments: Any, **named: Any) -> Any:
    return await asyncio.to_thread(call, *arguments, **named)


async def test_a_socket_is_greeted_and_shown_everything_at_once(cast: Cast) -> None:
    async with cast.socket("ann") as socket:
        assert await socket.next() == {"type": "hello", "heartbeat_s": 0.4}
        snapshot = await socket.next()
        assert snapshot["type"] == "unread.snapshot"
        assert {"epoch", "version", "has_unread", "counts", "state"} <= snapshot.keys()
        beat = await socket.next("heartbeat")
        assert beat["ts"].endswith("Z")


@pytest.mark.parametrize("way", ["query", "protocol", "dotted protocol", "header"])
async def test_a_token_may_come_in_each_way(cast: Cast, way: str) -> None:
    url, token = cast.server.socket_url(cast.workspace), cast.token["ben"]
    options: dict[str, Any] = {}
    if way == "query":
        url = cast.server.socket_url(cast.workspace, token)
    elif way == "header":
        options["additional_headers"] = {"Authorization": f"Bearer {token}"}
    else:
        options["subprotocols"] = ["bearer", token] if way == "protocol" else [f"bearer.{token}"]
    async with connect(url, proxy=None, **options) as connection:
        assert (await LiveSocket(connection).next())["type"] == "hello"


@pytest.mark.parametrize(
    ("who", "code"), [("nobody", 4001), ("a wrong token", 4001), ("zoe", 4004), ("another workspace", 4004)]
)
async def test_whoever_may_not_is_told_by_the_code(cast: Cast, who: str, code: int) -> None:
    token = {"nobody": None, "a wrong token": "nonsense"}.get(who, cast.token["zoe"])
    workspace = "00000000-0000-7000-8000-000000000000" if who == "another workspace" else cast.workspace
    async with connect(cast.server.socket_url(workspace, token), proxy=None) as connection:
        socket = LiveSocket(connection)
        assert await socket.closed() == code
        assert socket.seen == []


async def test_a_message_reaches_sockets_and_moves_badges(cast: Cast) -> None:
    channel = await in_thread(cast.channel, "ann", "ben")
    async with cast.socket("ann") as ann, cast.socket("ben") as ben:
        for socket in (ann, ben):
            await socket.next("unread.snapshot")
        message = await in_thread(cast.post, "ann", channel, "hello there")
        created = await ben.next("message.created")
        assert {name: value for name, value in created.items() if name != "type"} == message
        assert (await ann.next("message.created"))["id"] == message["id"]
        if not any(frame["type"] == "unread.delta" for frame in ben.seen):
            await ben.next("unread.delta")
        deltas = [frame for frame in ben.seen if frame["type"] == "unread.delta"]
        assert deltas[-1]["counts"][channel]["messages"] == 1
        assert deltas[-1]["has_unread"] is True
        read = await ann.next("read.updated")
        assert (read["conversation_id"], read["last_read_seq"]) == (channel, message["seq"])


async def test_deltas_follow_one_another_to_what_the_server_knows(cast: Cast) -> None:
    channel = await in_thread(cast.channel, "ann", "ben")
    async with cast.socket("ben") as ben:
        snapshot = await ben.next("unread.snapshot")
        for n in range(10):
            await in_thread(cast.post, "ann", channel, f"number {n}")
        state, version = {}, snapshot["version"]
        while state.get(channel, {}).get("messages") != 10:
            delta = await ben.next("unread.delta")
            assert (delta["since"], delta["epoch"]) == (version, snapshot["epoch"])
            assert delta["version"] > version
            version = delta["version"]
            state.update(delta["counts"])
        await in_thread(cast.call, "ben", "PUT", f"/conversations/{channel}/read", {})
        delta = await ben.next("unread.delta")
        assert delta["counts"][channel]["messages"] == 0


async def test_a_page_that_lost_its_way_gets_a_snapshot(cast: Cast) -> None:
    channel = await in_thread(cast.channel, "ann", "ben")
    await in_thread(cast.post, "ann", channel)
    async with cast.socket("ben") as ben:
        await ben.next("unread.snapshot")
        await ben.say(type="unread.resync")
        again = await ben.next("unread.snapshot")
        assert again["counts"][channel]["messages"] == 1


async def test_reading_over_the_socket_reads(cast: Cast) -> None:
    channel = await in_thread(cast.channel, "ann", "ben")
    message = await in_thread(cast.post, "ann", channel)
    async with cast.socket("ben") as ben:
        await ben.next("unread.snapshot")
        await ben.say(type="read", conversation_id=channel, message_id=message["id"])
        while True:
            delta = await ben.next("unread.delta")
            if channel in delta["counts"] and delta["counts"][channel]["messages"] == 0:
                break
    assert channel not in (await in_thread(cast.unread, "ben"))["counts"]


async def test_what_is_not_a_command_is_answered_with_an_error(cast: Cast) -> None:
    async with cast.socket("ann") as ann:
        await ann.connection.send("not json")
        assert (await ann.next("error"))["error"]["type"] == "invalid_request"
        await ann.say(type="typing")
        assert "ping" in (await ann.next("error"))["error"]["message"]
        await ann.say(type="read", conversation_id=cast.workspace, message_id=cast.workspace)
        assert (await ann.next("error"))["error"]["type"] == "not_found"
        await ann.say(type="ping")
        await ann.next("heartbeat")


async def test_a_flood_ends_the_socket(cast: Cast) -> None:
    async with cast.socket("ann") as ann:
        for _ in range(200):
            await ann.connection.send(json.dumps({"type": "ping"}))
        assert await ann.closed() == 4008


async def test_strangers_to_a_private_channel_hear_nothing_of_it(cast: Cast) -> None:
    private = await in_thread(cast.channel, "ann", "ben", private=True)
    public = await in_thread(cast.channel, "ann")
    async with cast.socket("ben") as ben, cast.socket("cat") as cat:
        for socket in (ben, cat):
            await socket.next("unread.snapshot")
        secret = await in_thread(cast.post, "ann", private, "secret")
        open_to_all = await in_thread(cast.post, "ann", public, "open")
        assert (await ben.next("message.created"))["id"] == secret["id"]
        assert (await cat.next("message.created"))["id"] == open_to_all["id"]
        assert all(private not in json.dumps(frame) for frame in cat.seen)


async def test_whoever_is_removed_hears_no_more(cast: Cast) -> None:
    private = await in_thread(cast.channel, "ann", "ben", private=True)
    public = await in_thread(cast.channel, "ann")
    async with cast.socket("ben") as ben:
        await ben.next("unread.snapshot")
        await in_thread(cast.call, "ann", "DELETE", f"/conversations/{private}/members/{cast.member['ben']}")
        lost = await ben.next("conversation.updated")
        assert (lost["conversation_id"], lost["conversation"]) == (private, None)
        seen = len(ben.seen)
        await in_thread(cast.post, "ann", private, "after ben has gone")
        marker = await in_thread(cast.post, "ann", public, "marker")
        assert (await ben.next("message.created"))["id"] == marker["id"]
        later = [frame for frame in ben.seen[seen:] if private in json.dumps(frame)]
        assert {frame["type"] for frame in later} <= {"unread.delta"}
        assert not any(frame["counts"][private]["messages"] for frame in later)


async def test_changes_and_removals_reach_the_page(cast: Cast) -> None:
    channel = await in_thread(cast.channel, "ann", "ben")
    message = await in_thread(cast.post, "ann", channel, "first")
    async with cast.socket("ben") as ben:
        await ben.next("unread.snapshot")
        await in_thread(cast.call, "ann", "PUT", f"/messages/{message['id']}", {"text": "second"})
        edited = await ben.next("message.updated")
        assert edited["id"] == message["id"]
        assert "second" in json.dumps(edited["content"])
        await in_thread(cast.call, "ann", "PUT", f"/messages/{message['id']}/reactions/tada")
        reacted = await ben.next("reaction.updated")
        assert (reacted["message_id"], reacted["conversation_id"]) == (message["id"], channel)
        assert reacted["reactions"] == {"tada": [cast.member["ann"]]}
        await in_thread(cast.call, "ann", "PATCH", f"/conversations/{channel}", {"name": "renamed"})
        renamed = await ben.next("conversation.updated")
        assert renamed["conversation"]["name"] == "renamed"
        await in_thread(cast.call, "ann", "POST", f"/conversations/{channel}/activities", {"type": "pin", "ref": "x"})
        while (active := await ben.next("activity.created"))["activity"]["type"] != "pin":
            pass
        assert active["conversation_id"] == channel
        await in_thread(cast.call, "ann", "DELETE", f"/messages/{message['id']}")
        deleted = await ben.next("message.deleted")
        assert (deleted["id"], deleted["conversation_id"]) == (message["id"], channel)


async def test_a_long_message_is_announced_to_be_fetched(cast: Cast) -> None:
    channel = await in_thread(cast.channel, "ann", "ben")
    async with cast.socket("ben") as ben:
        await ben.next("unread.snapshot")
        message = await in_thread(cast.post, "ann", channel, "x" * 70_000)
        created = await ben.next("message.created")
        assert created == {
            "type": "message.created",
            "id": message["id"],
            "conversation_id": channel,
            "revision": message["revision"],
            "fetch": True,
        }


async def test_a_deactivated_member_is_shown_out(server: Server) -> None:
    cast = Cast(server, "ann", "ben")
    async with cast.socket("ben") as ben:
        await ben.next("unread.snapshot")
        await in_thread(cast.call, "ann", "DELETE", f"/workspaces/{cast.workspace}/members/{cast.member['ben']}")
        assert await ben.closed() == 4004


async def test_two_sockets_of_one_member_agree(cast: Cast) -> None:
    channel = await in_thread(cast.channel, "ann", "ben")
    async with cast.socket("ben") as one, cast.socket("ben") as two:
        for socket in (one, two):
            await socket.next("unread.snapshot")
        for n in range(5):
            await in_thread(cast.post, "ann", channel)
            await (one if n % 2 else two).say(type="unread.resync")
        for socket in (one, two):
            while shown(socket, channel) != 5:
                await socket.next()
