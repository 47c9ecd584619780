"""Flushes of many dirty rows through the real store: against one upsert for each row, and beside requests."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from unread.core.events import Level, NotificationPolicyChanged
from unread.core.ports import SnapshotRow

from ..databases import open_database
from ..workspace import joined, member, scope

IN_EACH = 100
"""Members of each scope whose rows are flushed."""


def measure(entries: int, rounds: int, single: int, idle: int) -> dict[str, Any]:
    """Microseconds of a row, flushed by the product or one by one; milliseconds of requests, idle and while flushing.

    All rows are there already, so that both sides update. `single`: rows written one by one in each round; `idle`:
    requests timed before the first flush.
    """
    open_database()
    from conversations.ownership import current_owner
    from tests.unread.house import House, as_product
    from tests.world import World
    from unread.store import SnapshotTable

    class Capturing(SnapshotTable):
        rows: list[SnapshotRow] = []

        def upsert(self, workspace: int, epoch: int, rows: Sequence[SnapshotRow]) -> None:
            if len(self.rows) < single:
                self.rows.extend(rows)
            super().upsert(workspace, epoch, rows)

    world, store = World("ann", "ben"), Capturing()
    house = House(world, snapshots=store)
    world.channel("small", "ann", "ben")
    big = _Big(house.runtime, world.id.int, entries)
    house.runtime.flush()
    found: dict[str, Any] = {"product": [], "single": [], "shared": [], "busy": []}
    with as_product(house), _leases():
        house.load_everybody()
        ask = _requests(world)
        found["idle"] = [ask() for _ in range(idle)]
        for _ in range(rounds):
            big.dirty()
            store.rows.clear()
            before = time.perf_counter()
            report = house.runtime.flush()
            found["product"].append((time.perf_counter() - before) * 1e6 / report.rows)
            epoch, rows = current_owner().require(world.id), store.rows[:single]
            found["single"].append(_one_by_one(world.id.int, epoch, rows))
            found["shared"].append(_one_by_one(world.id.int, epoch, rows, house.runtime.settings.flush_batch_size))
            big.dirty()
            found["busy"] += _while_flushing(house.runtime, ask)
    return found


class _Big:
    """Scopes with many members, known to the runtime by events alone."""

    def __init__(self, runtime: Any, workspace: int, entries: int) -> None:
        self._runtime, self._workspace, self._entries = runtime, workspace, entries
        self._generation = 0
        for number in range(entries // IN_EACH):
            runtime.apply([joined(who, number, who, workspace=workspace) for who in range(1, IN_EACH + 1)])

    def dirty(self) -> None:
        """Every entry changes."""
        self._generation += 1
        level = (Level.NONE, Level.ALL)[self._generation % 2]
        for number in range(self._entries // IN_EACH):
            where = (self._workspace, scope(number), 0)
            self._runtime.apply(
                [
                    NotificationPolicyChanged(*where, member(who), level, self._generation)
                    for who in range(1, IN_EACH + 1)
                ]
            )


def _one_by_one(workspace: int, epoch: int, rows: list[SnapshotRow], in_one: int = 0) -> float:
    """Microseconds of a row, by the same store and guard, one at a time; `in_one`: so many in one transaction."""
    from django.db import connection, transaction

    from unread.store import SnapshotTable, _upsert

    rows[:] = [replace(row, row_version=row.row_version + 1) for row in rows]
    store, before = SnapshotTable(), time.perf_counter()
    if not in_one:
        for row in rows:
            store.upsert(workspace, epoch, [row])
    for first in range(0, len(rows), in_one) if in_one else ():
        with transaction.atomic(), connection.cursor() as cursor:
            for row in rows[first : first + in_one]:
                cursor.execute(*_upsert(workspace, epoch, [row]))
    return (time.perf_counter() - before) * 1e6 / len(rows)


def _requests(world: Any) -> Callable[[], float]:
    """Milliseconds of a read of unread and a written message, through the whole of Django, in this process."""
    scope_id = world.scope["small"].id

    def ask() -> float:
        before = time.perf_counter()
        world.call("ben", "GET", f"/workspaces/{world.id}/unread").ok()
        world.call("ann", "POST", f"/conversations/{scope_id}/messages", {"text": "Is the build green again?"}).ok()
        return (time.perf_counter() - before) * 1e3

    for _ in range(50):
        ask()
    return ask


def _while_flushing(runtime: Any, ask: Callable[[], float]) -> list[float]:
    from django.db import connections

    def flush() -> None:
        try:
            runtime.flush_due(rest=lambda spent: time.sleep(min(spent, runtime.budgets.flush_rest_max_s)))
        finally:
            connections.close_all()

    flusher = threading.Thread(target=flush, name="flusher")
    taken = []
    flusher.start()
    while flusher.is_alive():
        taken.append(ask())
    flusher.join()
    return taken


@contextmanager
def _leases() -> Iterator[None]:
    from conversations.ownership import current_owner
    from conversations.ownership.keeper import LeaseKeeper

    keeper = LeaseKeeper(current_owner())
    keeper.start()
    try:
        yield
    finally:
        keeper.stop(5)
