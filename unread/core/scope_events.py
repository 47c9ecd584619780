"""Events for everybody in a scope: they wait for the roster, are accounted once, and are lost where there is no room.

A message or activity needs a roster that is complete up to the generation captured with it. Until then it waits in the
scope's pending queue; a cold scope gets one warm job. That is all the write path does for a cold scope.
"""

from __future__ import annotations

from collections import deque

from .accounting import demote, everyone, missing_it, past_base, replace
from .aspects import ACTIVITIES, MESSAGES, Aspect
from .changed import behind_changed
from .events import MessagesChanged, MessageStored, NonMessageActivityStored
from .live import LiveScope, ScopeEvent
from .log import NOTHING, Fact
from .message_changes import apply_change
from .tasks import announced, is_task
from .workspace import Workspace


def scope_event(workspace: Workspace, event: ScopeEvent) -> None:
    """Apply an event now, or keep it until the roster is complete enough."""
    scope = workspace.scope(event.scope, event.parent)
    if event.recipients is not None or is_task(workspace, scope):
        announced(workspace, scope, event)
        return
    live = workspace.turn(scope)
    if workspace.closed:
        return
    if live.complete and event.roster_generation <= live.roster.complete:
        with workspace.busy(live):
            apply_now(workspace, live, event)
        return
    _wait(workspace, live, event)


def apply_now(workspace: Workspace, live: LiveScope, event: ScopeEvent) -> None:
    """The roster is complete enough; the scope is busy."""
    if isinstance(event, MessageStored):
        _account(workspace, live, MESSAGES, event.seq, workspace.fact(event.facts), event.rewind_generation)
        live.rewinds.seen = max(live.rewinds.seen, event.rewind_generation)
    elif isinstance(event, NonMessageActivityStored):
        actor = workspace.person(event.actor)
        _account(workspace, live, ACTIVITIES, event.seq, Fact(actor, actor, event.counts), 0)
    else:
        _change(workspace, live, event)
    note_gaps(workspace, live)


def drain(workspace: Workspace, live: LiveScope) -> None:
    """Apply what waited for the roster and need not wait any longer, one event under each hold of the lock."""
    if not live.pending or not live.complete or not workspace.rest(live) or not live.pending:
        return  # while it waited for its turn, another thread may have drained
    with workspace.busy(live):
        for _ in range(len(live.pending)):
            event = live.pending.popleft()
            if event.roster_generation > live.roster.complete:
                live.pending.append(event)
                continue
            workspace.note_waiting(-1)
            apply_now(workspace, live, event)
            workspace.breathe()
            if workspace.closed:
                return
    if not live.pending:
        live.pending = None
    behind_changed(workspace, live)


def note_gaps(workspace: Workspace, live: LiveScope) -> None:
    """Housekeeping has to look at the scope while anything is missing."""
    behind_changed(workspace, live)
    sequences = (live.messages, live.activities, live.rewinds, live.roster)
    if live.complete and any(each.open_gap or each.gap_since >= 0 for each in sequences):
        now = workspace.now
        for each in sequences:
            each.time_gap(now)
        workspace.open_gaps.add(live.number)


def _account(workspace: Workspace, live: LiveScope, aspect: Aspect, seq: int, fact: Fact, generation: int) -> None:
    stream, budgets = aspect.stream(live), workspace.budgets
    if stream.accounted(seq):
        return
    if seq <= stream.start and len(stream.late) >= budgets.max_late_seqs:
        lose(workspace, live, aspect, seq)
        return
    record = stream.log.get(seq)
    if record is not None and record.generation > generation:
        fact, generation = record.fact, record.generation
    stream.own_log().put(seq, fact, generation)
    if aspect is MESSAGES:
        expect_changes(workspace, live, generation)
    if workspace.scopes.length[live.number] > budgets.max_sync_accounting_members:
        workspace.metrics.count("over_budget_events")
        if fact.counts:
            demote(workspace, live, missing_it(aspect, seq))
    else:
        replace(workspace, live, aspect, seq, NOTHING, fact, past_base(aspect, seq), logged=True)
    if generation < stream.log.unsure_generation:
        stream.own_log().raise_floor(seq)
        demote(workspace, live, missing_it(aspect, seq))
    stream.accept(seq)
    if len(stream.early) > budgets.max_early_seqs:
        lose_gaps(workspace, live, aspect, max(stream.early))


def _change(workspace: Workspace, live: LiveScope, event: MessagesChanged) -> None:
    """In the order of rewind generations; early ones are held, those from below the start or given up come anyhow."""
    rewinds = live.rewinds
    generation = event.rewind_generation
    if not rewinds.is_new(generation):
        return
    if generation > rewinds.applied + 1:
        if not _room(workspace, live):
            lose_changes(workspace, live, generation - 1)
        else:
            rewinds.hold(event)
            workspace.note_waiting(1)
            return
    _apply_change(workspace, live, event)
    apply_held(workspace, live)


def apply_held(workspace: Workspace, live: LiveScope) -> None:
    for event in live.rewinds.ready():
        workspace.note_waiting(-1)
        _apply_change(workspace, live, event)


def _apply_change(workspace: Workspace, live: LiveScope, event: MessagesChanged) -> None:
    apply_change(workspace, live, event, _account)
    live.rewinds.accept(event.rewind_generation)
    live.messages.log.applied_generation = live.rewinds.applied


def _wait(workspace: Workspace, live: LiveScope, event: ScopeEvent) -> None:
    live.roster.wanted = max(live.roster.wanted, event.roster_generation if live.complete else 0)
    if _is_known(live, event):  # an old message told again, which nobody waits for, but it may know of a later roster
        note_gaps(workspace, live)
        return
    if not live.complete:
        workspace.want_warm(live)
    if not _room(workspace, live):
        _drop(workspace, live, event)
        return
    if live.pending is None:
        live.pending = deque()
    live.pending.append(event)
    workspace.note_waiting(1)
    note_gaps(workspace, live)


def _is_known(live: LiveScope, event: ScopeEvent) -> bool:
    if not live.complete:
        return False
    if isinstance(event, MessageStored):
        return live.messages.accounted(event.seq)
    if isinstance(event, NonMessageActivityStored):
        return live.activities.accounted(event.seq)
    return not live.rewinds.is_new(event.rewind_generation)


def _room(workspace: Workspace, live: LiveScope) -> bool:
    return (
        live.waiting < workspace.budgets.scope_queue_size
        and workspace.totals.waiting < workspace.budgets.event_queue_size
    )


def _drop(workspace: Workspace, live: LiveScope, event: ScopeEvent) -> None:
    """There is no room for the event: whoever it could concern is shown a hint from now on."""
    workspace.metrics.count("dropped_events")
    if isinstance(event, MessagesChanged):
        if live.complete:
            lose_changes(workspace, live, event.rewind_generation)
        else:
            live.dropped_change = max(live.dropped_change, event.rewind_generation)
        demote(workspace, live, everyone)
        return
    aspect = MESSAGES if isinstance(event, MessageStored) else ACTIVITIES
    if live.complete:
        lose(workspace, live, aspect, event.seq)
        return
    if aspect is MESSAGES:
        live.dropped_message = max(live.dropped_message, event.seq)
    else:
        live.dropped_activity = max(live.dropped_activity, event.seq)
    demote(workspace, live, missing_it(aspect, event.seq))


def lose(workspace: Workspace, live: LiveScope, aspect: Aspect, seq: int) -> None:
    """An event is not coming (or was dropped): entries that it could concern are hints from now on."""
    workspace.metrics.count("lost_events")
    demote(workspace, live, missing_it(aspect, seq))
    aspect.stream(live).lose(seq, workspace.budgets.max_lost_seqs)


def lose_gaps(workspace: Workspace, live: LiveScope, aspect: Aspect, up_to: int) -> None:
    """Give up what is missing up to a seq, except what waits for the roster."""
    stream, keep = aspect.stream(live), workspace.budgets.max_lost_seqs
    missing = stream.missing(up_to, keep + 1)
    if len(missing) > keep:
        workspace.metrics.count("lost_events", up_to - stream.frontier)
        demote(workspace, live, missing_it(aspect, up_to))
        stream.jump(up_to)
        return
    waiting = live.pending_seqs(aspect.event)
    for seq in missing:
        if seq not in waiting:
            lose(workspace, live, aspect, seq)


def lose_changes(workspace: Workspace, live: LiveScope, up_to: int) -> None:
    """Changes of messages are not coming: no count of this scope is exact, and nothing logged so far is."""
    rewinds, log = live.rewinds, live.messages.log
    while rewinds.applied < up_to:
        workspace.metrics.count("lost_events")
        log.applied_generation = rewinds.lose(up_to, workspace.budgets.max_lost_seqs)
        log.distrust(log.applied_generation)
        log.raise_floor(max(live.messages.top, live.messages.frontier))
        demote(workspace, live, everyone)
        apply_held(workspace, live)
    behind_changed(workspace, live)


def expect_changes(workspace: Workspace, live: LiveScope, generation: int) -> None:
    """Facts as of that generation are counted: changes from there to the start are news of this life, not history."""
    if generation < live.rewinds.start:
        live.rewinds.settle(generation, workspace.now)
        workspace.open_gaps.add(live.number)


def lose_late_changes(workspace: Workspace, live: LiveScope, up_to: int) -> None:
    """Changes at or below the start are not coming; they are applied all the same if they do."""
    workspace.metrics.count("lost_events")
    log = live.messages.own_log()
    log.distrust(up_to)
    log.raise_floor(max(live.messages.top, live.messages.frontier))
    demote(workspace, live, everyone)
