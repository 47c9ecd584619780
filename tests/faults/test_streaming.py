"""Streams through what goes wrong: the page ends with the database's text, no token lost or doubled.

Every page here fails at once on an event that is not the next one (`pages.Page`).
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Iterator
from http.client import HTTPException
from typing import Any
from uuid import UUID

import pytest

from conversations.delivery.redis_streams import stream_key
from tests.cast import Cast
from tests.conversations.delivery.redis_server import RedisServer
from tests.conversations.streams.answers import begin, end, more
from tests.faults.stage import Stage, meanwhile
from tests.listening import Listener, StreamEnded, listening
from tests.server import Answer, Server, running_server, wait_until

pytestmark = pytest.mark.server

PATIENCE_S = 60.0


class Writer:
    """An agent that says the same event again until it is answered."""

    def __init__(self, cast: Cast, channel: str, who: str = "bot") -> None:
        self.cast, self.who, self.seq, self.retries = cast, who, 0, 0
        body = {"text": "", "stream": True, "key": f"answer-{time.monotonic_ns()}"}
        self.id: str = self._insist(f"/conversations/{channel}/messages", body, (200, 201)).value["id"]

    def say(self, text: str) -> None:
        for letter in text:
            self.seq += 1
            self.emit(begin(1, "a", letter) if self.seq == 1 else more(self.seq, letter))

    def finish(self) -> None:
        self.seq += 1
        self.emit(end(self.seq))

    def emit(self, event: dict[str, Any]) -> None:
        answer = self._insist(f"/messages/{self.id}/events", {"event": event}, (202,))
        assert answer.value["revision"] == event["seq"]

    def stored(self) -> tuple[str, str, int]:
        """Text, status and revision as the server has them."""
        message = self.cast.call(self.who, "GET", f"/messages/{self.id}")
        text = "".join(block["content"] for block in message["content"]["blocks"])
        return text, message["status"], message["revision"]

    def _insist(self, path: str, body: Any, wanted: tuple[int, ...]) -> Answer:
        deadline = time.monotonic() + PATIENCE_S
        while True:
            try:
                answer = self.cast.ask(self.who, "POST", path, body)
            except (OSError, HTTPException, ValueError):
                answer = None
            if answer is not None and answer.status in wanted:
                return answer
            refused = answer is not None and answer.status < 500 and answer.status != 421
            assert not refused, answer
            assert time.monotonic() < deadline, "nobody answers"
            self.retries += 1
            time.sleep(0.05)


@pytest.fixture(scope="module")
def redis() -> Iterator[RedisServer]:
    server = RedisServer()
    try:
        server.start()
        yield server
    finally:
        server.remove()


@pytest.fixture(scope="module")
def redis_site(redis: RedisServer) -> Iterator[Cast]:
    with running_server(REDIS_URL=redis.url) as server:
        yield Cast(server, "ann", "bot")


def kill_and_start(redis: RedisServer, writing: Callable[[], None]) -> None:
    redis.kill()
    writing()
    redis.start()


def trim(redis: RedisServer, stream: str) -> None:
    redis.client.xtrim(stream_key(UUID(stream)), maxlen=0, approximate=False)


BLOWS: dict[str, Callable[[RedisServer, Writer], None]] = {
    "flushed": lambda redis, writer: redis.client.flushall(),
    "trimmed": lambda redis, writer: trim(redis, writer.id),
    "killed and back": lambda redis, writer: kill_and_start(redis, lambda: writer.say("while it was down ")),
    "readers thrown out": lambda redis, writer: redis.client.client_kill_filter(_type="normal", skipme=True),
}


@pytest.mark.redis
@pytest.mark.parametrize("blow", BLOWS)
async def test_redis_fails_under_an_open_page(redis: RedisServer, redis_site: Cast, blow: str) -> None:
    cast = redis_site
    channel = await asyncio.to_thread(cast.channel, "ann", "bot")
    async with listening(cast.server, cast.token["ann"], channel) as page:
        writer = await asyncio.to_thread(Writer, cast, channel)
        await asyncio.to_thread(writer.say, "before ")
        await page.until(lambda: page.seq.get(writer.id) == writer.seq)
        await asyncio.to_thread(BLOWS[blow], redis, writer)
        await asyncio.to_thread(writer.say, "after ")
        await page.until(lambda: page.seq.get(writer.id) == writer.seq)
        await asyncio.to_thread(writer.finish)
        await page.until(lambda: writer.id in page.ended)
        text, status, revision = await asyncio.to_thread(writer.stored)
        assert (page.text(writer.id), page.ended[writer.id], page.seq[writer.id]) == (text, status, revision)
        assert text.startswith("before ")
        assert text.endswith("after ")
        assert writer.retries == 0, "a writer notices nothing of Redis"


@pytest.mark.redis
async def test_pages_follow_while_redis_is_gone_and_readiness_says_so(redis: RedisServer, redis_site: Cast) -> None:
    cast = redis_site
    channel = await asyncio.to_thread(cast.channel, "ann", "bot")
    async with listening(cast.server, cast.token["ann"], channel) as page:
        writer = await asyncio.to_thread(Writer, cast, channel)
        await page.until(lambda: writer.id in page.models)
        redis.kill()
        try:
            await asyncio.to_thread(writer.say, "from the database")
            await page.until(lambda: page.seq.get(writer.id) == writer.seq)
            ready = await asyncio.to_thread(cast.server.call, None, "GET", "//readyz")
            assert (ready.status, list(ready.value["problems"])) == (503, ["bridge"])
            await asyncio.to_thread(writer.finish)
            await page.until(lambda: writer.id in page.ended)
            assert page.text(writer.id) == "from the database"
        finally:
            redis.start()
    await asyncio.to_thread(wait_until, lambda: cast.server._readyz() == 200, 20)


async def follow(server: Server, token: str, channel: str, page: Listener | None, done: Callable[[Any], bool]) -> Any:
    """Read on a stream to its break or until `done`, coming back with the last id: as a browser does."""
    since = page.last_id if page is not None else ""
    async with listening(server, token, channel, since=since) as fresh:
        if page is not None:
            fresh.models, fresh.seq, fresh.ended = page.models, page.seq, page.ended
        with contextlib.suppress(StreamEnded, ConnectionError, asyncio.IncompleteReadError):
            await fresh.until(lambda: done(fresh))
        return fresh


@pytest.mark.parametrize("with_redis", [False, pytest.param(True, marks=pytest.mark.redis)], ids=["", "redis"])
async def test_the_server_is_killed_in_mid_stream(with_redis: bool, request: pytest.FixtureRequest) -> None:
    more_settings = {"REDIS_URL": request.getfixturevalue("redis").url} if with_redis else {}
    with running_server(**more_settings) as server:
        cast = await asyncio.to_thread(Cast, server, "ann", "bot")
        channel = await asyncio.to_thread(cast.channel, "ann", "bot")
        writer = await asyncio.to_thread(Writer, cast, channel)
        text = "a long answer that goes on through three deaths of its server "

        def write() -> None:
            for _ in range(3):
                writer.say(text)
            writer.finish()

        writing = asyncio.create_task(asyncio.to_thread(write))
        page = None
        for death in range(3):
            at = (death + 1) * len(text) * 3 // 5
            page = await follow(
                server, cast.token["ann"], channel, page, lambda page, at=at: page.seq.get(writer.id, 0) >= at
            )
            assert page.seq[writer.id] >= at
            await asyncio.to_thread(server.kill)
            await asyncio.to_thread(server.start)
        page = await follow(server, cast.token["ann"], channel, page, lambda page: writer.id in page.ended)
        await writing
        assert writer.retries > 0
        assert (page.text(writer.id), page.ended[writer.id]) == (text * 3, "completed")
        assert await asyncio.to_thread(writer.stored) == (text * 3, "completed", len(text) * 3 + 1)


POINTS = {
    "before the commit": (("update `messages`", "commit"), False),
    "between the commit and its answer": (("update `messages`", "commit"), True),
    "before the write": (("update `messages`",), False),
}


@pytest.mark.mariadb
@pytest.mark.parametrize("point", POINTS)
async def test_the_server_is_killed_in_an_emit(stage: Stage, point: str) -> None:
    patterns, answer = POINTS[point]
    with stage.serving() as (server, proxy):
        company = await asyncio.to_thread(stage.company, server)
        [channel] = company.channels
        writer = await asyncio.to_thread(Writer, company, channel, "ann")
        await asyncio.to_thread(writer.say, "before ")
        page = await follow(
            server, company.token["ben"], channel, None, lambda page: page.seq.get(writer.id) == writer.seq
        )
        hold = proxy.hold(*patterns, answer=answer)

        def write() -> bool:
            writer.say("after")
            writer.finish()
            return True

        with meanwhile(write) as written:
            assert await asyncio.to_thread(hold.reached.wait, 20), server.log[-2000:]
            await asyncio.to_thread(server.kill)
            hold.drop()
            await asyncio.to_thread(server.start)
            page = await follow(server, company.token["ben"], channel, page, lambda page: writer.id in page.ended)
        assert written == [True]
        assert writer.retries > 0
        assert page.text(writer.id) == "before after"
        assert await asyncio.to_thread(writer.stored) == ("before after", "completed", 13)
        marked = stage.run("SELECT COUNT(*) FROM messages WHERE dispatch_pending")
        assert marked[0][0] == 0
