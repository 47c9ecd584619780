"""One owned workspace: its members, scopes and entries, and the lock that guards them.

Everything here and in the modules that work on it runs under `lock`, held for at most one batch. What must happen
outside (jobs to queue, sockets to tell) is collected and handed over by `leave`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from .aggregate import relight_row
from .budgets import Budgets
from .columns import (
    ACTIVE,
    DIRTY,
    LOADED,
    NO_ROW,
    TICKS,
    UNKNOWN,
    VISIBLE,
    WATCHED,
    Columns,
    Rows,
)
from .events import Counted
from .live import LiveScope, Warming
from .log import NOBODY, NOTHING, Fact
from .members import Members
from .places import Places
from .ports import Clock, Metrics
from .scopes import DISTRUSTED, Scopes
from .states import CountState
from .task_log import TaskState
from .totals import Totals
from .turns import Turns


@dataclass(slots=True)
class Watch:
    """A member's sockets and what they have been told."""

    sockets: int = 0
    taken: int = 0
    """Version of the last delta or snapshot taken."""
    news: bool = False
    """Something changed that no entry tells of: the member's pages are in."""


class Forgotten(NamedTuple):
    """What must stay known of an evicted scope: events from before its eviction may still come, or come again."""

    roster_generation: int
    rewind_generation: int


NOT_FORGOTTEN: Final = Forgotten(-1, -1)


class Workspace(Turns):
    def __init__(
        self, workspace: int, epoch: int, budgets: Budgets, clock: Clock, metrics: Metrics, totals: Totals
    ) -> None:
        self.id = workspace
        self.epoch = epoch
        super().__init__(budgets)
        self.clock = clock
        self.metrics = metrics
        self.totals = totals
        self.members = Members()
        self.scopes = Scopes()
        self.columns = Columns()
        self.places = Places()
        self.watches: dict[int, Watch] = {}
        self.tick = 0
        self.tick_base = 0
        self.entries = 0
        self.kept = 0
        """Entries that hold events for rows which are not loaded."""
        self.waiting = 0
        """Pending and held events."""
        self.dirty: dict[int, float] = {}
        """Scopes with dirty entries, and since when."""
        self.dirty_entries = 0
        self.flying_entries = 0
        self.row_version = 0
        self.flush_failures = 0
        self.flush_not_before = 0.0
        self.evictions = 0
        self.serving_since: float | None = None
        """When a look at the numbers first found hints among the entries; None while there are none."""
        self.hydrating: set[int] = set()
        """Members whose pages are being read: their scopes are not evicted."""
        self.forgotten: dict[int, Forgotten] = {}
        """Evicted scopes by id."""
        self.warm_wanted: list[int] = []
        self.tasks: dict[int, TaskState] = {}
        """By scope number."""
        self._changed: set[int] = set()

    # Leaving the lock

    def leave(self) -> tuple[list[int], list[int]]:
        """What the holder of the lock has to do after letting it go: members to tell about, scopes to warm."""
        changed: list[int] = []
        if self._changed:
            changed = [self.members.ids[number] for number in self._changed]
            self._changed.clear()
        wanted, self.warm_wanted = self.warm_wanted, []
        return changed, wanted

    # Time

    @property
    def now(self) -> float:
        return self.clock.monotonic()

    @property
    def version(self) -> int:
        return self.tick_base + self.tick

    def next_tick(self, entries: int = 1) -> int:
        """The value of `touched` for the next change; several entries of one member take several."""
        if self.tick + entries > TICKS:
            self._rebase()
        self.tick += entries
        return self.tick

    # Entries

    def scope(self, scope: int, parent: int) -> int:
        number = self.scopes.number(scope, parent)
        self.scopes.used_at[number] = self.now
        return number

    def find(self, scope: int, member: int) -> int:
        """The member's row in a scope, NO_ROW if there is none."""
        start = self.scopes.start[scope]
        members = self.columns.member[start : start + self.scopes.length[scope]]
        place = self.places.find(scope, members, member)
        return place if place == NO_ROW else start + place

    def rows(self, scope: int) -> slice:
        start = self.scopes.start[scope]
        return slice(start, start + self.scopes.length[scope])

    def append(self, scope: int, members: Sequence[int]) -> Rows:
        """Shells for members of a scope that have no entry there yet."""
        scopes, columns = self.scopes, self.columns
        start, length, size = scopes.start[scope], scopes.length[scope], scopes.size[scope]
        needed = length + len(members)
        if needed > size:
            room = needed if not length else max(needed, length + length // 8)
            grown = columns.extend(start, size, room) if size else 0
            if grown:
                scopes.size[scope] = grown
            else:
                to, scopes.size[scope] = columns.allocate(room)
                if length:
                    columns.move(start, length, to, self.members.heads)
                if size:
                    columns.release(start, size)
                scopes.start[scope] = start = to
        fresh = slice(start + length, start + needed)
        columns.clear(fresh, np.array(members, dtype=np.int32), scope)
        rows = np.arange(fresh.start, fresh.stop, dtype=np.int64)
        columns.link(rows, self.members.heads)
        scopes.length[scope] = needed
        self.note_entries(len(members))
        columns.flags[fresh] = ACTIVE | VISIBLE
        columns.state[fresh] = CountState.HYDRATING
        if self.watches:
            for row, member in zip(rows.tolist(), members, strict=True):
                if member in self.watches:
                    columns.flags[row] |= WATCHED
        return rows

    def entry(self, scope: int, member: int) -> int:
        """The member's entry; a new one is a shell, or known to have no row where all the member's rows are in.

        NO_ROW where it would be one shell too many: then rows loaded into this scope are no longer trusted.
        """
        row = self.find(scope, member)
        if row != NO_ROW:
            return row
        if not self.members.is_loaded(member) and self.kept >= self.budgets.max_kept_entries:
            return NO_ROW
        return self.append_shell(scope, member)

    def append_shell(self, scope: int, member: int) -> int:
        """A new entry. Where all rows of the member or of the scope are in, it is known to have none."""
        row = int(self.append(scope, (member,))[0])
        self.kept += 1
        live = self.live_of(scope)
        if self.members.is_loaded(member) or (live is not None and live.complete):
            self.loaded(row)
        return row

    def refuse_kept(self, scope: int) -> None:
        """An event could not be kept for its entry: what the snapshot says of this scope may be outdated by it."""
        self.scopes.status[scope] |= DISTRUSTED
        self.metrics.count("refused_kept_events")

    def loaded(self, row: int) -> None:
        """What the snapshot says of the entry is in."""
        if not self.columns.flags[row] & LOADED:
            self.columns.flags[row] |= LOADED
            self.kept -= 1

    def is_complete(self, row: int) -> bool:
        """The entry could be written as a row: its membership is known, and what the snapshot said of it."""
        columns = self.columns
        return bool(columns.flags[row] & LOADED) and int(columns.membership_generation[row]) != UNKNOWN

    # Changes

    def changed(self, scope: int, row: int, *, dirty: bool = True) -> None:
        """One entry changed: it is dirty, has a new version, and its member may have to be told."""
        columns = self.columns
        columns.touched[row] = self.next_tick()
        if dirty and not columns.flags[row] & DIRTY and self.is_complete(row):
            columns.flags[row] |= DIRTY
            self.note_dirty(scope, 1)
        relight_row(self, scope, row)
        if columns.flags[row] & WATCHED:
            self._changed.add(int(columns.member[row]))

    def note_dirty(self, scope: int, entries: int) -> None:
        if self.closed:
            return
        self.dirty_entries += entries
        self.totals.add(backlog=entries)
        self.dirty.setdefault(scope, self.now)

    def note_flying(self, flying: int, *, dirty: int) -> None:
        if self.closed:
            return
        self.flying_entries += flying
        self.dirty_entries += dirty
        self.totals.add(backlog=flying + dirty)

    def note_waiting(self, events: int) -> None:
        if self.closed:
            return
        self.waiting += events
        self.totals.add(waiting=events)

    def note_entries(self, entries: int) -> None:
        if self.closed:
            return
        self.entries += entries
        self.totals.add(entries=entries)

    def close(self) -> None:
        """No longer owned; what it held counts for the process no more."""
        self.closed = True
        self.turn_over.notify_all()
        backlog = self.dirty_entries + self.flying_entries
        self.totals.add(waiting=-self.waiting, backlog=-backlog, entries=-self.entries)
        self.waiting = self.dirty_entries = self.flying_entries = self.entries = 0

    def note_changed(self, rows: Rows) -> None:
        """Rows of watched members whose shown state changed."""
        if len(rows):
            self._changed.update(self.columns.member[rows].tolist())

    def note_news(self, member: int) -> None:
        watch = self.watches.get(member)
        if watch is not None:
            watch.news = True
            self._changed.add(member)

    # Facts in numbers

    def fact(self, counted: Counted | None) -> Fact:
        if counted is None:
            return NOTHING
        author = self.person(counted.author)
        return Fact(
            author,
            author if counted.principal == counted.author else self.person(counted.principal),
            counted.counts,
            tuple(self.members.number(member) for member in dict.fromkeys(counted.mentions))
            if counted.mentions
            else (),
        )

    def person(self, member: int) -> int:
        return self.members.number(member) if member else NOBODY

    # Warming

    def want_warm(self, live: LiveScope) -> None:
        if live.warming is Warming.IDLE:
            live.warming = Warming.WANTED
            live.warm_since = self.now
            self.warm_wanted.append(live.number)
            self.open_gaps.add(live.number)

    def _rebase(self) -> None:
        """Versions go on rising where `touched` has no room left: everything counts as changed once more."""
        self.tick_base += self.tick
        self.tick = 1
        self.columns.touched[:] = 1
        for watch in self.watches.values():
            watch.taken = min(watch.taken, self.tick_base)
