"""Runtimes over the real tables of this test run, run by hand or by their own workers, and held against the truth.

house = House(world)            # hears from here on
house.settle()                  # every job that waits
assert house.errors() == []     # what is shown differs nowhere from the truth
house = house.restarted()       # a graceful stop, and the next process
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from enum import IntEnum
from typing import Any
from uuid import UUID

from django.db import connection

from conversations.events import UNREAD_FACTS, Fact
from conversations.models import Member
from conversations.ownership import Owner, current_owner
from conversations.unread_port import NoUnread, install_unread_reader
from tests.unread.truth import NOTHING, Badge, Badges, badges
from tests.world import World
from unread import feed
from unread.app import MonotonicClock, unread_app
from unread.attention.worker import AttentionDelivery
from unread.core.budgets import Budgets, RuntimeSettings
from unread.core.ports import Clock, Metrics, RosterStore, SnapshotStore
from unread.core.runtime import UnreadRuntime
from unread.core.states import CountState, Shown
from unread.core.testing import CountingMetrics, RecordingSink
from unread.reader import MemoryReader
from unread.rosters import RosterTable
from unread.store import SnapshotTable

READY, HINT = CountState.READY, CountState.SNAPSHOT_SERVING


class Demand(IntEnum):
    """What must be so of each entry that may be shown; each demands less than the one before."""

    READY = 0
    """Exact, and called ready."""
    EXACT = 1
    COVERED = 2
    """A hint may be too high."""
    HONEST = 3
    """Only what is called ready must be exact."""


class OwnerOf(Owner):
    """The process's owner, as far as these worlds are concerned."""

    def __init__(self, *worlds: World) -> None:
        self.ids = {world.id for world in worlds}

    def held(self) -> dict[UUID, int]:
        return {which: epoch for which, epoch in current_owner().held().items() if which in self.ids}

    def epoch(self, workspace_id: UUID) -> int | None:
        return current_owner().epoch(workspace_id) if workspace_id in self.ids else None


class House:
    """One process's runtime for the workspaces of some worlds (further ones with `own`)."""

    def __init__(
        self,
        *worlds: World,
        hears: bool = True,
        settings: RuntimeSettings | None = None,
        budgets: Budgets | None = None,
        clock: Clock | None = None,
        snapshots: SnapshotStore | None = None,
        rosters: RosterStore | None = None,
        metrics: Metrics | None = None,
    ) -> None:
        self.worlds: list[World] = []
        self.metrics = CountingMetrics()
        self.sink = RecordingSink()
        self.runtime = UnreadRuntime(
            snapshots=snapshots or SnapshotTable(),
            rosters=rosters or RosterTable(),
            sink=self.sink,
            metrics=metrics or self.metrics,
            clock=clock or MonotonicClock(),
            settings=settings,
            budgets=budgets,
        )
        self._disconnect: Callable[[], None] = lambda: None
        for world in worlds:
            self.own(world)
        if hears:
            self.hear()

    def own(self, world: World) -> None:
        self.runtime.own(world.id.int, current_owner().require(world.id))
        self.worlds.append(world)

    def hear(self) -> None:
        self._disconnect = feed.connect(self.runtime)

    def deaf(self) -> None:
        """Hear of no further commit."""
        self._disconnect()

    def tell(self, batch: Sequence[Fact]) -> None:
        """Hand over a batch as the hook of its commit would."""
        told = [feed.translate(fact) for fact in batch if isinstance(fact, UNREAD_FACTS)]
        if told:
            self.runtime.apply(told)

    def settle(self) -> None:
        """Run every job there is and deliver every event of tasks, one after the other, in this thread."""
        delivery = AttentionDelivery(self.runtime, OwnerOf(*self.worlds), self.metrics, wake_agents=lambda row: None)
        while self.runtime.run_one_job() or delivery.deliver_due():
            pass

    def load_everybody(self) -> None:
        """As if every member came: hydrated, and every scope that something waits for is warm."""
        for world in self.worlds:
            for member_id in Member.objects.filter(workspace=world.workspace).values_list("id", flat=True):
                self.runtime.request_hydrate(world.id.int, member_id.int)
        self.settle()

    def stop(self) -> None:
        self.deaf()
        report = self.runtime.stop(20)
        assert not report.failures

    def restarted(self, **options: Any) -> House:
        """A graceful stop, and the next process under the next epoch, cold."""
        self.stop()
        return self._next(**options)

    def crashed(self, **options: Any) -> House:
        """What is not flushed is gone."""
        self.deaf()
        for world in self.worlds:
            self.runtime.disown(world.id.int)
        return self._next(**options)

    def _next(self, **options: Any) -> House:
        for world in self.worlds:
            current_owner().release(world.id)
        return House(*self.worlds, **options)

    # What is shown

    def shown(self, world: World, who: str, scope: str) -> Shown | None:
        """One entry with its state, also where it shows nothing."""
        return self.runtime.shown(world.id.int, world.member[who].id.int, world.scope[scope].id.int)

    def badge(self, world: World, who: str, scope: str) -> Badge:
        view = self.runtime.member_unread(world.id.int, world.member[who].id.int)
        return badge_of(view.counts.get(world.scope[scope].id.int))

    def errors(self, demand: Demand = Demand.READY) -> list[str]:
        """Where what is shown is not what it must be."""
        return [error for world in self.worlds for error in self._errors(world, truth_of(world), demand)]

    def _errors(self, world: World, truth: Badges, demand: Demand) -> Iterator[str]:
        names = {member.id: name for name, member in world.member.items()}
        for member, expected in truth.items():
            name = names.get(member, str(member))
            view = self.runtime.member_unread(world.id.int, member.int)
            if view.state not in ("ready", "snapshot_serving"):
                yield f"{name} is {view.state}"
            if view.has_unread != self.runtime.has_unread(world.id.int, member.int):
                yield f"{name}: two answers to has_unread"
            if view.has_unread != any(shown.lit for shown in view.counts.values()):
                yield f"{name}: has_unread is {view.has_unread}, and shown is {view.counts}"
            for scope in {UUID(int=each) for each in view.counts} - set(expected):
                if demand < Demand.HONEST or view.counts[scope.int].state is READY:
                    yield f"{name} in {_named(world, scope)}: shown, and not there"
            for scope, badge in expected.items():
                shown = self.runtime.shown(world.id.int, member.int, scope.int)
                if error := _error(shown, badge, demand):
                    yield f"{name} in {_named(world, scope)}: {error}"


def _error(shown: Shown | None, expected: Badge, demand: Demand) -> str:
    seen, state = badge_of(shown), None if shown is None else shown.state
    if state is HINT and demand is Demand.COVERED and covers(seen, expected):
        return ""
    if state is not READY and demand is Demand.HONEST:
        return ""
    if seen != expected:
        return f"{state and state.label} {seen}, but the rows say {expected}"
    if state is not READY and demand is Demand.READY:
        return f"{state and state.label}, not ready"
    return ""


def badge_of(shown: Shown | None) -> Badge:
    return NOTHING if shown is None else Badge(shown.messages, shown.mentions, shown.activities, shown.manual)


def covers(seen: Badge, expected: Badge) -> bool:
    """Nothing is missing from what is seen; markers are exact."""
    return (
        seen.messages >= expected.messages
        and seen.mentions >= expected.mentions
        and seen.activities >= expected.activities
        and seen.manual == expected.manual
    )


def truth_of(world: World) -> Badges:
    return badges(query, world.id)


def query(sql: str, parameters: Sequence[Any]) -> Sequence[Sequence[Any]]:
    """`Run` of the truth, on the test run's own connection."""
    with connection.cursor() as cursor:
        cursor.execute(sql, list(parameters))
        found: Sequence[Sequence[Any]] = cursor.fetchall()
        return found


@contextmanager
def as_product(house: House) -> Iterator[None]:
    """Every endpoint of this process answers from the house's runtime, and its writers heed its backlog."""
    app = unread_app()
    own, app.runtime = app.runtime, house.runtime
    install_unread_reader(MemoryReader(house.runtime, lambda w, m: house.runtime.request_hydrate(w.int, m.int)))
    try:
        yield
    finally:
        app.runtime = own
        install_unread_reader(NoUnread())


def _named(world: World, scope: UUID) -> str:
    return next((name for name, row in world.scope.items() if row.id == scope), str(scope))
