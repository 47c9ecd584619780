"""SIGKILL between any two steps: what was acknowledged is there once, and no wrong badge is called exact."""

from __future__ import annotations

import time
from typing import Any

import pytest

from tests.faults.stage import Company, Stage, meanwhile
from tests.faults.statements import Hold
from tests.server import Server, wait_until

pytestmark = [pytest.mark.server, pytest.mark.own_database]

SNAPSHOTS = "member_scope_unread_runtime_snapshots"
NEVER = {"LOOPD_UNREAD_RUNTIME_SNAPSHOT_FLUSH_INTERVAL": "1h"}
REACHED_S = 20


def kill_at(server: Server, hold: Hold) -> None:
    assert hold.reached.wait(REACHED_S), server.log[-3000:]
    server.kill()
    hold.drop()


@pytest.mark.parametrize("flushes", [True, False], ids=["flushed before", "never flushed"])
def test_between_the_commit_of_a_message_and_its_hook(stage: Stage, flushes: bool) -> None:
    with stage.serving(**({} if flushes else NEVER)) as (server, proxy):
        company = stage.company(server)
        [channel] = company.channels
        for n in range(3):
            company.send("ann", channel, f"before-{n}")
        if flushes:
            company.flushed()
        hold = proxy.hold("insert into `messages`", "commit", answer=True)
        with meanwhile(lambda: company.send("ann", channel, "held")) as answers:
            kill_at(server, hold)
        assert answers == [None]
        server.start()
        assert company.errors(ready=False) == []
        again = company.send("ann", channel, "held")
        assert again is not None
        assert again.status == 200  # it was stored, once
        wait_until(lambda: not flushes or shown(company, "ben")["messages"] == 4, 10)
        company.comes_right()


def test_before_the_commit_of_a_message(stage: Stage) -> None:
    with stage.serving() as (server, proxy):
        company = stage.company(server)
        [channel] = company.channels
        company.send("ann", channel, "before")
        company.flushed()
        hold = proxy.hold("insert into `messages`", "commit")
        with meanwhile(lambda: company.send("ann", channel, "held")) as answers:
            kill_at(server, hold)
        assert answers == [None]
        server.start()
        again = company.send("ann", channel, "held")
        assert again is not None
        assert (again.status, again.value["seq"]) == (201, 2)
        company.comes_right()


@pytest.mark.parametrize("written", [False, True], ids=["before it is written", "before that is known"])
def test_in_the_middle_of_a_flush(stage: Stage, written: bool) -> None:
    with stage.serving() as (server, proxy):
        company = stage.company(server, channels=2)
        first, second = company.channels
        for n in range(3):
            company.send("ann", first, f"before-{n}", mentions=[company.member["ben"]])
        company.flushed()
        hold = proxy.hold(f"insert into {SNAPSHOTS}", answer=written)
        with meanwhile(lambda: [company.send("ann", second, f"held-{n}") for n in range(3)]):
            kill_at(server, hold)
        wait_until(lambda: running_statements(stage) == 0, 20)
        versions = stage.run(
            f"SELECT MAX(latest_message_accounted_seq) FROM {SNAPSHOTS} WHERE scope_id = %s", [key(second)]
        )
        assert bool(versions[0][0]) == written
        server.start()
        assert company.errors(ready=False) == []
        assert shown(company, "ben")["mentions"] == 3
        company.comes_right()


@pytest.mark.parametrize("answer", [False, True], ids=["before the rows", "after the rows"])
def test_in_the_middle_of_a_hydrate(stage: Stage, answer: bool) -> None:
    with stage.serving() as (server, proxy):
        company = stage.company(server)
        [channel] = company.channels
        company.send("ann", channel, "before")
        company.flushed()
        server.kill()
        server.start()
        hold = proxy.hold(f"from {SNAPSHOTS} r join scopes", answer=answer)
        assert company.unread("ben")["state"] == "hydrating"
        company.send("ann", channel, "meanwhile")
        kill_at(server, hold)
        server.start()
        assert company.errors(ready=False) == []
        company.comes_right()


@pytest.mark.parametrize("answer", [False, True], ids=["before the page", "after the page"])
def test_in_the_middle_of_a_warm_job(stage: Stage, answer: bool) -> None:
    with stage.serving() as (server, proxy):
        company = stage.company(server)
        [channel] = company.channels
        company.send("ann", channel, "before")
        company.flushed()
        server.kill()
        server.start()
        hold = proxy.hold("from scope_memberships m", answer=answer)
        company.send("ann", channel, "warms")
        company.read("ben", channel)
        kill_at(server, hold)
        server.start()
        assert company.errors(ready=False) == []
        company.comes_right()


def test_between_the_commit_of_a_read_and_its_hook(stage: Stage) -> None:
    """What was read does not come back: the first page says so by what it reads for itself."""
    with stage.serving() as (server, proxy):
        company = stage.company(server)
        [channel] = company.channels
        company.send("ann", channel, "before")
        company.flushed()
        hold = proxy.hold("update `scope_memberships` set `last_read_seq`", "commit", answer=True)
        with meanwhile(lambda: company.try_to("ben", "PUT", f"/conversations/{channel}/read", {})):
            kill_at(server, hold)
        server.start()
        assert company.errors(ready=False) == []
        unread = company.call("ben", "GET", f"/workspaces/{company.workspace}/bootstrap")["unread"]
        assert unread["has_unread"] is False
        company.comes_right()


def test_between_the_commit_of_a_leave_and_its_hook(stage: Stage) -> None:
    """A conversation that was left is not shown again."""
    with stage.serving() as (server, proxy):
        company = stage.company(server, channels=2)
        left, kept = company.channels
        for channel in company.channels:
            company.send("ann", channel, f"before-{channel}")
        company.flushed()
        hold = proxy.hold("update `scope_memberships` set `status`", "commit", answer=True)
        path = f"/conversations/{left}/members/{company.member['ben']}"
        with meanwhile(lambda: company.try_to("ben", "DELETE", path)):
            kill_at(server, hold)
        server.start()
        company.settled("ben")
        bootstrap = company.call("ben", "GET", f"/workspaces/{company.workspace}/bootstrap")
        assert [row["id"] for row in bootstrap["conversations"]] == [kept]
        assert list(bootstrap["unread"]["counts"]) == [kept]
        assert company.errors(ready=False) == []
        company.read("cat", left)
        company.channels.remove(left)
        company.comes_right()


def shown(company: Company, who: str) -> Any:
    entries = company.settled(who)["counts"]
    return entries.get(company.channels[0], {"messages": 0, "mentions": 0})


def key(identity: str) -> str:
    return identity.replace("-", "")


def running_statements(stage: Stage) -> int:
    """Open transactions: those of a killed process end when the database notices, which InnoDB shows after a rest."""
    time.sleep(0.15)
    found: int = stage.run("SELECT COUNT(*) FROM information_schema.innodb_trx")[0][0]
    return found
