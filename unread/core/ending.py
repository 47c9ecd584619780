"""The steps before the last flush of a graceful stop: rosters that events wait for, and rows that entries wait for."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence

import numpy as np

from .columns import LOADED, NO_ROW, UNKNOWN
from .live import Warming
from .workspace import Workspace

log = logging.getLogger(__name__)


def finish_rosters(owned: Sequence[Workspace], warm: Callable[[int, int], None], deadline_s: float) -> None:
    """Warm the scopes with waiting events, and those with entries whose membership is not known."""
    until = time.monotonic() + deadline_s
    for workspace in owned:
        for scope in _scopes_to_warm(workspace):
            if time.monotonic() > until:
                log.warning("rosters were left unread at the end")
                return
            try:
                warm(workspace.id, scope)
            except Exception:
                log.exception("roster of scope %x could not be read at the end", scope)


def finish_entries(
    owned: Sequence[Workspace], hydrate: Callable[[int, int, Sequence[int]], None], deadline_s: float
) -> None:
    """Load the rows of entries that still keep events for them."""
    until = time.monotonic() + deadline_s
    for workspace in owned:
        for member, scopes in _entries_to_hydrate(workspace).items():
            if time.monotonic() > until:
                log.warning("rows with kept events were left unread at the end")
                return
            try:
                hydrate(workspace.id, member, scopes)
            except Exception:
                log.exception("rows of a member could not be read at the end")


def _scopes_to_warm(workspace: Workspace) -> list[int]:
    with workspace.lock:
        columns, used = workspace.columns, workspace.columns.used
        unknown = (columns.member[:used] != NO_ROW) & (columns.membership_generation[:used] == UNKNOWN)
        scopes = set(columns.scope[:used][unknown].tolist())
        scopes.update(number for number, live in workspace.live.items() if live.waiting or live.roster.open_gap)
        for number in scopes:
            live = workspace.turn(number)
            if live.warming is not Warming.RUNNING:
                live.warming = Warming.QUEUED
        return [workspace.scopes.ids[number] for number in scopes]


def _entries_to_hydrate(workspace: Workspace) -> dict[int, list[int]]:
    with workspace.lock:
        columns, used = workspace.columns, workspace.columns.used
        kept = (columns.member[:used] != NO_ROW) & ((columns.flags[:used] & LOADED) == 0)
        found: dict[int, list[int]] = {}
        for row in np.flatnonzero(kept).tolist():
            member = workspace.members.ids[int(columns.member[row])]
            found.setdefault(member, []).append(workspace.scopes.ids[int(columns.scope[row])])
        return found
