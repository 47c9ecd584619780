"""Rows of the database meeting live events: the newest of each fact wins, and a count only ever moves past a frontier.

A snapshot row is a base: counts that contain every seq up to its frontiers, made for the cursors in it. An entry that
is in already takes nothing from a snapshot row: memory is never older than what was flushed from it. Rows are only
loaded into scopes that nothing was accounted in yet: once the roster is complete, every row has been seen.
"""

from __future__ import annotations

from .aspects import ACTIVITIES, MESSAGES
from .columns import EXACT, LOADED, NO_ROW, UNKNOWN
from .cursors import move_cursors
from .markers import set_level, set_marker
from .membership import open_or_close, set_membership
from .ports import HydrateRow, RosterRow, SnapshotRow
from .scopes import DISTRUSTED
from .states import CountState
from .tasks import mark_task
from .workspace import Workspace


def load_hydrate_row(workspace: Workspace, member: int, hydrated: HydrateRow) -> None:
    """A row of a member's page, with the state of its scope and of that scope's parent."""
    snapshot = hydrated.snapshot
    scope = workspace.scope(snapshot.scope, hydrated.parent)
    if hydrated.task:
        mark_task(workspace, scope)
    open_or_close(workspace, scope, hydrated.active, hydrated.roster_generation)
    if hydrated.parent:
        above = workspace.scopes.number(hydrated.parent, 0)
        open_or_close(workspace, above, hydrated.parent_active, hydrated.parent_roster_generation)
    row = workspace.find(scope, member)
    if row < 0:
        row = workspace.append_shell(scope, member)
    if not workspace.columns.flags[row] & LOADED:
        kept = _keeps_events(workspace, row)
        load_snapshot(workspace, scope, row, snapshot)
        workspace.changed(scope, row, dirty=kept)


def load_roster_row(workspace: Workspace, scope: int, member: int, place: int, loaded: RosterRow) -> None:
    """A member of a scope that is being warmed: membership, setting and marker, and the snapshot row if there is one.

    `place` is where the member's entry is in the scope, NO_ROW if there is none.

    What is newer than the entry has no event yet, or lost it with the process before: it can lower or hide, no more.
    """
    if place == NO_ROW:
        row = workspace.append_shell(scope, member)
    else:
        row = workspace.scopes.start[scope] + place
    fresh = not workspace.is_complete(row)
    written = fresh and loaded.snapshot is not None and not _keeps_events(workspace, row)
    if not workspace.columns.flags[row] & LOADED:
        load_snapshot(workspace, scope, row, loaded.snapshot)
    news = set_membership(
        workspace,
        scope,
        row,
        active=loaded.active,
        visible=loaded.visible,
        effective_from=loaded.effective_from_seq,
        generation=loaded.membership_generation,
    )
    news |= set_level(workspace, row, loaded.level, loaded.policy_generation)
    news |= set_marker(workspace, row, loaded.marker_seq, loaded.marker_generation)
    if news or fresh:
        workspace.changed(scope, row, dirty=news or not written)
    cursors = (loaded.last_read_seq, loaded.last_activity_read_seq)
    move_cursors(workspace, scope, row, cursors, loaded.read_generation, None)


def load_snapshot(workspace: Workspace, scope: int, row: int, snapshot: SnapshotRow | None) -> None:
    """What the snapshot says of an entry is in: a row, or that there is none."""
    workspace.loaded(row)
    columns = workspace.columns
    if snapshot is None:
        columns.flags[row] &= ~EXACT & 0xFFFF
        return
    set_membership(
        workspace,
        scope,
        row,
        active=snapshot.active,
        visible=snapshot.visible,
        effective_from=snapshot.effective_from_seq,
        generation=snapshot.membership_generation,
    )
    if workspace.scopes.status[scope] & DISTRUSTED or not is_sound(snapshot):
        columns.state[row] = CountState.STALE
        workspace.metrics.count("suppressed_rows")
    else:
        set_level(workspace, row, snapshot.level, snapshot.policy_generation)
        set_marker(workspace, row, snapshot.marker_seq, snapshot.marker_generation)
        _take_base(workspace, row, snapshot)
    columns.flags[row] &= ~EXACT & 0xFFFF


def _keeps_events(workspace: Workspace, row: int) -> bool:
    columns = workspace.columns
    return any(
        int(generation[row]) != UNKNOWN
        for generation in (
            columns.membership_generation,
            columns.read_generation,
            columns.policy_generation,
            columns.marker_generation,
        )
    )


def is_sound(snapshot: SnapshotRow) -> bool:
    numbers = (snapshot.message_unread, snapshot.mention_unread, snapshot.activity_unread, snapshot.marker_seq)
    return min(numbers) >= 0 and min(snapshot.message_frontier, snapshot.activity_frontier) >= 0


def _take_base(workspace: Workspace, row: int, snapshot: SnapshotRow) -> None:
    """Let the row's counts be the base, as far as the events kept meanwhile leave anything of them.

    A kept full-cover read leaves what lies past it, a kept partial read bounds what may be left, and kept rows of
    "mark unread from here" stand for the messages up to where they were read.
    """
    columns = workspace.columns
    kept = int(columns.state[row])
    known = int(columns.read_generation[row])
    if known < snapshot.read_generation or (known == snapshot.read_generation and kept == CountState.HYDRATING):
        columns.last_read[row] = snapshot.last_read_seq
        columns.last_activity_read[row] = snapshot.last_activity_read_seq
        columns.read_generation[row] = snapshot.read_generation
        columns.messages[row] = columns.mentions[row] = columns.activities[row] = 0
        columns.message_frontier[row] = columns.activity_frontier[row] = columns.rewind[row] = 0
        columns.flags[row] &= ~EXACT & 0xFFFF
        kept = CountState.HYDRATING
    empty = snapshot.count_state == CountState.HYDRATING
    frontier = 0 if empty else snapshot.message_frontier
    activity_frontier = 0 if empty else snapshot.activity_frontier
    left = max(0, frontier - MESSAGES.point(columns, row))
    activities_left = max(0, activity_frontier - ACTIVITIES.point(columns, row))
    back = int(columns.last_activity_read[row]) < snapshot.last_activity_read_seq
    if columns.flags[row] & EXACT:
        left = max(0, frontier - int(columns.message_frontier[row]))
        columns.messages[row] += left
        columns.mentions[row] += left
        if left:
            columns.message_frontier[row] = frontier
            columns.rewind[row] = min(int(columns.rewind[row]), snapshot.rewind_generation)
    else:
        back |= int(columns.last_read[row]) < snapshot.last_read_seq
        columns.messages[row] = min(snapshot.message_unread, left)
        columns.mentions[row] = min(snapshot.mention_unread, left)
        columns.message_frontier[row], columns.rewind[row] = frontier, snapshot.rewind_generation
    columns.activities[row] = min(snapshot.activity_unread, activities_left)
    columns.activity_frontier[row] = activity_frontier
    columns.state[row] = _state(kept, snapshot.count_state, back=back, anything_left=bool(left or activities_left))


def _state(kept: int, written: CountState, *, back: bool, anything_left: bool) -> CountState:
    if kept == CountState.STALE or back:
        return CountState.STALE
    if kept == CountState.READY and not anything_left:
        return CountState.READY
    if written == CountState.STALE and (anything_left or kept == CountState.HYDRATING):
        return CountState.STALE
    if written == CountState.HYDRATING and kept == CountState.HYDRATING:
        return CountState.HYDRATING
    return CountState.SNAPSHOT_SERVING
