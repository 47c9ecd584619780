"""Whoever watches a conversation sees a card as it stands."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from conversations.actions.sweeping import sweep_cards
from conversations.delivery.memory import InProcessBridge
from conversations.ownership import current_owner
from tests.cast import Cast
from tests.conversations.delivery.stage import Stage
from tests.listening import listening
from tests.server import running_server
from tests.world import World

from .desk import answering, asked, row, run_out, stage


@pytest.fixture
def world() -> World:
    return stage()


def shown(page: Any, question: str) -> dict[str, Any]:
    found: dict[str, Any] = page.models[question]["blocks"][0]
    return found


def test_an_end_is_a_fresh_start(world: World) -> None:
    with Stage(world, InProcessBridge()) as live:
        page = live.watch("ann", "c")
        question = asked(world)
        live.settle()
        assert shown(page, question)["status"] == "pending"
        answered = answering(world, "ben", question, value="b").ok()
        live.settle()
        assert (shown(page, question)["status"], shown(page, question)["value"]) == ("success", "b")
        assert page.seq[question] == 1
        assert page.starts == {question: 2, answered["reply"]["id"]: 1}
        live.later(5)
        assert page.starts[question] == 2


def test_a_timeout_is_seen_by_who_was_away(world: World) -> None:
    with Stage(world, InProcessBridge()) as live:
        page = live.watch("ann", "c")
        question = asked(world)
        live.settle()
        since = page.leave()
        run_out(question)
        sweep_cards(current_owner())
        back = live.watch("ann", "c", since)
        assert shown(back, question)["status"] == "timeout"
        assert row(question).revision == 1


@pytest.mark.server
async def test_sockets_and_streams_of_a_server() -> None:
    with running_server() as server:
        cast = await asyncio.to_thread(Cast, server, "ann", "ben")
        place = await asyncio.to_thread(cast.channel, "ann", "ben")
        body = {
            "actor": {"kind": "user", "key": f"ann-{cast.tag}"},
            "effect_key": "e",
            "kind": "confirm",
            "title": "Go?",
            "prompt": "",
        }
        async with cast.socket("ben") as socket, listening(server, cast.token["ben"], place) as stream:
            await socket.next("hello")
            path = f"/conversations/{place}/human"
            question = await asyncio.to_thread(cast.call, "ann", "POST", path, {**body, "timeout_s": 600})
            await stream.until(lambda: question["id"] in stream.models)
            answer = {"reply_to_id": question["id"], "outcome": "success", "value": "accepted"}
            await asyncio.to_thread(cast.call, "ben", "POST", f"/conversations/{place}/replies", answer)
            await stream.until(lambda: shown(stream, question["id"])["status"] == "success")
            updated = await socket.next("message.updated")
            assert updated["content"]["blocks"][0]["value"] == "accepted"
            brief = {**body, "effect_key": "brief", "timeout_s": 0.2}
            second = await asyncio.to_thread(cast.call, "ann", "POST", path, brief)
            updated = await socket.next("message.updated")
            assert updated["id"] == second["id"]
            assert updated["content"]["blocks"][0]["status"] == "timeout"
            await stream.until(
                lambda: second["id"] in stream.models and shown(stream, second["id"])["status"] == "timeout"
            )
