"""A workspace has one owner: a second process is refused, and one that was taken over writes nothing any more."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator

import pytest

from tests.faults.stage import Company, Stage, meanwhile
from tests.faults.test_kill_points import SNAPSHOTS, key
from tests.server import Server, wait_until

pytestmark = [pytest.mark.server, pytest.mark.own_database]

SHORT = {"LOOPD_LEASE_TTL": "1s"}


@contextlib.contextmanager
def stopped(server: Server) -> Iterator[None]:
    """The process does nothing, and does not know it."""
    assert server.process is not None
    server.process.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        server.process.send_signal(signal.SIGCONT)


def taken_over(company: Company, server: Server) -> None:
    """The company speaks to this server from here on, once that has the lease."""
    company.server = server
    wait_until(lambda: company.ask("ann", "GET", f"/workspaces/{company.workspace}/unread").status == 200, 20)


def epochs(stage: Stage, company: Company) -> set[int]:
    rows = stage.run(f"SELECT DISTINCT owner_epoch FROM {SNAPSHOTS} WHERE workspace_id = %s", [key(company.workspace)])
    return {row[0] for row in rows}


def lease(stage: Stage, company: Company) -> int:
    sql = "SELECT epoch FROM resource_locks WHERE resource = %s"
    [(epoch,)] = stage.run(sql, [f"workspace-owner/{company.workspace}".encode()])
    return int(epoch)


def test_the_second_of_two_is_refused_in_everything(stage: Stage) -> None:
    with stage.serving(**SHORT) as (first, _), stage.serving(start=False, **SHORT) as (second, _):
        company = stage.company(first)
        [channel] = company.channels
        company.send("ann", channel, "here")
        second.start(until_ready=False)
        for method, path, body in (
            ("POST", f"/conversations/{channel}/messages", {"text": "elsewhere"}),
            ("PUT", f"/conversations/{channel}/read", {}),
            ("GET", f"/conversations/{channel}/messages", None),
            ("GET", f"/workspaces/{company.workspace}/unread", None),
            ("GET", f"/workspaces/{company.workspace}/bootstrap", None),
        ):
            refused = second.call(company.token["ben"], method, path, body)
            assert (refused.status, refused.value["error"]["type"]) == (421, "misdirected"), path
        listed = second.call(company.token["ben"], "GET", "/workspaces").value["items"]
        assert [row["has_unread"] for row in listed if row["id"] == company.workspace] == [False]
        company.flushed()
        assert epochs(stage, company) == {lease(stage, company)}
        assert company.errors(ready=True) == []
        first.kill()
        taken_over(company, second)
        company.comes_right()


def test_a_process_that_was_stopped_and_taken_over_writes_nothing(stage: Stage) -> None:
    """Neither messages nor the rows that were dirty when it was stopped."""
    with stage.serving(**SHORT) as (old, proxy), stage.serving(start=False, **SHORT) as (new, _):
        company = stage.company(old)
        [channel] = company.channels
        company.send("ann", channel, "flushed")
        company.flushed()
        hold = proxy.hold(f"insert into {SNAPSHOTS}")
        dirty = company.send("ann", channel, "dirty")
        assert dirty is not None
        assert hold.reached.wait(20)
        before = lease(stage, company)
        with stopped(old):
            new.start(until_ready=False)
            taken_over(company, new)
            assert lease(stage, company) == before + 1
            company.send("ann", channel, "taken over", mentions=[company.member["ben"]])
            company.flushed()
            hold.release()
        refused = old.call(company.token["ann"], "POST", f"/conversations/{channel}/messages", {"text": "too late"})
        assert (refused.status, refused.value["error"]["type"]) == (421, "misdirected")
        assert old.call(company.token["ben"], "GET", f"/workspaces/{company.workspace}/unread").status == 421
        wait_until(lambda: "lost the lease" in old.log, 20, lambda: old.log[-2000:])
        wait_until(lambda: gauge(old, company, "leases_held") == 0, 20)
        assert old.stop() == 0  # with a last flush, of nothing
        assert epochs(stage, company) == {before + 1}
        company.comes_right()


def test_a_write_that_was_on_its_way_when_the_lease_moved_is_refused(stage: Stage) -> None:
    with stage.serving(**SHORT) as (old, proxy), stage.serving(start=False, **SHORT) as (new, _):
        company = stage.company(old)
        [channel] = company.channels
        company.send("ann", channel, "before")
        company.flushed()
        hold = proxy.hold("from `scopes`", "for update")
        late = on(old, company)
        with meanwhile(lambda: late.send("ann", channel, "late")) as answers:
            assert hold.reached.wait(20)
            proxy.freeze()  # no renewal gets through either
            new.start(until_ready=False)
            taken_over(company, new)
            company.send("ann", channel, "taken over")
            proxy.thaw()
            hold.release()
        assert (answers[0].status, answers[0].value["error"]["type"]) == (421, "misdirected")
        retried = company.send("ann", channel, "late")
        assert retried is not None
        assert (retried.status, retried.value["seq"]) == (201, 3)
        company.comes_right()


def test_a_write_that_stands_still_holds_the_lease_up_but_not_for_ever(stage: Stage) -> None:
    """Nobody can take over while its transaction lives. Who asks is told to try again, until the database ends it."""
    with stage.serving(**SHORT) as (old, proxy), stage.serving(start=False, **SHORT) as (new, _):
        company = stage.company(old)
        [channel] = company.channels
        company.send("ann", channel, "before")
        company.flushed()
        before = lease(stage, company)
        hold = proxy.hold("insert into `messages`")
        late = on(old, company)
        with meanwhile(lambda: late.send("ann", channel, "late")) as answers:
            assert hold.reached.wait(20)
            with stopped(old):
                new.start(until_ready=False)
                asked = f"/workspaces/{company.workspace}/unread"
                wait_until(lambda: new.call(company.token["ben"], "GET", asked).status == 503, 30)
                assert lease(stage, company) == before
                assert new.call(None, "GET", "//healthz").status == 200
                wait_until(lambda: new.call(company.token["ben"], "GET", asked).status == 200, 60)
            hold.release()
        assert answers[0] is None or answers[0].status in (421, 503)
        taken_over(company, new)
        company.send("ann", channel, "late")
        company.comes_right()


def on(server: Server, company: Company) -> Company:
    """The same company, as it speaks to that server."""
    other = Company.__new__(Company)
    other.__dict__.update({**company.__dict__, "server": server})
    return other


def gauge(server: Server, company: Company, name: str) -> float:
    lines = str(server.call(company.token["ann"], "GET", "//metrics").value).splitlines()
    return float(next(line.split()[1] for line in lines if line.startswith(f"loopd_{name} ")))
