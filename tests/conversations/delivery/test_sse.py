"""The stream as real servers serve it: logins, refusals, headers, many that are idle, some that never read."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cast import Cast
from tests.conversations.streams.answers import begin, end, more
from tests.listening import listening
from tests.server import Server, free_port, running_server, wait_until

pytestmark = pytest.mark.server

UVICORN = ["-m", "uvicorn", "loopd.asgi:application", "--log-level", "warning", "--timeout-graceful-shutdown", "3"]


@pytest.fixture(scope="module", params=["daphne", "uvicorn"])
def server(request: pytest.FixtureRequest) -> Iterator[Server]:
    if request.param == "daphne":
        with running_server() as running:
            yield running
        return
    port = free_port()
    with running_server(start=False, command=[sys.executable, *UVICORN, "--port", str(port)]) as running:
        running.port = port
        running.start()
        yield running


@pytest.fixture(scope="module")
def cast(server: Server) -> Cast:
    return Cast(server, "ann", "ben", "bot", strangers=("sue",))


@pytest.fixture
def channel(cast: Cast) -> str:
    return cast.channel("ann", "ben", "bot")


class Answer:
    """An open message of the bot, written over HTTP from a thread."""

    def __init__(self, cast: Cast, channel: str) -> None:
        body = {"text": "", "stream": True}
        self.id: str = cast.call("bot", "POST", f"/conversations/{channel}/messages", body)["id"]
        self._cast = cast
        self.seq = 0

    def emit(self, *events: Any) -> None:
        for make in events:
            self.seq += 1
            event = make(self.seq)
            self._cast.call("bot", "POST", f"/messages/{self.id}/events", {"event": event})

    def say(self, text: str) -> None:
        """One event for each letter."""
        self.emit(
            *[lambda seq, letter=letter: more(seq, letter) if seq > 1 else begin(1, "a", letter) for letter in text]
        )


async def test_an_answer_is_followed_to_its_end(server: Server, cast: Cast, channel: str) -> None:
    async with (
        listening(server, cast.token["ann"], channel) as ann,
        listening(server, cast.token["ben"], channel) as ben,
    ):
        answer = await asyncio.to_thread(Answer, cast, channel)
        await ann.until(lambda: answer.id in ann.models)
        await asyncio.to_thread(answer.say, "Hello")
        async with listening(server, cast.token["ann"], channel) as late:
            await late.until(lambda: answer.id in late.models)
            await asyncio.to_thread(answer.say, ", you")
            await asyncio.to_thread(answer.emit, end)
            for page in (ann, ben, late):
                await page.until(lambda page=page: answer.id in page.ended)
                assert (page.text(answer.id), page.ended[answer.id]) == ("Hello, you", "completed")
    assert late.last_id.isdigit()


async def test_the_headers_keep_proxies_from_holding_it_up(server: Server, cast: Cast, channel: str) -> None:
    async with listening(server, cast.token["ann"], channel) as page:
        assert page.status == 200
        assert page.headers["content-type"] == "text/event-stream"
        assert page.headers["cache-control"] == "no-cache, no-transform"
        assert page.headers["x-accel-buffering"] == "no"
        await page.until(lambda: page.last_id)


async def test_a_browser_logs_in_by_its_session(server: Server, cast: Cast, channel: str) -> None:
    name = f"ann-{cast.tag}"
    script = (
        "from django.contrib.auth import get_user_model, SESSION_KEY, BACKEND_SESSION_KEY, HASH_SESSION_KEY;"
        "from django.contrib.sessions.backends.db import SessionStore;"
        f"u = get_user_model().objects.get(username={name!r}); u.set_password('x' * 20); u.save(); s = SessionStore();"
        "s[SESSION_KEY] = str(u.pk); s[BACKEND_SESSION_KEY] = 'django.contrib.auth.backends.ModelBackend';"
        "s[HASH_SESSION_KEY] = u.get_session_auth_hash(); s.save(); print(s.session_key)"
    )
    key = (await asyncio.to_thread(server.manage, "shell", "-v", "0", "-c", script)).split()[-1]
    async with listening(server, None, channel, Cookie=f"sessionid={key}") as page:
        assert page.status == 200
        said = await asyncio.to_thread(cast.post, "ben", channel, "hi")
        await page.until(lambda: said["id"] in page.models)
    async with listening(server, None, channel, Cookie="sessionid=nonsense") as page:
        assert page.status == 401


def test_refusals_have_the_one_shape(server: Server, cast: Cast, channel: str) -> None:
    private = cast.channel("ann", private=True)
    path = f"/conversations/{channel}/stream"
    sse = {"Accept": "text/event-stream"}
    refused = [
        (server.call(None, "GET", path, headers=sse), 401, "unauthenticated"),
        (server.call("wrong", "GET", path, headers=sse), 401, "unauthenticated"),
        (server.call(None, "GET", path, headers={"Authorization": "Basic x"}), 401, "unauthenticated"),
        (server.call(cast.token["sue"], "GET", path, headers=sse), 404, "not_found"),
        (server.call(cast.token["ben"], "GET", f"/conversations/{private}/stream", headers=sse), 404, "not_found"),
        (server.call(cast.token["ann"], "GET", f"/conversations/{'0' * 36}/stream"), 400, "invalid_request"),
        (server.call(cast.token["ann"], "GET", path, headers={"Last-Event-ID": "x"}), 400, "invalid_request"),
        (server.call(cast.token["ann"], "GET", path, headers={"Last-Event-ID": "9" * 16}), 400, "invalid_request"),
        (server.call(cast.token["ann"], "POST", path), 405, "invalid_request"),
        (server.call(cast.token["ann"], "HEAD", path), 405, None),
    ]
    for answer, status, kind in refused:
        assert answer.status == status, answer
        if kind:
            assert answer.value["error"]["type"] == kind
            assert set(answer.value["error"]) == {"type", "message", "fields"}


async def test_whoever_is_removed_is_cut_off(server: Server, cast: Cast) -> None:
    private = await asyncio.to_thread(lambda: cast.channel("ann", "ben", private=True))
    async with (
        listening(server, cast.token["ben"], private) as ben,
        listening(server, cast.token["ann"], private) as ann,
    ):
        await ben.until(lambda: ben.last_id)
        await asyncio.to_thread(cast.call, "ann", "DELETE", f"/conversations/{private}/members/{cast.member['ben']}")
        said = await asyncio.to_thread(cast.post, "ann", private, "between us")
        assert await ben.closed()
        await ann.until(lambda: said["id"] in ann.models)
    assert ben.models == {}


async def test_coming_back_resumes(server: Server, cast: Cast, channel: str) -> None:
    async with listening(server, cast.token["ann"], channel) as page:
        answer = await asyncio.to_thread(Answer, cast, channel)
        await asyncio.to_thread(answer.say, "Hel")
        await page.until(lambda: page.seq.get(answer.id) == 3)
        where = page.last_id
    await asyncio.to_thread(answer.say, "lo")
    await asyncio.to_thread(answer.emit, end)
    async with listening(server, cast.token["ann"], channel, since=where) as back:
        await back.until(lambda: answer.id in back.ended)
        assert back.text(answer.id) == "Hello"


async def test_three_hundred_idle_streams_take_no_thread_and_no_handle(
    server: Server, cast: Cast, channel: str
) -> None:
    def used() -> tuple[int, int]:
        """Threads, and open files of the database (or connections to it)."""
        assert server.process is not None
        home = Path(f"/proc/{server.process.pid}")
        files = 0
        for each in (home / "fd").iterdir():
            with contextlib.suppress(OSError):
                target = each.readlink()
                files += "sqlite3" in target.name
        return len(list((home / "task").iterdir())), files

    async with contextlib.AsyncExitStack() as stack:
        # The request pool makes its threads, each with a connection, as they are needed.
        for _ in range(4):
            await asyncio.gather(
                *[asyncio.to_thread(cast.call, "ann", "GET", f"/conversations/{channel}") for _ in range(16)]
            )
        before = used()
        pages = []
        for _ in range(300):
            pages.append(await stack.enter_async_context(listening(server, cast.token["ann"], channel)))
        assert {page.status for page in pages} == {200}
        after = used()
        assert after[0] <= before[0] + 8, (before, after)
        assert after[1] <= before[1] + 3 * 8, (before, after)
        said = await asyncio.to_thread(cast.post, "ben", channel, "to all")
        await asyncio.gather(*[page.until(lambda page=page: said["id"] in page.models) for page in pages])
        assert used()[0] <= before[0] + 8


def test_clients_that_never_read_cost_little(server: Server, cast: Cast, channel: str) -> None:
    """Each could be owed 20 MB; the memory of the server grows by less than 8 MB for each."""
    clients, events, size = 10, 400, 50_000

    def burst() -> None:
        answer = Answer(cast, channel)
        for at in range(events):
            answer.emit(lambda seq, at=at: begin(seq, "a", f"{at:05}" + "x" * size))
        answer.emit(end)

    burst()  # what the bridge keeps is paid for
    before = _resident_bytes(server)
    with contextlib.ExitStack() as stack:
        for _ in range(clients):
            deaf = stack.enter_context(socket.socket())
            deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            deaf.connect(("127.0.0.1", server.port))
            request = f"GET /v1/conversations/{channel}/stream HTTP/1.1\r\nHost: localhost\r\n"
            deaf.sendall(f"{request}Authorization: Bearer {cast.token['ann']}\r\n\r\n".encode())
        wait_until(lambda: _open_streams(server, cast) == clients, 20)
        burst()
        grown = _resident_bytes(server) - before
        assert _open_streams(server, cast) == clients
    assert grown / clients < 8 * 1024 * 1024, f"{grown / 1e6:.1f} MB for {clients}"
    wait_until(lambda: _open_streams(server, cast) == 0, 20)


def _open_streams(server: Server, cast: Cast) -> float:
    text = str(server.call(cast.token["ann"], "GET", "//metrics").value)
    return float(next(line for line in text.splitlines() if line.startswith("loopd_streams_open ")).split()[1])


def _resident_bytes(server: Server) -> int:
    assert server.process is not None
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1]) * 1024


async def test_a_stop_ends_the_streams(server: Server, cast: Cast, channel: str) -> None:
    async with listening(server, cast.token["ann"], channel) as page:
        await page.until(lambda: page.last_id)
        stopping = asyncio.create_task(asyncio.to_thread(server.stop))
        clean = await page.closed()
        await stopping
        assert clean or "uvicorn" in server.command
    await asyncio.to_thread(server.start)
    assert json.dumps(server.call(None, "GET", "//readyz").value)
