"""Memberships and archive states: they act at once, also in a cold scope, each by the generation of its own row."""

from __future__ import annotations

from typing import Final

import numpy as np

from .aggregate import relight_scope
from .aspects import ACTIVITIES, MESSAGES
from .columns import ACTIVE, EXACT, HIDDEN, NEVER, NO_ROW, SAW_JOIN, VISIBLE
from .cursors import highest_counted, move_cursors
from .events import MembershipChanged, ScopeStateChanged
from .live import LiveScope
from .markers import set_level, set_marker
from .recount import note_ready, recount
from .scope_events import drain, note_gaps
from .scopes import NO_SCOPE, TOLD
from .states import CountState
from .tasks import is_task, log_reaches
from .workspace import NOT_FORGOTTEN, Workspace

_RELIT_AT_ONCE: Final = 10_000
_COST_OF_A_SCOPE: Final = 100
"""In entries: what a scope costs before the first."""


def membership_changed(workspace: Workspace, event: MembershipChanged) -> None:
    scope = workspace.scope(event.scope, event.parent)
    member = workspace.members.number(event.member)
    if event.begins:
        _is_open_to_join(workspace, scope)
    row = workspace.find(scope, member)
    forgotten = workspace.forgotten.get(event.scope, NOT_FORGOTTEN)
    begins = event.begins and event.roster_generation > forgotten.roster_generation
    if row == NO_ROW:
        row = int(workspace.append_shell(scope, member)) if begins else workspace.entry(scope, member)
    if row == NO_ROW:
        workspace.refuse_kept(scope)
    else:
        _apply(workspace, scope, row, event, begins)
    roster_moved(workspace, scope, event.roster_generation)


def _is_open_to_join(workspace: Workspace, scope: int) -> None:
    """Where nobody has told: whoever joins finds the scope and its parent open. An archived one that a member who was
    away comes back to has been told, or will be by a later generation than none."""
    scopes = workspace.scopes
    for place in (scopes.parent[scope], scope):
        if place != NO_SCOPE and not scopes.status[place] & TOLD:
            open_or_close(workspace, place, True, 0)


def scope_state_changed(workspace: Workspace, event: ScopeStateChanged) -> None:
    scope = workspace.scope(event.scope, event.parent)
    open_or_close(workspace, scope, event.active, event.roster_generation)
    roster_moved(workspace, scope, event.roster_generation)


def open_or_close(workspace: Workspace, scope: int, is_open: bool, generation: int) -> None:
    """Take a scope's state; what is shown of it follows at once, what is shown of the scopes below it one by one."""
    scopes = workspace.scopes
    if not scopes.set_open(scope, is_open, generation):
        return
    _shown_anew(workspace, scope)
    below, relit = scopes.children(scope), 0
    for child in below:
        if relit >= _RELIT_AT_ONCE:
            workspace.breathe()
            relit = 0
            if workspace.closed:
                return
        if scopes.parent[child] == scope and scopes.follow_parent(child):
            _shown_anew(workspace, child)
        relit += scopes.length[child] + _COST_OF_A_SCOPE


def _shown_anew(workspace: Workspace, scope: int) -> None:
    if workspace.scopes.is_open(scope):
        # Evidence from before says nothing about a scope that is open again.
        workspace.columns.flags[workspace.rows(scope)] &= np.uint16(~HIDDEN & 0xFFFF)
    relight_scope(workspace, scope)


def roster_moved(workspace: Workspace, scope: int, generation: int) -> None:
    workspace.scopes.saw_roster(scope, generation)
    live = workspace.live_of(scope)
    if live is None:
        return
    live.roster.accept(generation, workspace.budgets.scope_queue_size)
    note_gaps(workspace, live)
    drain(workspace, live)


def set_membership(
    workspace: Workspace,
    scope: int,
    row: int,
    *,
    active: bool,
    visible: bool,
    effective_from: int,
    generation: int,
    begins: bool = False,
) -> bool:
    """Take a membership row; a newer one is kept. Answers whether it was news.

    `begins` says that the caller counts anew; otherwise another `effective_from` is the trace of a beginning unseen.
    """
    columns = workspace.columns
    if generation <= int(columns.membership_generation[row]):
        return False
    flags = int(columns.flags[row]) & ~(ACTIVE | VISIBLE | HIDDEN)
    columns.flags[row] = flags | (ACTIVE if active else 0) | (VISIBLE if visible else 0)
    columns.membership_generation[row] = generation
    before = int(columns.effective_from[row])
    columns.effective_from[row] = effective_from
    if not begins and NEVER != before != effective_from:
        _began_unseen(workspace, scope, row)
    return True


def _apply(workspace: Workspace, scope: int, row: int, event: MembershipChanged, begins: bool) -> None:
    columns, live = workspace.columns, workspace.live_of(scope)
    if begins and is_task(workspace, scope):
        points = (max(event.last_read_seq, event.effective_from_seq - 1), event.last_activity_read_seq)
        begins = log_reaches(workspace, scope, row, points)
    news = event.membership_generation > int(columns.membership_generation[row])
    if begins and (news or event.effective_from_seq == int(columns.effective_from[row])):
        columns.flags[row] |= SAW_JOIN
    cursors = (event.last_read_seq, event.last_activity_read_seq)
    if news:
        set_membership(
            workspace,
            scope,
            row,
            active=event.active,
            visible=event.visible,
            effective_from=event.effective_from_seq,
            generation=event.membership_generation,
            begins=begins,
        )
    if news and begins:
        _begin(workspace, live, row, cursors, event.read_generation)
    else:
        move_cursors(workspace, scope, row, cursors, event.read_generation, None)
    changed = set_level(workspace, row, event.level, event.policy_generation)
    changed |= set_marker(workspace, row, event.marker_seq, event.marker_generation)
    promoted = int(columns.state[row]) != CountState.READY and _recount_all(workspace, live, row)
    if news or changed or promoted:
        workspace.changed(scope, row)


def _begin(workspace: Workspace, live: LiveScope | None, row: int, cursors: tuple[int, int], generation: int) -> None:
    """A membership begins: nothing from before counts, and what counts from here on waits for this very event."""
    columns = workspace.columns
    if generation >= int(columns.read_generation[row]):
        columns.last_read[row], columns.last_activity_read[row] = cursors
        columns.read_generation[row] = generation
    columns.messages[row] = columns.mentions[row] = columns.activities[row] = 0
    if not is_task(workspace, int(columns.scope[row])):  # there, frontiers tell what was accounted, and stand
        columns.message_frontier[row] = columns.activity_frontier[row] = columns.rewind[row] = 0
    columns.flags[row] &= ~EXACT & 0xFFFF
    columns.state[row] = CountState.READY
    workspace.loaded(row)
    recount(workspace, live, MESSAGES, row)
    recount(workspace, live, ACTIVITIES, row)
    note_ready(workspace, live, [row])


def _began_unseen(workspace: Workspace, scope: int, row: int) -> None:
    """The membership is another one than the counts were made for, and its beginning has not been seen (yet)."""
    columns, live = workspace.columns, workspace.live_of(scope)
    columns.flags[row] &= ~SAW_JOIN & 0xFFFF
    left = max(0, highest_counted(workspace, live, MESSAGES, row) - int(columns.effective_from[row]) + 1)
    columns.messages[row] = min(int(columns.messages[row]), left)
    columns.mentions[row] = min(int(columns.mentions[row]), left)
    if int(columns.state[row]) == CountState.READY:
        columns.state[row] = CountState.SNAPSHOT_SERVING


def _recount_all(workspace: Workspace, live: LiveScope | None, row: int) -> bool:
    messages = recount(workspace, live, MESSAGES, row)
    if not recount(workspace, live, ACTIVITIES, row) or not messages:
        return False
    workspace.columns.state[row] = CountState.READY
    note_ready(workspace, live, [row])
    return True
