"""Warm jobs: a cold scope's roster, header first, then pages, then the events that waited for it.

The header says up to where history reaches (the starting frontiers) and which roster generation the pages are at
least of. Pages meet live events row by row, by generation. No message is ever read.
"""

from __future__ import annotations

import numpy as np

from .accounting import demote, everyone
from .aspects import ACTIVITIES, MESSAGES
from .changed import behind_changed
from .columns import EXACT, LOADED
from .live import LiveScope, Warming
from .membership import open_or_close
from .ports import RosterStore, ScopeHeader
from .recount import note_ready, recount_scope
from .scope_events import drain, lose, note_gaps
from .scopes import DISTRUSTED
from .states import CountState
from .tasks import mark_task
from .warm_rows import load_roster_page
from .workspace import Workspace


def warm_scope(workspace: Workspace, scope: int, rosters: RosterStore, page_size: int) -> None:
    """Read a scope's roster and apply what waited for it. Raises what the store raises; the job stays wanted then."""
    with workspace.lock:
        live = workspace.live_of(scope)
        if workspace.closed or live is None or live.warming is Warming.RUNNING:
            return
        live.warming = Warming.RUNNING
        identity = workspace.scopes.ids[scope]
    try:
        header = rosters.load_header(workspace.id, identity)
        if header is None:
            with workspace.lock:
                if not workspace.closed:
                    _abandon(workspace, live)
            return
        with workspace.lock:
            if workspace.closed:
                return
            take_states(workspace, scope, header)
            if header.task:
                mark_task(workspace, scope)
                return
        _load_pages(workspace, live, rosters, page_size)
        with workspace.lock:
            if workspace.rest(live):
                _complete(workspace, live, header)
            if workspace.rest(live):
                recount_scope(workspace, live)
    finally:
        with workspace.lock:
            if live.warming is Warming.RUNNING:
                live.warming = Warming.IDLE


def take_states(workspace: Workspace, scope: int, header: ScopeHeader) -> None:
    workspace.scope(header.scope, header.parent)
    open_or_close(workspace, scope, header.active, header.roster_generation)
    if header.parent:
        above = workspace.scopes.number(header.parent, 0)
        open_or_close(workspace, above, header.parent_active, header.parent_roster_generation)


def _load_pages(workspace: Workspace, live: LiveScope, rosters: RosterStore, page_size: int) -> None:
    after, identity = 0, workspace.scopes.ids[live.number]
    while True:
        page = rosters.load_page(workspace.id, identity, after, page_size)
        with workspace.lock:
            if workspace.closed:
                return
            load_roster_page(workspace, live.number, page)
        if len(page) < page_size:
            return
        after = page[-1].member


def _complete(workspace: Workspace, live: LiveScope, header: ScopeHeader) -> None:
    """The roster is complete at the header's generation; only the first time do the frontiers start there."""
    live.roster.completed(header.roster_generation)
    if not live.complete:
        live.complete = True
        live.messages.begin(header.latest_seq)
        live.activities.begin(header.latest_activity_seq)
        live.rewinds.begin(header.rewind_generation)
        log = live.messages.own_log()
        log.start_generation = log.applied_generation = header.rewind_generation
        _close_shells(workspace, live)
        _account_for_dropped(workspace, live)
    else:  # what was committed until then and has no event yet is missing
        live.messages.seen = max(live.messages.seen, header.latest_seq)
        live.activities.seen = max(live.activities.seen, header.latest_activity_seq)
        live.rewinds.seen = max(live.rewinds.seen, header.rewind_generation)
    drain(workspace, live)
    if not workspace.closed:
        note_gaps(workspace, live)


def _close_shells(workspace: Workspace, live: LiveScope) -> None:
    """Whoever is not on the roster has no row either, and the entries called ready rely on what is on its way."""
    workspace.scopes.status[live.number] &= ~DISTRUSTED
    columns = workspace.columns
    rows = workspace.rows(live.number)
    shells = (columns.flags[rows] & LOADED) == 0
    count = int(np.count_nonzero(shells))
    if count:
        columns.flags[rows] &= np.uint16(~EXACT & 0xFFFF)
        columns.flags[rows] |= shells.astype(np.uint16) * np.uint16(LOADED)
        workspace.kept -= count
    ready = np.flatnonzero(columns.state[rows] == CountState.READY)
    note_ready(workspace, live, ready + rows.start)


def _account_for_dropped(workspace: Workspace, live: LiveScope) -> None:
    if live.dropped_message:
        lose(workspace, live, MESSAGES, live.dropped_message)
    if live.dropped_activity:
        lose(workspace, live, ACTIVITIES, live.dropped_activity)
    if live.dropped_change:
        live.messages.log.distrust(live.dropped_change)
        live.messages.log.raise_floor(max(live.messages.frontier, live.messages.seen))
        demote(workspace, live, everyone)
    live.dropped_message = live.dropped_activity = live.dropped_change = 0


def _abandon(workspace: Workspace, live: LiveScope) -> None:
    """There is no such scope (any more): nothing of it is shown, and nothing waits for it."""
    workspace.metrics.count("dropped_events", live.waiting)
    workspace.note_waiting(-live.waiting)
    live.pending = live.rewinds.held = None
    behind_changed(workspace, live)
    open_or_close(workspace, live.number, False, 2**31 - 1)
