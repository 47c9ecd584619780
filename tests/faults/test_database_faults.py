"""The database stops, dies, hangs or is slow under a running server: what was acknowledged is there, and exact."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.faults.stage import Company, Stage, meanwhile
from tests.faults.statements import StatementProxy
from tests.faults.test_kill_points import SNAPSHOTS
from tests.server import Server, wait_until

pytestmark = [pytest.mark.server, pytest.mark.own_database]

GONE_FLUSHES = 3


@contextmanager
def writing(company: Company, writers: int = 3) -> Iterator[None]:
    """Everybody keeps sending under keys of their own, and sends again what was not acknowledged."""
    over = threading.Event()

    def send(writer: int) -> None:
        n = 0
        while not over.is_set():
            channel = company.channels[n % len(company.channels)]
            answer = company.send("ann", channel, f"{writer}-{n}")
            if answer is not None and answer.status in (200, 201):
                n += 1
            else:
                assert answer is None or answer.status == 503, answer

    failures: list[BaseException] = []

    def guarded(writer: int) -> None:
        try:
            send(writer)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=guarded, args=(writer,)) for writer in range(writers)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        over.set()
        for thread in threads:
            thread.join(60)
    assert failures == []
    assert not any(thread.is_alive() for thread in threads)


@pytest.mark.parametrize("how", ["stopped", "killed"])
def test_the_database_goes_and_comes_back(stage: Stage, how: str) -> None:
    with stage.serving() as (server, _):
        company = stage.company(server, channels=2)
        with writing(company):
            wait_until(lambda: len(company.acknowledged) >= 20, 30)
            if how == "stopped":
                stage.database.stop()
            else:
                stage.database.kill()
            gone = company.ask("ben", "GET", f"/workspaces/{company.workspace}/unread")
            assert (gone.status, gone.value["error"]["type"]) == (503, "unavailable")
            assert server.call(None, "GET", "//healthz").status == 200
            wait_until(lambda: server._readyz() == 503, 20)
            stage.database.start()
            before = len(company.acknowledged)
            wait_until(lambda: len(company.acknowledged) >= before + 20, 30)
        wait_until(lambda: server._readyz() == 200, 20)
        assert company.lost() == []
        assert company.errors(ready=False) == []
        company.flushed()
        company.comes_right()
        assert server.stop() == 0
        server.start()
        assert company.errors(ready=False) == []
        wait_until(lambda: company.settled("ben")["counts"][company.channels[0]]["mentions"] == 1, 10)


async def test_sockets_live_through_a_database_that_hangs(stage: Stage) -> None:
    with stage.serving(LOOPD_HEARTBEAT="300ms", LOOPD_LEASE_TTL="1s") as (server, proxy):
        company = await asyncio.to_thread(stage.company, server)
        [channel] = company.channels
        await asyncio.to_thread(company.send, "ann", channel, "before")
        async with company.socket("ben") as ben:
            await ben.next("unread.snapshot")
            proxy.freeze()
            sending = asyncio.create_task(asyncio.to_thread(company.send, "ann", channel, "hangs"))
            for _ in range(12):  # three times as long as the lease lives
                await ben.next("heartbeat")
            assert server.call(None, "GET", "//healthz").status == 200
            assert not sending.done()
            proxy.thaw()
            answer = await sending
            assert answer is not None
            if answer.status != 201:
                await asyncio.to_thread(company.send, "ann", channel, "hangs")
            await ben.next("message.created")
            await asyncio.to_thread(company.comes_right)


def test_a_flush_that_takes_long_delays_nobody(stage: Stage) -> None:
    """Its statement hangs in the database while messages, reads, new rows and renewals go on."""
    with stage.serving(LOOPD_LEASE_TTL="2s") as (server, proxy):
        company = stage.company(server, channels=2)
        first, second = company.channels
        company.send("ann", first, "before")
        company.flushed()
        hold = proxy.hold(f"insert into {SNAPSHOTS}")
        company.send("ann", first, "dirty")
        assert hold.reached.wait(20)
        for n in range(5):
            sent = company.send("ann", second, f"meanwhile-{n}", mentions=[company.member["ben"]])
            assert sent is not None
            assert sent.status == 201
            company.read("cat", second)
        assert company.errors(ready=True) == []
        assert not hold._released.is_set()
        hold.release()
        company.flushed()
        company.comes_right()


def test_a_slow_database_is_only_slow(stage: Stage) -> None:
    with stage.serving() as (server, proxy):
        company = stage.company(server, channels=2)
        for pattern in (f"insert into {SNAPSHOTS}", f"from {SNAPSHOTS}", "scope_memberships m", "commit"):
            proxy.slow(pattern, 0.05)
        with writing(company):
            wait_until(lambda: len(company.acknowledged) >= 30, 60)
            company.read("ben", company.channels[0])
        assert company.errors(ready=True) == []
        company.flushed()
        server.kill()
        server.start()
        assert company.errors(ready=False) == []
        company.comes_right()


def test_a_commit_whose_answer_is_lost_is_repaired_by_the_retry(stage: Stage) -> None:
    """The sender is told to try again; the message is there once, and then it is counted."""
    with stage.serving() as (server, proxy):
        company = stage.company(server)
        [channel] = company.channels
        company.send("ann", channel, "before")
        hold = proxy.hold("insert into `messages`", "commit", answer=True)
        with meanwhile(lambda: company.send("ann", channel, "held")) as answers:
            assert hold.reached.wait(20)
            hold.drop()
        assert answers[0].status == 503
        again = company.send("ann", channel, "held")
        assert again is not None
        assert again.status == 200
        assert company.errors(ready=True) == []
        company.comes_right()


@pytest.fixture(scope="module")
def doubting(stage: Stage) -> Iterator[tuple[Server, StatementProxy]]:
    """One server for all doubts; each is in a company of its own."""
    with stage.serving() as serving:
        yield serving


DOUBTED = {
    "message": ("ann", "POST", "/conversations/{channel}/messages", {"text": "in doubt"}, "insert into `messages`"),
    "read": ("ben", "PUT", "/conversations/{channel}/read", {}, "update `scope_memberships`"),
    "mark unread": ("ben", "PUT", "/conversations/{channel}/unread", {}, "conversation_member_states"),
    "level": ("ben", "PUT", "/conversations/{channel}/notifications", {"level": "none"}, "scope_notification_settings"),
    "leave": ("ben", "DELETE", "/conversations/{channel}/members/{ben}", None, "update `scope_memberships`"),
    "delete": ("ann", "DELETE", "/messages/{message}", None, "delete from `messages`"),
    "archive": ("ann", "POST", "/conversations/{channel}/archive", {}, "update `scopes`"),
}


@pytest.mark.parametrize("committed", [True, False], ids=["committed", "rolled back"])
@pytest.mark.parametrize("name", DOUBTED)
def test_nothing_wrong_is_called_ready_after_a_commit_that_nobody_knows_of(
    stage: Stage, doubting: tuple[Server, StatementProxy], name: str, committed: bool
) -> None:
    """The connection breaks around COMMIT, and nobody tries again: the scope is read anew, and that tells."""
    who, method, path, body, statement = DOUBTED[name]
    server, proxy = doubting
    company = stage.company(server)
    [channel] = company.channels
    first = company.send("ann", channel, "first")
    company.send("ann", channel, "second", mentions=[company.member["ben"]])
    assert first is not None
    wait_until(lambda: not company.errors(ready=True), 10, lambda: company.errors(ready=True))
    path = path.format(channel=channel, ben=company.member["ben"], message=first.value["id"])
    hold = proxy.hold(statement, "commit", answer=committed)
    before = company.truth()
    with meanwhile(lambda: company.ask(who, method, path, body)) as answers:
        assert hold.reached.wait(20)
        hold.drop()
    assert answers[0].status == 503
    wait_until(lambda: (company.truth() != before) == committed, 10)
    wait_until(lambda: not company.errors(ready=not committed), 20, lambda: company.errors(ready=not committed))
    if name in ("message", "read", "leave", "delete"):
        again = company.ask(who, method, path, body)
        assert again.status < 300 or (committed and again.status == 404)
    wait_until(lambda: not company.errors(ready=False), 20, lambda: company.errors(ready=False))
