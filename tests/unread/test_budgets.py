"""Every budget, reached by what people do: what is over it is refused clearly or shown as a hint, and comes back."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from typing import Any

import pytest

from conversations.models.scope import Visibility
from realtime import hub as realtime_hub
from realtime.hub import Hub
from realtime.sockets import Socket
from tests import verbs as do
from tests.conversations.crowd import together
from tests.server import wait_until
from tests.unread.house import Demand, House, as_product
from tests.unread.truth import Badge
from tests.world import World, facts_of
from unread.core.budgets import Budgets, RuntimeSettings
from unread.core.ports import HydrateRow, SnapshotRow
from unread.core.testing import ManualClock
from unread.store import SnapshotTable

PEOPLE = ("ann", "ben", "cat", "dan")


def at_home(budgets: Budgets, **options: Any) -> tuple[World, House]:
    """Four people in a channel, all of it seen by the house."""
    house = House(budgets=budgets, **options)
    world = World(*PEOPLE)
    house.own(world)
    world.channel("x", *PEOPLE)
    house.load_everybody()
    return world, house


def send(world: World, who: str, scope: str, text: str = "hello") -> Any:
    return world.call(who, "POST", f"/conversations/{world.scope[scope].id}/messages", {"text": text})


def unread(world: World, who: str) -> Any:
    return world.call(who, "GET", f"/workspaces/{world.id}/unread").ok()


def read(world: World, who: str, scope: str) -> None:
    world.call(who, "PUT", f"/conversations/{world.scope[scope].id}/read", {}).ok()


# Events


@pytest.mark.parametrize(
    "budgets", [Budgets(event_queue_size=3), Budgets(scope_queue_size=3)], ids=["process", "scope"]
)
def test_events_that_find_the_queue_full_leave_hints_and_no_error(budgets: Budgets) -> None:
    world, house = at_home(Budgets())
    house = house.restarted(budgets=budgets)
    with as_product(house):
        for _ in range(5):
            assert send(world, "ann", "x").status == 201
        assert house.runtime.stats().waiting_events == 3
        assert house.metrics.counts["dropped_events"] == 2
        house.load_everybody()
        shown = unread(world, "ben")
        assert (shown["state"], shown["has_unread"]) == ("snapshot_serving", True)
        assert house.errors(Demand.HONEST) == []
        assert house.errors(Demand.READY) != []
        for who in PEOPLE:
            read(world, who, "x")
        assert send(world, "ann", "x").status == 201
    house.settle()
    assert house.errors() == []


def test_an_event_over_the_accounting_budget_leaves_hints_until_somebody_reads_everything() -> None:
    world, house = at_home(Budgets(max_sync_accounting_members=3))
    with as_product(house):
        assert send(world, "ann", "x").status == 201
        house.load_everybody()  # once the roster is in, the log makes even this one exact
        assert house.errors() == []
        assert send(world, "ann", "x").status == 201
        assert house.metrics.counts["over_budget_events"] == 2
        assert house.errors(Demand.HONEST) == []
        assert house.shown(world, "ben", "x").state.label == "snapshot_serving"
        read(world, "ben", "x")
        assert unread(world, "ben")["state"] == "ready"
    assert house.shown(world, "ben", "x").state.label == "ready"
    world.channel("small", "ann", "ben", "cat")
    do.post(world, "ann", "small", mentions=["ben"])
    house.settle()
    assert house.badge(world, "ben", "small") == Badge(1, 1)
    assert house.shown(world, "ben", "small").state.label == "ready"


def test_a_hook_that_never_ran_makes_hints_after_the_grace_and_is_taken_when_it_comes_after_all() -> None:
    clock = ManualClock()
    world, house = at_home(Budgets(gap_grace_s=5.0), clock=clock)
    do.post(world, "ann", "x")
    house.settle()
    house.deaf()
    with facts_of(world) as lost:
        do.post(world, "ann", "x", mentions=["ben"])
    house.hear()
    do.post(world, "ann", "x")
    house.runtime.tick()
    clock.advance(4.9)
    house.runtime.tick()
    assert house.metrics.counts["lost_events"] == 0
    clock.advance(0.2)
    house.runtime.tick()
    assert house.metrics.counts["lost_events"] == 1
    with as_product(house):
        assert unread(world, "ben")["state"] == "snapshot_serving"
    assert house.errors(Demand.HONEST) == []
    assert house.badge(world, "ben", "x") == Badge(2)
    house.tell(lost[0])
    assert house.errors(Demand.EXACT) == []
    assert house.badge(world, "ben", "x") == Badge(3, 1)


def test_reads_of_rows_that_are_not_in_are_kept_up_to_a_bound_and_the_rest_is_not_trusted() -> None:
    world, house = at_home(Budgets())
    for n in range(4):
        world.channel(f"c{n}", *PEOPLE)
        do.post(world, "ann", f"c{n}")
    house.settle()
    house = house.restarted(budgets=Budgets(max_kept_entries=2))
    with as_product(house):
        for n in range(4):
            read(world, "ben", f"c{n}")
        assert house.metrics.counts["refused_kept_events"] == 2
        house.load_everybody()
        assert house.errors(Demand.HONEST) == []
        assert unread(world, "ben")["has_unread"] is False


# Backlog


class BrokenTable(SnapshotTable):
    """Writes nothing while `broken`."""

    broken = True

    def upsert(self, workspace: int, epoch: int, rows: Sequence[SnapshotRow]) -> None:
        if self.broken:
            raise ConnectionError("the disk is full")
        super().upsert(workspace, epoch, rows)


def test_a_flush_backlog_pushes_back_every_writer_and_no_reader() -> None:
    store = BrokenTable()
    clock = ManualClock()
    world, house = at_home(Budgets(max_dirty_entries=5), snapshots=store, clock=clock)
    message = do.post(world, "ann", "x")
    with as_product(house):
        world.channel("y", *PEOPLE)
        house.settle()
        assert house.runtime.flush().failures == 1
        assert house.runtime.stats().dirty_entries == 8
        scope, workspace = f"/conversations/{world.scope['x'].id}", f"/workspaces/{world.id}"
        channel = {"workspace_id": world.id, "type": "channel", "name": "z"}
        dm = {"workspace_id": world.id, "type": "dm", "member_ids": [world.member["ben"].id]}
        writes = {
            "send": ("POST", f"{scope}/messages", {"text": "more"}),
            "edit": ("PUT", f"/messages/{message.id}", {"text": "other"}),
            "delete": ("DELETE", f"/messages/{message.id}", None),
            "rewind": ("POST", f"{scope}/rewind", {"to_message_id": message.id}),
            "activity": ("POST", f"{scope}/activities", {"type": "share"}),
            "channel": ("POST", "/conversations", channel),
            "dm": ("POST", "/conversations", dm),
            "archive": ("POST", f"{scope}/archive", {}),
            "leave": ("DELETE", f"{scope}/members/{world.member['ann'].id}", None),
            "thread": ("POST", f"/messages/{message.id}/thread", {}),
        }
        before = house.metrics.counts.copy()
        with facts_of(world) as batches:
            refused = {name: world.call("ann", *call) for name, call in writes.items()}
        assert {name: answer.status for name, answer in refused.items()} == dict.fromkeys(writes, 503)
        assert {answer.error["type"] for answer in refused.values()} == {"unavailable"}
        assert "saved" in refused["send"].error["message"]
        assert batches == []
        assert house.metrics.counts == before
        for path in (f"{scope}", f"{scope}/messages", f"{workspace}/unread", f"{workspace}/bootstrap", "/workspaces"):
            world.call("ben", "GET", path).ok()
        assert unread(world, "ben")["counts"][str(world.scope["x"].id)]["messages"] == 1
        read(world, "ben", "x")
        assert unread(world, "ben")["has_unread"] is False
        store.broken = False
        clock.advance(120)
        assert house.runtime.flush_due().rows == 8
        assert send(world, "ann", "x").status == 201
    assert house.errors() == []
    house = house.crashed()
    house.load_everybody()
    assert house.badge(world, "cat", "x") == Badge(1)  # the send after the flush was lost with the crash
    assert house.errors(Demand.HONEST) == []


def test_a_failed_flush_waits_longer_each_time_and_delays_no_other_workspace() -> None:
    clock = ManualClock()
    here, there = World(*PEOPLE), World(*PEOPLE)

    class BrokenHere(SnapshotTable):
        tries = 0

        def upsert(self, workspace: int, epoch: int, rows: Sequence[SnapshotRow]) -> None:
            if workspace == here.id.int and self.tries < 3:
                self.tries += 1
                raise ConnectionError("here")
            super().upsert(workspace, epoch, rows)

    house = House(here, there, clock=clock, snapshots=BrokenHere(), budgets=Budgets(flush_retry_s=1.0))
    for world in (here, there):
        world.channel("x", *PEOPLE)
    reports = []
    for passed in (0.0, 0.9, 0.2, 1.9, 0.2, 3.9, 0.2):
        clock.advance(passed)
        report = house.runtime.flush_due()
        reports.append((report.failures, report.rows))
    assert reports == [(1, 4), (0, 0), (1, 0), (0, 0), (1, 0), (0, 0), (0, 4)]
    assert house.metrics.counts["flush_failures"] == 3


# Hydration


class CountedTable(SnapshotTable):
    """Loads stop inside the store until they are let go; says how many were there at once."""

    def __init__(self) -> None:
        self.released = threading.Event()
        self.lock = threading.Lock()
        self.inside = self.most = self.loads = 0

    def load_member_page(self, workspace: int, member: int, after_scope: int, limit: int) -> Sequence[HydrateRow]:
        with self.lock:
            self.loads += 1
            self.inside += 1
            self.most = max(self.most, self.inside)
        assert self.released.wait(30)
        try:
            return super().load_member_page(workspace, member, after_scope, limit)
        finally:
            with self.lock:
                self.inside -= 1


def test_hydrates_are_coalesced_bounded_in_number_and_refused_over_the_queue() -> None:
    store = CountedTable()
    world = World(*PEOPLE, *(f"p{n}" for n in range(6)))
    house = House(
        world,
        snapshots=store,
        settings=RuntimeSettings(hydrate_max_concurrency=2),
        budgets=Budgets(hydrate_queue_size=5, tick_s=0.02),
    )
    house.runtime.start()
    try:
        with as_product(house):
            for who in ("ann", "ben"):
                assert unread(world, who)["state"] == "hydrating"
            wait_until(lambda: store.inside == 2, 10)
            for who in list(world.member)[2:] * 3:
                assert unread(world, who)["state"] == "hydrating"
                world.call(who, "GET", f"/workspaces/{world.id}/bootstrap").ok()
                world.call(who, "GET", "/workspaces").ok()
            stats = house.runtime.stats()
            assert (stats.jobs_running, stats.jobs_queued) == (2, 5)
            assert house.metrics.counts["refused_jobs"] > 0
            assert house.runtime.has_unread(world.id.int, world.member["cat"].id.int) is False
            store.released.set()
            wait_until(lambda: all(unread(world, who)["state"] == "ready" for who in world.member), 20)
        assert store.most == 2
        assert store.loads == len(world.member)
    finally:
        store.released.set()
        house.stop()


def test_a_workspace_may_take_only_its_share_of_the_queue() -> None:
    house = House(budgets=Budgets(hydrate_queue_size=10, workspace_hydrate_queue_size=2))
    here, there = World(*PEOPLE), World(*PEOPLE)
    for world in (here, there):
        house.own(world)
    with as_product(house):
        for world in (here, there):
            for who in PEOPLE:
                unread(world, who)
        assert house.runtime.stats().jobs_queued == 4
        house.settle()
        assert sorted(unread(world, who)["state"] for world in (here, there) for who in PEOPLE) == [
            *["hydrating"] * 4,
            *["ready"] * 4,
        ]
        house.settle()
        assert {unread(world, who)["state"] for world in (here, there) for who in PEOPLE} == {"ready"}


def test_a_load_that_fails_is_tried_again_after_its_wait() -> None:
    clock = ManualClock()
    world = World(*PEOPLE)

    class Flaky(SnapshotTable):
        failures = 2

        def load_member_page(self, workspace: int, member: int, after_scope: int, limit: int) -> Sequence[HydrateRow]:
            if self.failures:
                self.failures -= 1
                raise ConnectionError("away")
            return super().load_member_page(workspace, member, after_scope, limit)

    house = House(world, snapshots=Flaky(), clock=clock, budgets=Budgets(hydrate_retry_s=5.0))
    with as_product(house):
        states = []
        for passed in (0.0, 4.9, 0.2, 4.9, 0.2):
            clock.advance(passed)
            house.runtime.tick()
            states.append(unread(world, "ann")["state"])
            house.settle()
        assert states == ["hydrating"] * 5
        assert unread(world, "ann")["state"] == "ready"
    assert house.metrics.counts["job_failures"] == 2


# Fan-out


def test_a_delta_has_a_bound_and_the_rest_follows_in_the_next() -> None:
    world, house = at_home(Budgets(max_delta_entries=3))
    workspace, ben = world.id.int, world.member["ben"].id.int
    house.runtime.watch(workspace, ben)
    version = house.runtime.snapshot(workspace, ben).version
    for n in range(8):
        world.channel(f"c{n}", *PEOPLE)
        do.post(world, "ann", f"c{n}")
    house.settle()
    seen: dict[int, int] = {}
    sizes = []
    while (delta := house.runtime.take_delta(workspace, ben)) is not None:
        assert delta.since == version
        version = delta.unread.version
        sizes.append(len(delta.unread.counts))
        seen |= {scope: shown.messages for scope, shown in delta.unread.counts.items()}
    assert max(sizes) == 3
    assert len(sizes) >= 3
    assert seen == {world.scope[f"c{n}"].id.int: 1 for n in range(8)}


async def test_the_hub_breathes_between_bounded_hand_outs(monkeypatch: pytest.MonkeyPatch) -> None:
    """One message to ten people's sockets: never more than the bound is put before the loop comes round."""
    monkeypatch.setattr(realtime_hub, "FANOUT_PER_TICK", 3)
    people = [f"p{n}" for n in range(10)]
    world, house = await asyncio.to_thread(_crowded, people)
    hub = Hub(house.runtime, heartbeat_s=60)
    house.runtime._sink = hub  # type: ignore[assignment]
    hub.attach()
    sockets = [_socket(world, who) for who in people]
    for socket in sockets:
        assert hub.add(socket)
        while len(socket.outbox):
            await socket.outbox.take()
    steps = []
    before = 0
    writing = asyncio.create_task(asyncio.to_thread(_in_thread, lambda: do.post(world, "ann", "x")))
    while before < len(people):
        async with asyncio.timeout(10):
            await asyncio.sleep(0)
        now = sum(len(socket.outbox) for socket in sockets)
        if now != before:
            steps.append(now - before)
        before = now
    await writing
    assert max(steps) <= 3
    assert len(steps) >= 4
    for socket in sockets:
        hub.remove(socket)
    await hub.detach(4012)


def _crowded(people: list[str]) -> tuple[World, House]:
    house = House()
    world = World("ann", *people)
    house.own(world)
    world.channel("x", "ann", *people)
    do.post(world, "ann", "x")
    house.load_everybody()
    return world, house


def _socket(world: World, who: str) -> Socket:
    return Socket(world.id, world.member[who].id, world.user[who].pk, "token:none", lambda code: None)


def _in_thread(work: Any) -> None:
    together([work])


# Eviction


@pytest.fixture
def crowded() -> tuple[World, House, ManualClock]:
    """Six channels of four people with one unread message each, all flushed; ben and cat are connected."""
    clock = ManualClock()
    world, house = at_home(Budgets(max_resident_entries=4, evict_idle_s=600.0, evict_batch_size=3), clock=clock)
    for n in range(6):
        world.channel(f"c{n}", "ann", "dan", *(["ben"] if n < 2 else []))
        do.post(world, "ann", f"c{n}", mentions=["dan"])
    house.load_everybody()
    house.runtime.watch(world.id.int, world.member["ben"].id.int)
    return world, house, clock


def test_idle_scopes_leave_memory_and_a_member_who_returns_hydrates_again(
    crowded: tuple[World, House, ManualClock],
) -> None:
    world, house, clock = crowded
    clock.advance(700)
    for _ in range(3):
        house.runtime.tick()
    assert house.metrics.counts["evicted_scopes"] == 0  # nothing is flushed yet
    assert house.runtime.flush().failures == 0
    clock.advance(700)
    do.post(world, "ann", "c5", mentions=["dan"])
    house.runtime.tick()  # ben looks at the three oldest
    assert house.metrics.counts["evicted_scopes"] == 0
    house.runtime.tick()
    assert house.metrics.counts["evicted_scopes"] == 3
    house.runtime.tick()
    gone = [n for n in range(6) if house.shown(world, "dan", f"c{n}") is None]
    assert gone == [2, 3, 4]  # ben looks at 0 and 1, and 5 is in use
    with as_product(house):
        assert unread(world, "ben")["state"] == "ready"
        first = unread(world, "dan")
        assert (first["state"], first["has_unread"], first["counts"]) == ("hydrating", False, {})
        house.settle()
        back = unread(world, "dan")
        assert (back["state"], len(back["counts"])) == ("snapshot_serving", 6)
        assert {shown["mentions"] for shown in back["counts"].values()} == {1, 2}
    house.load_everybody()
    assert house.errors(Demand.EXACT) == []


def test_a_message_to_a_scope_that_left_memory_is_counted_on_top_of_its_row(
    crowded: tuple[World, House, ManualClock],
) -> None:
    world, house, clock = crowded
    house.runtime.flush()
    clock.advance(700)
    house.runtime.tick()
    house.runtime.tick()
    assert house.shown(world, "dan", "c3") is None
    do.post(world, "ann", "c3")
    do.publicise(world, "ann", "c4", Visibility.PRIVATE)
    do.read(world, "dan", "c2")
    house.load_everybody()
    assert house.badge(world, "dan", "c3") == Badge(2, 1)
    assert house.errors(Demand.EXACT) == []
