"""Eight writers, readers, flusher and jobs at once: nothing is lost, and nobody waits for a stranger."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest
from django.db import connection, connections, transaction

from conversations.events import Fact, MembershipChanged, MessagesChanged, MessageStored, ScopeStateChanged
from conversations.models import Message, Scope
from conversations.ownership import current_owner
from conversations.visibility import human_visible
from tests import verbs as do
from tests.conversations.crowd import together
from tests.server import wait_until
from tests.unread.house import Demand, House, as_product
from tests.unread.traffic import Traffic
from tests.world import World, facts_of
from unread.core.budgets import Budgets, RuntimeSettings
from unread.core.ports import SnapshotRow
from unread.first_paint import first_paint
from unread.store import SnapshotTable

WRITERS, MOVES = 8, 60
PEOPLE = ("ann", "ben", "cat", "dan", "eve", "fay")
QUICK = RuntimeSettings(flush_interval=0.05, flush_batch_size=7, hydrate_batch_size=3)
PATIENT = Budgets(gap_grace_s=300.0, tick_s=0.05)
"""A thread that the machine leaves waiting between its commit and its hook has lost nothing."""


def city(house: House, *, scopes: int = 2) -> Traffic:
    """A world of which the house saw everything."""
    world = World(*PEOPLE)
    house.own(world)
    names = [f"c{n}" for n in range(scopes)]
    for name in names:
        world.channel(name, *PEOPLE[:4])
    return Traffic(world, *names)


@contextmanager
def working(house: House) -> Iterator[None]:
    """The house's own threads run, as in a server."""
    house.runtime.start()
    try:
        yield
    finally:
        house.runtime.stop(30)


TIGHT = Budgets(
    scope_log_size=4,
    event_queue_size=20,
    scope_queue_size=5,
    accounting_batch_size=2,
    max_early_seqs=3,
    max_late_seqs=3,
    max_lost_seqs=2,
    gap_grace_s=0.02,
    hydrate_retry_s=0.05,
    max_resident_entries=8,
    evict_idle_s=0.02,
    max_delta_entries=2,
    tick_s=0.02,
)
"""Everything overflows, is given up too soon and leaves memory: nothing but honesty can be asked for."""


@pytest.mark.slow
@pytest.mark.parametrize("workspaces", [1, 4])
@pytest.mark.parametrize("budgets", [PATIENT, TIGHT], ids=["within budgets", "over every budget"])
def test_eight_writers_and_everybody_else_at_once(on_mariadb: None, workspaces: int, budgets: Budgets) -> None:
    house = House(settings=QUICK, budgets=budgets)
    cities = [city(house) for _ in range(workspaces)]
    within = budgets is PATIENT
    done = threading.Event()

    def write(number: int) -> None:
        rng, traffic = random.Random(f"{workspaces}/{number}"), cities[number % workspaces]
        for _ in range(MOVES):
            traffic.play(rng)

    def writing() -> None:
        try:
            together([lambda n=n: write(n) for n in range(WRITERS)])
        finally:
            done.set()

    def look() -> None:
        rng = random.Random("look")
        while not done.is_set():
            world = rng.choice(cities).world
            who = world.member[rng.choice(PEOPLE)]
            house.runtime.request_hydrate(world.id.int, who.id.int)
            view = house.runtime.member_unread(world.id.int, who.id.int)
            assert view.has_unread == any(shown.lit for shown in view.counts.values())
            first_paint(type(who).objects.select_related("workspace", "user").get(id=who.id))

    def renew() -> None:
        while not done.is_set():
            current_owner().renew()

    with as_product(house), working(house), ExitStack() as listening:
        batches = [listening.enter_context(facts_of(each.world)) for each in cities]
        together([writing, look, look, renew])
        wait_until(lambda: house.runtime.stats().waiting_events == 0, 30, house.runtime.stats)
    house.load_everybody()
    assert house.errors(Demand.READY if within else Demand.HONEST) == []
    counts = house.metrics.counts
    assert counts["apply_errors"] == counts["sink_errors"] == counts["flush_failures"] == counts["job_failures"] == 0
    assert within == (counts["lost_events"] + counts["dropped_events"] + counts["evicted_scopes"] == 0)
    for each, told in zip(cities, batches, strict=True):
        assert each.refused < MOVES * WRITERS // workspaces / 2
        check_nothing_lost(each.world, told)
    house = house.restarted(settings=QUICK)
    house.load_everybody()
    assert house.errors(Demand.EXACT if within else Demand.HONEST) == []


def check_nothing_lost(world: World, batches: Sequence[Sequence[Fact]]) -> None:
    """Seqs and generations have neither holes nor doubles, and the summaries are what a count says."""
    facts = [fact for batch in batches for fact in batch]
    for scope in Scope.objects.filter(workspace=world.workspace):
        ours = [fact for fact in facts if getattr(fact, "scope_id", None) == scope.id]
        seqs = [fact.seq for fact in ours if isinstance(fact, MessageStored)]
        rosters = [fact.roster_generation for fact in ours if isinstance(fact, (MembershipChanged, ScopeStateChanged))]
        rewinds = [fact.rewind_generation for fact in ours if isinstance(fact, MessagesChanged)]
        assert sorted(seqs) == list(range(1, scope.latest_seq + 1))
        assert sorted(rewinds) == list(range(1, scope.rewind_generation + 1))
        assert sorted(rosters) == list(range(scope.roster_generation - len(rosters) + 1, scope.roster_generation + 1))
        assert scope.visible_message_count == Message.objects.filter(human_visible(), scope=scope).count()


class HeldTable(SnapshotTable):
    """A flush stops inside the store until it is let go."""

    def __init__(self) -> None:
        self.inside, self.released = threading.Event(), threading.Event()

    def upsert(self, workspace: int, epoch: int, rows: Sequence[SnapshotRow]) -> None:
        self.inside.set()
        assert self.released.wait(60)
        super().upsert(workspace, epoch, rows)


def test_nothing_waits_for_a_flush_that_is_stuck_in_the_store() -> None:
    store = HeldTable()
    world, house = small_city(snapshots=store)
    with flushing(house, store.released), as_product(house):
        assert store.inside.wait(30)
        everything_else_goes_on(world, house)
        assert not store.released.is_set()
    assert house.errors() == []


def test_nothing_waits_for_a_flush_that_is_stuck_in_the_database(on_mariadb: None) -> None:
    world, house = small_city()
    assert house.runtime.flush().rows > 0
    do.post(world, "ann", "x")
    let_go = threading.Event()
    rows_held = a_lock_on(world, "member_scope_unread_runtime_snapshots", "workspace_id", let_go)
    with as_product(house), rows_held, flushing(house, let_go):
        wait_until(lambda: waiting_for_a_lock() == 1, 30, waiting_for_a_lock)
        everything_else_goes_on(world, house)
        assert waiting_for_a_lock() == 1
    assert house.errors() == []


def test_writers_of_one_workspace_do_not_wait_for_anothers(on_mariadb: None) -> None:
    """A writer is stuck on its scope's row, its lease share-locked; next door everything goes on, renewals too."""
    here, house = small_city()
    there = furnished(house)
    let_go = threading.Event()
    with as_product(house), a_lock_on(here, "scopes", "workspace_id", let_go):
        stuck = threading.Thread(target=lambda: (do.post(here, "ann", "x"), connections.close_all()))
        stuck.start()
        try:
            wait_until(lambda: waiting_for_a_lock() == 1, 30, waiting_for_a_lock)
            everything_else_goes_on(there, house)
            house.runtime.member_unread(here.id.int, here.member["ben"].id.int)
            assert waiting_for_a_lock() == 1
        finally:
            let_go.set()
            stuck.join(30)
    house.load_everybody()
    assert house.errors() == []


class HeldClock:
    """The runtime asks what time it is while it holds a workspace's lock: one thread does not come back from that."""

    def __init__(self) -> None:
        self.inside, self.released = threading.Event(), threading.Event()
        self.victim: threading.Thread | None = None

    def monotonic(self) -> float:
        if threading.current_thread() is self.victim:
            self.inside.set()
            assert self.released.wait(60)
        return 1000.0


def test_a_workspace_whose_memory_is_busy_delays_no_other() -> None:
    clock = HeldClock()
    here, house = small_city(clock=clock)
    there = furnished(house)
    with as_product(house):
        busy = threading.Thread(target=lambda: (do.post(here, "ann", "x"), connections.close_all()))
        clock.victim = busy
        busy.start()
        try:
            assert clock.inside.wait(30)
            everything_else_goes_on(there, house)
            assert house.runtime.has_unread(here.id.int, here.member["ben"].id.int)  # the red dot takes no lock
            assert not clock.released.is_set()
        finally:
            clock.released.set()
            busy.join(30)
    house.load_everybody()
    assert house.errors() == []


def small_city(**options: Any) -> tuple[World, House]:
    house = House(budgets=PATIENT, **options)
    return furnished(house), house


def furnished(house: House) -> World:
    """Three people in a channel with something unread, all of it dirty; dan comes later."""
    world = World("ann", "ben", "cat", "dan")
    house.own(world)
    world.channel("x", "ann", "ben", "cat")
    do.post(world, "ann", "x", mentions=["ben"])
    for who in ("ann", "ben", "cat"):
        house.runtime.request_hydrate(world.id.int, world.member[who].id.int)
    house.settle()
    return world


def everything_else_goes_on(world: World, house: House) -> None:
    """In a thread with a deadline: memory, pages, writes, a new member's rows, renewals."""

    def all_of_it() -> None:
        before = house.badge(world, "ben", "x").messages
        assert house.runtime.has_unread(world.id.int, world.member["ben"].id.int) == bool(before)
        house.runtime.watch(world.id.int, world.member["ben"].id.int)
        assert len(house.runtime.snapshot(world.id.int, world.member["ben"].id.int).counts) == int(bool(before))
        do.post(world, "ann", "x", mentions=["cat"])
        assert house.badge(world, "ben", "x").messages == before + 1
        delta = house.runtime.take_delta(world.id.int, world.member["ben"].id.int)
        assert delta is not None
        do.join(world, "dan", "x")
        house.runtime.request_hydrate(world.id.int, world.member["dan"].id.int)
        house.settle()
        do.post(world, "ben", "x")
        do.read(world, "cat", "x")
        for who in ("ann", "ben", "cat", "dan"):
            answer = world.call(who, "GET", f"/workspaces/{world.id}/unread").ok()
            assert answer["state"] == "ready"
            assert answer["has_unread"] == (who in ("ann", "dan"))
            assert world.call(who, "GET", f"/workspaces/{world.id}/bootstrap").ok()["unread"]["state"] == "ready"
        house.runtime.unwatch(world.id.int, world.member["ben"].id.int)

    together([all_of_it])


@contextmanager
def flushing(house: House, let_go: threading.Event) -> Iterator[None]:
    """A flush that cannot end before `let_go`, which is set at the end."""
    reports: list[Any] = []
    thread = threading.Thread(target=lambda: (reports.append(house.runtime.flush()), connections.close_all()))
    thread.start()
    try:
        yield
    finally:
        let_go.set()
        thread.join(60)
    assert [report.failures for report in reports] == [0]


@contextmanager
def a_lock_on(world: World, table: str, column: str, let_go: threading.Event) -> Iterator[None]:
    """Another connection holds the workspace's rows of a table until `let_go`."""
    held = threading.Event()

    def hold() -> None:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(f"SELECT {column} FROM {table} WHERE {column} = %s FOR UPDATE", [world.id.hex])
            assert cursor.fetchall()
            held.set()
            let_go.wait(60)
        connection.close()

    thread = threading.Thread(target=hold)
    thread.start()
    try:
        assert held.wait(30)
        yield
    finally:
        let_go.set()
        thread.join(60)


def waiting_for_a_lock() -> int:
    """Transactions of this test's database that wait. InnoDB looks again only after a tenth of a second of rest."""
    time.sleep(0.15)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT COUNT(*) FROM information_schema.innodb_trx t JOIN information_schema.processlist p "
            "ON p.id = t.trx_mysql_thread_id WHERE t.trx_state = 'LOCK WAIT' AND p.db = DATABASE()"
        )
        found: int = cursor.fetchone()[0]
        return found
