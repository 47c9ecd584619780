"""What a serving process does by itself: open messages that lost their writer run out, what watchers may not have been
told is told again, and cards end at their deadlines."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import UUID

from ..ownership import Owner
from ..periodic import Periodic
from .card_ends import time_out_due
from .expiring import expire_stale
from .marks import tell_again

EVERY_S = 5.0
CARDS_EVERY_S = 1.0
BATCH = 100
MAX_BATCHES = 20
"""Of each kind for each 500 workspaces in one turn; the next turn goes on."""
_WORKSPACES = 500


def stream_sweeper(owner: Owner, every_s: float = EVERY_S) -> Periodic:
    """The worker: two statements a turn for each 500 workspaces, where there is nothing to do."""
    return Periodic("stream-sweeper", every_s, lambda: sweep(owner))


def card_sweeper(owner: Owner, every_s: float = CARDS_EVERY_S) -> Periodic:
    """The worker of deadlines: one statement a turn for each 500 workspaces, where none has come."""
    return Periodic("card-sweeper", every_s, lambda: sweep_cards(owner))


def sweep_cards(owner: Owner) -> None:
    for some in _owned(owner):
        for _ in range(MAX_BATCHES):
            if time_out_due(some, BATCH) < BATCH:
                break


def sweep(owner: Owner) -> None:
    """One turn, over the workspaces that this process owns."""
    for some in _owned(owner):
        for _ in range(MAX_BATCHES):
            if expire_stale(some, BATCH) < BATCH:
                break
        after: UUID | None = None
        for _ in range(MAX_BATCHES):
            after = tell_again(some, after=after, limit=BATCH)
            if after is None:
                break


def _owned(owner: Owner) -> Iterator[list[UUID]]:
    held = sorted(owner.held())
    for at in range(0, len(held), _WORKSPACES):
        yield held[at : at + _WORKSPACES]
