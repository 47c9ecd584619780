"""Manual unread markers and notification levels: they move only by their own events, by the generation of their row."""

from __future__ import annotations

from .aspects import ACTIVITIES, MESSAGES
from .columns import EXACT, LOADED, NEVER
from .events import ManualUnreadCleared, ManualUnreadSet, NotificationPolicyChanged, UnreadFrom
from .log import Fact
from .recount import counted_here, note_ready, recount
from .scope_events import expect_changes
from .states import CountState
from .workspace import NOT_FORGOTTEN, Workspace


def marker_set(workspace: Workspace, event: ManualUnreadSet) -> None:
    scope = workspace.scope(event.scope, event.parent)
    row = workspace.entry(scope, workspace.members.number(event.member))
    if row < 0:
        workspace.refuse_kept(scope)
        return
    if event.unread_from is not None:
        _mark_from(workspace, scope, row, event.unread_from)
    if set_marker(workspace, row, event.marker_seq, event.marker_generation):
        workspace.changed(scope, row)


def marker_cleared(workspace: Workspace, event: ManualUnreadCleared) -> None:
    scope = workspace.scope(event.scope, event.parent)
    row = workspace.entry(scope, workspace.members.number(event.member))
    if row < 0:
        workspace.refuse_kept(scope)
    elif set_marker(workspace, row, 0, event.marker_generation):
        workspace.changed(scope, row)


def level_changed(workspace: Workspace, event: NotificationPolicyChanged) -> None:
    scope = workspace.scope(event.scope, event.parent)
    row = workspace.entry(scope, workspace.members.number(event.member))
    if row < 0:
        workspace.refuse_kept(scope)
    elif set_level(workspace, row, event.level, event.policy_generation):
        workspace.changed(scope, row)


def set_marker(workspace: Workspace, row: int, seq: int, generation: int) -> bool:
    columns = workspace.columns
    if generation <= int(columns.marker_generation[row]):
        return False
    columns.marker[row], columns.marker_generation[row] = seq, generation
    return True


def set_level(workspace: Workspace, row: int, level: int, generation: int) -> bool:
    columns = workspace.columns
    if generation <= int(columns.policy_generation[row]):
        return False
    columns.level[row], columns.policy_generation[row] = level, generation
    return True


def _mark_from(workspace: Workspace, scope: int, row: int, unread: UnreadFrom) -> None:
    """Take the rows that the marking read as an exact base at that point.

    Rows of an older read generation still tell the truth for a later cursor, as long as they reach back to it. They
    are taken where nothing better is known, and only if they are exact.
    """
    columns, live = workspace.columns, workspace.live_of(scope)
    if live is not None:
        live.messages.seen = max(live.messages.seen, unread.latest_seq)
        live.rewinds.seen = max(live.rewinds.seen, unread.rewind_generation)
        if live.messages.open_gap or live.rewinds.open_gap:
            workspace.open_gaps.add(scope)
        expect_changes(workspace, live, unread.rewind_generation)
    newer = unread.read_generation > int(columns.read_generation[row])
    ready = int(columns.state[row]) == CountState.READY
    if not newer and (ready or int(columns.last_read[row]) < unread.last_read_seq):
        return
    before = int(columns.last_activity_read[row])
    if newer:
        columns.last_read[row] = unread.last_read_seq
        columns.last_activity_read[row] = unread.last_activity_read_seq
        columns.read_generation[row] = unread.read_generation
    messages, mentions, exact = _count_rows(workspace, scope, row, unread)
    if not newer and not exact:
        return
    columns.messages[row], columns.mentions[row] = messages, mentions
    columns.message_frontier[row], columns.rewind[row] = unread.latest_seq, unread.rewind_generation
    if not columns.flags[row] & LOADED:
        columns.flags[row] |= EXACT
    if recount(workspace, live, ACTIVITIES, row) or (ready and before == int(columns.last_activity_read[row])):
        columns.state[row] = CountState.READY if exact else CountState.SNAPSHOT_SERVING
        if exact:
            note_ready(workspace, live, [row])
    else:
        columns.state[row] = CountState.SNAPSHOT_SERVING
    workspace.changed(scope, row)


def _count_rows(workspace: Workspace, scope: int, row: int, unread: UnreadFrom) -> tuple[int, int, bool]:
    """Messages and mentions among the rows (as changed since) and among what was accounted past them, and whether that
    is exact. Where the log has lost what it takes, they are upper bounds."""
    columns, live = workspace.columns, workspace.live_of(scope)
    member, point = int(columns.member[row]), int(columns.last_read[row])
    if int(columns.effective_from[row]) != NEVER:
        point = MESSAGES.point(columns, row)
    facts: dict[int, Fact] = {seq: workspace.fact(counted) for seq, counted in unread.rows}
    evicted = workspace.forgotten.get(workspace.scopes.ids[scope], NOT_FORGOTTEN)
    known = unread.rewind_generation >= evicted.rewind_generation
    if live is None or not live.complete:
        return *_tally(facts, member, point), known
    log = live.messages.log
    newer = log.newer_than(unread.rewind_generation, point, unread.latest_seq)
    facts.update((seq, record.fact) for seq, record in newer.items())
    messages, mentions = _tally(facts, member, point)
    known &= unread.rewind_generation >= max(log.unsure_generation, log.forgotten_generation)
    # Changes that newer facts contain will not be told from those that the rows lack, unless all have been applied.
    newest = max((record.generation for record in newer.values()), default=0)
    known &= live.rewinds.has_all(unread.rewind_generation, newest)
    if not known:
        messages = mentions = max(0, unread.latest_seq - point)
    end = max(point, unread.latest_seq)
    forgotten = max(0, log.floor - end)
    here = counted_here(workspace, live, MESSAGES, row, max(end, log.floor))
    return messages + forgotten + here[0], mentions + forgotten + here[1], known and not forgotten


def _tally(facts: dict[int, Fact], member: int, point: int) -> tuple[int, int]:
    counting = [fact for seq, fact in facts.items() if seq > point and fact.counts_for(member)]
    return len(counting), sum(member in fact.mentions for fact in counting)
