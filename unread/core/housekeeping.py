"""Rounds of housekeeping: gaps that stayed open past the grace, warm jobs that found no room, rosters that hang."""

from __future__ import annotations

from .aspects import ACTIVITIES, MESSAGES, Aspect
from .events import MessagesChanged
from .live import LiveScope, Warming
from .scope_events import lose, lose_changes, lose_gaps, lose_late_changes
from .stream import Stream
from .workspace import Workspace

_CLOSED = -1.0


def look_at_gaps(workspace: Workspace, *, grace_s: float | None = None) -> None:
    """Give up what has been missing for the grace (a stop gives no grace), and forget scopes that miss nothing."""
    grace = workspace.budgets.gap_grace_s if grace_s is None else grace_s
    for scope in list(workspace.open_gaps):
        live = workspace.live.get(scope)
        if live is None:
            workspace.open_gaps.discard(scope)
            continue
        if not workspace.rest(live):
            continue
        if not live.complete:
            _want_again(workspace, live)
            if not live.waiting and live.warming is Warming.IDLE:
                workspace.open_gaps.discard(scope)
            continue
        with workspace.busy(live):
            _look(workspace, live, grace)
        if not _misses_anything(live):
            workspace.open_gaps.discard(scope)
        workspace.breathe()
        if workspace.closed:
            return


def _look(workspace: Workspace, live: LiveScope, grace: float) -> None:
    for aspect in (MESSAGES, ACTIVITIES):
        stream = aspect.stream(live)
        _look_at_stream(workspace, live, aspect, stream, grace)
        if stream.settle_since >= 0 and workspace.now - stream.settle_since >= grace:
            _settle(workspace, live, aspect, stream)
    _look_at_rewinds(workspace, live, grace)
    _look_at_roster(workspace, live, grace)


def _look_at_stream(workspace: Workspace, live: LiveScope, aspect: Aspect, stream: Stream, grace: float) -> None:
    stream.time_gap(workspace.now)
    if stream.open_gap and workspace.now - stream.gap_since >= grace:
        lose_gaps(workspace, live, aspect, stream.gap_top)
        stream.gap_since = _CLOSED


def _settle(workspace: Workspace, live: LiveScope, aspect: Aspect, stream: Stream) -> None:
    """Entries were called ready while events below the starting frontier were on their way; they have not come."""
    waiting = live.pending_seqs(aspect.event)
    for seq in stream.unsettled():
        if seq not in waiting:
            lose(workspace, live, aspect, seq)
    stream.settle_since = _CLOSED


def _look_at_rewinds(workspace: Workspace, live: LiveScope, grace: float) -> None:
    rewinds = live.rewinds
    if rewinds.settle_since >= 0 and (not rewinds.unsettled() or workspace.now - rewinds.settle_since >= grace):
        _settle_changes(workspace, live)
    rewinds.time_gap(workspace.now)
    if rewinds.open_gap and workspace.now - rewinds.gap_since >= grace:
        lose_changes(workspace, live, rewinds.gap_top)
        rewinds.gap_since = _CLOSED


def _settle_changes(workspace: Workspace, live: LiveScope) -> None:
    waiting = {event.rewind_generation for event in live.pending or () if isinstance(event, MessagesChanged)}
    missing = live.rewinds.unsettled(waiting)
    if missing:
        lose_late_changes(workspace, live, missing)
    live.rewinds.settle_since = _CLOSED


def _look_at_roster(workspace: Workspace, live: LiveScope, grace: float) -> None:
    roster = live.roster
    roster.time_gap(workspace.now)
    if roster.open_gap and workspace.now - roster.gap_since >= grace:
        workspace.want_warm(live)
        roster.gap_since = _CLOSED


def _want_again(workspace: Workspace, live: LiveScope) -> None:
    if live.warming is Warming.WANTED:
        workspace.warm_wanted.append(live.number)
    elif live.warming is Warming.IDLE and live.waiting:
        workspace.want_warm(live)


def _misses_anything(live: LiveScope) -> bool:
    streams = (live.messages, live.activities)
    return (
        any(stream.open_gap or stream.settle_since >= 0 for stream in streams)
        or live.rewinds.open_gap
        or live.rewinds.settle_since >= 0
        or live.roster.open_gap
        or bool(live.pending)
        or live.warming is Warming.WANTED
    )
