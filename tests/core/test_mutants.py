"""The convergence test can fail: each of these deliberate bugs, one rule broken at a time, has to be found by it.

A bug is found when a random history goes wrong that holds without it.
"""

from __future__ import annotations

import logging
import random
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from unread.core import (
    accounting,
    changed,
    cursors,
    evidence,
    flush,
    loading,
    markers,
    membership,
    recount,
    scope_events,
)
from unread.core.log import FactLog
from unread.core.scopes import OPEN, Scopes
from unread.core.states import CountState
from unread.core.stream import Stream

from .driver import NAMES, failure_of, random_history

pytestmark = pytest.mark.slow

PATIENCE = 1500
"""Histories to find a bug in."""

Patch = Callable[[pytest.MonkeyPatch], None]


def replace(patch: pytest.MonkeyPatch, original: Any, bug: Any) -> None:
    """Put the bug in the original's place in every module of the core that has taken it by name."""
    places = [
        (module, name)
        for module_name, module in list(sys.modules.items())
        if module_name.startswith("unread.core.")
        for name, value in list(vars(module).items())
        if value is original
    ]
    assert places
    for module, name in places:
        patch.setattr(module, name, bug)


def counts_twice(patch: pytest.MonkeyPatch) -> None:
    """A message that arrives twice is accounted twice."""
    patch.setattr(Stream, "accounted", lambda self, seq: False)


def takes_late_for_history(patch: pytest.MonkeyPatch) -> None:
    """A message at or below the starting frontier is dropped, as if history."""
    accounted = Stream.accounted
    patch.setattr(Stream, "accounted", lambda self, seq: seq <= self.start or accounted(self, seq))


def ignores_the_base(patch: pytest.MonkeyPatch) -> None:
    """A late message is counted also for an entry whose row has it."""

    def everybody(*_: Any) -> Any:
        return lambda workspace, rows: np.ones(rows.stop - rows.start, dtype=np.bool_)

    replace(patch, accounting.past_base, everybody)


def drops_what_waited(patch: pytest.MonkeyPatch) -> None:
    """What came before the roster was read is forgotten once it is."""

    def clear(workspace: Any, live: Any) -> None:
        if live.pending and live.complete:
            workspace.note_waiting(-len(live.pending))
            live.pending = None

    replace(patch, scope_events.drain, clear)


def lets_the_last_marker_win(patch: pytest.MonkeyPatch) -> None:
    """Markers by order of arrival instead of by generation."""

    def set_marker(workspace: Any, row: int, seq: int, generation: int) -> bool:
        workspace.columns.marker[row], workspace.columns.marker_generation[row] = seq, generation
        return True

    replace(patch, markers.set_marker, set_marker)


def calls_every_read_full(patch: pytest.MonkeyPatch) -> None:
    """A read that a later message overtook clears that message too."""
    replace(patch, cursors._covers, lambda *_: True)


def recounts_what_it_never_saw(patch: pytest.MonkeyPatch) -> None:
    """The log is taken for complete below the starting frontier."""
    available = recount.available

    def optimistic(workspace: Any, live: Any, aspect: Any, row: int) -> bool:
        if live is None or not live.complete:
            return available(workspace, live, aspect, row)
        return workspace.is_complete(row)

    replace(patch, recount.available, optimistic)


def forgets_the_parent(patch: pytest.MonkeyPatch) -> None:
    """A thread goes on showing while its channel is archived."""
    patch.setattr(Scopes, "is_open", lambda self, number: bool(self.status[number] & OPEN))


def forgets_failed_rows(patch: pytest.MonkeyPatch) -> None:
    """A failed upsert leaves its rows clean."""
    landed = flush._landed

    def anyhow(workspace: Any, part: Any, *, written: bool) -> None:
        landed(workspace, part, written=True)

    replace(patch, flush._landed, anyhow)


def lets_the_last_change_win(patch: pytest.MonkeyPatch) -> None:
    """Changes of one message by order of arrival instead of by generation."""
    get = FactLog.get

    def ageless(self: FactLog, seq: int) -> Any:
        record = get(self, seq)
        return record and record._replace(generation=-1)

    patch.setattr(FactLog, "get", ageless)


def trusts_a_gap(patch: pytest.MonkeyPatch) -> None:
    """A lost message leaves everybody ready."""
    replace(patch, accounting.demote, lambda *_, **__: 0)


def forgets_that_rejoining_starts_anew(patch: pytest.MonkeyPatch) -> None:
    """Whoever rejoins finds what was unread when he left."""
    replace(patch, membership._begin, lambda *_, **__: None)


def raises_by_evidence(patch: pytest.MonkeyPatch) -> None:
    """Evidence is believed whatever happened since it was read."""
    observe = evidence.observe

    def hasty(workspace: Any, member: int, noted_version: int, rows: Any, *, complete: bool) -> None:
        observe(workspace, member, 2**40, rows, complete=complete)

    from unread.core import serving

    patch.setattr(serving, "observe", hasty)


def promotes_hints(patch: pytest.MonkeyPatch) -> None:
    """A row from the last life is called ready."""
    replace(patch, loading._state, lambda *_, **__: CountState.READY)


def stays_lit(patch: pytest.MonkeyPatch) -> None:
    """The number of lit scopes is not kept up when a message is taken back."""
    relight = changed.relight

    def lazily(workspace: Any, scope: int, rows: Any) -> None:
        if len(rows) == 1:
            relight(workspace, scope, rows)

    replace(patch, changed.relight, lazily)


FOCUS: dict[Patch, str] = {
    forgets_failed_rows: "post deliver_all jobs fail_upserts flush restart",
    lets_the_last_change_win: "post delete edit show deliver jobs",
    raises_by_evidence: "join leave post read_all deliver_all jobs note look observe",
}
"""The moves that matter, where it would take thousands of histories of everything to meet."""

MUTANTS: tuple[Patch, ...] = (
    counts_twice,
    takes_late_for_history,
    ignores_the_base,
    drops_what_waited,
    lets_the_last_marker_win,
    calls_every_read_full,
    recounts_what_it_never_saw,
    forgets_the_parent,
    forgets_failed_rows,
    lets_the_last_change_win,
    trusts_a_gap,
    forgets_that_rejoining_starts_anew,
    raises_by_evidence,
    promotes_hints,
    stays_lit,
)


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.__name__)
def test_the_bug_is_found(mutant: Patch, monkeypatch: pytest.MonkeyPatch) -> None:
    mutant(monkeypatch)
    only = FOCUS[mutant].split() if mutant in FOCUS else NAMES
    for number in range(PATIENCE):
        history = random_history(random.Random(f"mutants/{number}"), only)
        failure = failure_of(history)
        if failure is not None:
            assert failure.startswith("Wrong: member"), f"the bug is not the one that was meant: {failure}"
            monkeypatch.undo()
            assert failure_of(history) is None, "the history fails without the bug as well"
            return
    pytest.fail(f"{PATIENCE} histories did not find it: {mutant.__doc__}")
