"""The convergence test can fail: each of these deliberate bugs, one rule broken at a time, has to be found by it.

A bug is found when a random history goes wrong that holds without it.
"""

from __future__ import annotations

import logging
import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from unread.core import accounting, cursors, evidence, flush, markers, membership, recount, scope_events
from unread.core.rewinds import Rewinds
from unread.core.roster import RosterGeneration
from unread.core.scopes import OPEN, Scopes
from unread.core.states import CountState
from unread.core.stream import Stream

from .driver import failure_of, random_history

pytestmark = pytest.mark.slow

PATIENCE = 4000
"""Histories to find a bug in."""

Patch = Callable[[pytest.MonkeyPatch], None]


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

    patch.setattr(scope_events, "past_base", everybody)


def does_not_wait_for_the_roster(patch: pytest.MonkeyPatch) -> None:
    """A message that overtakes a join is accounted without the one who joined."""
    completed = RosterGeneration.completed
    patch.setattr(RosterGeneration, "completed", lambda self, generation: completed(self, 2**30))


def lets_the_last_marker_win(patch: pytest.MonkeyPatch) -> None:
    """Markers by order of arrival instead of by generation."""

    def set_marker(workspace: Any, row: int, seq: int, generation: int) -> bool:
        workspace.columns.marker[row], workspace.columns.marker_generation[row] = seq, generation
        return True

    patch.setattr(markers, "set_marker", set_marker)


def calls_every_read_full(patch: pytest.MonkeyPatch) -> None:
    """A read that a later message overtook clears that message too."""
    patch.setattr(cursors, "_covers", lambda *_: True)


def recounts_what_it_never_saw(patch: pytest.MonkeyPatch) -> None:
    """The log is taken for complete below the starting frontier."""
    available = recount.available

    def optimistic(workspace: Any, live: Any, aspect: Any, row: int) -> bool:
        if live is None or not live.complete:
            return available(workspace, live, aspect, row)
        return workspace.is_complete(row)

    patch.setattr(recount, "available", optimistic)


def forgets_the_parent(patch: pytest.MonkeyPatch) -> None:
    """A thread goes on showing while its channel is archived."""
    patch.setattr(Scopes, "is_open", lambda self, number: bool(self.status[number] & OPEN))


def forgets_failed_rows(patch: pytest.MonkeyPatch) -> None:
    """A failed upsert leaves its rows clean."""
    landed = flush._landed
    patch.setattr(flush, "_landed", lambda workspace, part, written: landed(workspace, part, written=True))


def applies_changes_as_they_come(patch: pytest.MonkeyPatch) -> None:
    """A gap in the rewind generations holds nothing back."""
    patch.setattr(Rewinds, "is_new", lambda self, generation: True)


def trusts_a_gap(patch: pytest.MonkeyPatch) -> None:
    """A lost message leaves everybody ready."""
    patch.setattr(scope_events, "demote", lambda *_, **__: 0)


def forgets_that_rejoining_starts_anew(patch: pytest.MonkeyPatch) -> None:
    """Whoever rejoins finds what was unread when he left."""
    patch.setattr(membership, "_begin", lambda *_, **__: None)


def raises_by_evidence(patch: pytest.MonkeyPatch) -> None:
    """Evidence is believed whatever happened since it was read."""
    observe = evidence.observe

    def hasty(workspace: Any, member: int, noted_version: int, rows: Any, *, complete: bool) -> None:
        observe(workspace, member, 2**40, rows, complete=complete)

    from unread.core import serving

    patch.setattr(serving, "observe", hasty)


def promotes_hints(patch: pytest.MonkeyPatch) -> None:
    """A row from the last life is called ready."""
    from unread.core import loading

    patch.setattr(loading, "_state", lambda *_, **__: CountState.READY)


def stays_lit(patch: pytest.MonkeyPatch) -> None:
    """The number of lit scopes is not kept up when a message is taken back."""
    from unread.core import changed

    relight = changed.relight

    def lazily(workspace: Any, scope: int, rows: Any) -> None:
        if len(rows) == 1:
            relight(workspace, scope, rows)

    patch.setattr(changed, "relight", lazily)


MUTANTS: tuple[Patch, ...] = (
    counts_twice,
    takes_late_for_history,
    ignores_the_base,
    does_not_wait_for_the_roster,
    lets_the_last_marker_win,
    calls_every_read_full,
    recounts_what_it_never_saw,
    forgets_the_parent,
    forgets_failed_rows,
    applies_changes_as_they_come,
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
    for number in range(PATIENCE):
        history = random_history(random.Random(f"mutants/{number}"))
        if failure_of(history) is not None:
            monkeypatch.undo()
            assert failure_of(history) is None, "the history fails without the bug as well"
            return
    pytest.fail(f"{PATIENCE} histories did not find it: {mutant.__doc__}")


assert accounting is not None
