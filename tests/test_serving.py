"""The parts of a serving process: workers in their order, periodic work that survives, and what `/readyz` says."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable
from typing import Any

import pytest

from conversations.ids import new_id
from conversations.models import ResourceLock
from conversations.ownership import LeaseStore, current_owner, locker_id
from conversations.ownership.leases import workspace_resource
from conversations.periodic import Periodic
from loopd.health import readyz
from loopd.http import PooledHandler
from loopd.serving import Phase, Serving
from loopd.workers import Workers
from tests.server import wait_until


class Recorded:
    """A worker that writes down its life."""

    def __init__(self, name: str, book: list[str], fails: bool = False) -> None:
        self.name, self.book, self.fails, self.lives = name, book, fails, True

    def start(self) -> None:
        if self.fails:
            raise RuntimeError(self.name)
        self.book.append(f"start {self.name}")

    def stop(self, deadline_s: float) -> None:
        assert deadline_s > 0
        self.book.append(f"stop {self.name}")

    def healthy(self) -> bool:
        return self.lives


def serving_of(*workers: Recorded) -> Serving:
    made = Serving(Workers(), PooledHandler(threads=2), deadline_s=5)
    for worker in workers:
        made.workers.add(worker)
    return made


def test_workers_stop_in_reverse_order() -> None:
    book: list[str] = []
    workers = Workers()
    for name in ("a", "b"):
        workers.add(Recorded(name, book))
    workers.start()
    workers.stop(5)
    workers.stop(5)
    assert book == ["start a", "start b", "stop b", "stop a"]


def test_a_start_that_fails_takes_down_what_had_started() -> None:
    book: list[str] = []
    workers = Workers()
    for worker in (Recorded("a", book), Recorded("b", book, fails=True), Recorded("c", book)):
        workers.add(worker)
    with pytest.raises(RuntimeError, match="b"):
        workers.start()
    assert book == ["start a", "stop a"]


def test_periodic_work_survives_its_errors_and_wakes_at_once() -> None:
    turns: list[int] = []

    def work() -> None:
        turns.append(len(turns))
        if len(turns) == 1:
            raise ValueError("the first turn fails")

    periodic = Periodic("test-periodic", 3600, work)
    assert not periodic.healthy()
    periodic.start()
    wait_until(lambda: len(turns) == 1)
    periodic.wake()
    wait_until(lambda: len(turns) == 2)
    assert periodic.healthy()
    periodic.stop(5)
    assert not periodic.healthy()


def test_periodic_work_that_hangs_is_not_healthy() -> None:
    release, began = threading.Event(), threading.Event()

    def work() -> None:
        began.set()
        release.wait(30)

    periodic = Periodic("test-hanging", 3600, work, patience_s=0.0)
    periodic.start()
    assert began.wait(10)
    wait_until(lambda: not periodic.healthy())
    release.set()
    periodic.stop(5)


async def test_readyz_follows_the_life_of_the_process_and_of_its_workers() -> None:
    book: list[str] = []
    worker = Recorded("a", book)
    serving = serving_of(worker)
    assert (await ask(serving))["problems"]["process"] == "not started"
    await serving.start()
    assert "process" not in (await ask(serving))["problems"]
    assert "workers" not in (await ask(serving))["problems"]
    worker.lives = False
    assert (await ask(serving))["problems"]["workers"] == "not running: a"
    await serving.stop()
    assert serving.phase is Phase.STOPPED
    assert (await ask(serving))["status"] == "not ready"
    assert book == ["start a", "stop a"]


@pytest.mark.parametrize(
    ("holder", "problem"),
    [("elsewhere|boot|1|1|server", True), ("elsewhere|boot|1|1|import_slack", False), (locker_id("me"), True)],
    ids=["a server elsewhere", "a command elsewhere", "this process"],
)
async def test_readyz_names_a_server_that_holds_a_lease(holder: str, problem: bool) -> None:
    """The last one is as dead as alive: this process under another label, so a server only if it says so."""
    holder = holder if "|boot|" in holder else holder.rsplit("|", 1)[0] + "|uvicorn"
    resource = workspace_resource(new_id())
    others = ResourceLock.objects.exclude(locker_id=current_owner().leases.holder)
    await asyncio.to_thread(lambda: others.update(locker_id=""))
    await asyncio.to_thread(LeaseStore(holder, ttl_s=60).acquire, resource)
    serving = serving_of()
    await serving.start()
    found = (await ask(serving))["problems"].get("ownership", "")
    assert (resource in found) == problem
    await asyncio.to_thread(lambda: others.update(locker_id=""))
    await serving.stop()


async def test_the_pool_ends_what_runs_before_a_stop() -> None:
    http, release, done = PooledHandler(threads=1), threading.Event(), []
    running = asyncio.ensure_future(http.run(lambda: (release.wait(30), done.append(1))))
    await asyncio.sleep(0)
    assert not await http.drain(0.05)
    release.set()
    assert await http.drain(10)
    await running
    assert done == [1]


async def test_a_body_over_the_bound_is_refused_before_django() -> None:
    http = PooledHandler(threads=1)
    parts = iter([{"type": "http.request", "body": b"x" * 6_000_000, "more_body": n < 3} for n in range(4)])
    sent: list[dict[str, Any]] = []
    await http({"type": "http", "path": "/v1/me"}, _async(lambda: next(parts)), _async(sent.append))
    assert sent[0]["status"] == 413
    assert json.loads(sent[1]["body"])["error"]["type"] == "too_large"


async def test_more_requests_than_fit_are_refused() -> None:
    http, release = PooledHandler(threads=1), threading.Event()
    waiting = [asyncio.ensure_future(http.run(release.wait, 30)) for _ in range(1 + 64)]
    await asyncio.sleep(0)
    sent: list[dict[str, Any]] = []
    body = {"type": "http.request", "body": b""}
    await http({"type": "http", "path": "/v1/me"}, _async(lambda: body), _async(sent.append))
    assert sent[0]["status"] == 503
    assert json.loads(sent[1]["body"])["error"]["type"] == "unavailable"
    release.set()
    await asyncio.gather(*waiting)


async def ask(serving: Serving) -> Any:
    sent: list[dict[str, Any]] = []
    await readyz(serving, _async(sent.append))
    body = json.loads(sent[1]["body"])
    assert sent[0]["status"] == (200 if body["status"] == "ready" else 503)
    return body


def _async(call: Callable[..., Any]) -> Callable[..., Any]:
    async def called(*arguments: Any) -> Any:
        return call(*arguments)

    return called


def test_the_owner_of_this_process_is_named_by_host_and_process() -> None:
    assert current_owner().leases.holder.count("|") == 4
