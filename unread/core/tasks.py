"""Task events: accounted for their frozen recipients alone, in the order of their outbox, by its worker alone.

An entry of a task has a frontier of its own: everything up to it that was ever meant for the member is in its counts.
So accounting twice is accounting once, also across restarts, and no roster is needed. What hooks tell of a task's
events only says that something is on its way: until the worker has accounted it, nothing of the task is called ready.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .aspects import ACTIVITIES, MESSAGES, Aspect
from .changed import rows_changed, tell_lit
from .columns import ACTIVE, NO_ROW, SAW_JOIN, Rows
from .events import MessagesChanged, MessageStored, NonMessageActivityStored, TaskAttention
from .log import Fact
from .scopes import TASK
from .states import CountState
from .task_log import TaskLog, TaskState
from .workspace import Workspace


def is_task(workspace: Workspace, scope: int) -> bool:
    return bool(workspace.scopes.status[scope] & TASK)


def mark_task(workspace: Workspace, scope: int) -> None:
    """The scope is a task; what it had as any other scope, taken for one before this was known, goes."""
    if is_task(workspace, scope):
        return
    workspace.scopes.status[scope] |= TASK
    live = workspace.live_of(scope)
    if live is not None:
        workspace.note_waiting(-live.waiting)
        live.pending = live.rewinds.held = None
        del workspace.live[scope]
    workspace.open_gaps.discard(scope)


def task_of(workspace: Workspace, scope: int) -> TaskState:
    mark_task(workspace, scope)
    state = workspace.tasks.get(scope)
    if state is None:
        state = workspace.tasks[scope] = TaskState(workspace.budgets.scope_log_size)
    return state


def announced(
    workspace: Workspace, scope: int, event: MessageStored | NonMessageActivityStored | MessagesChanged
) -> None:
    """A hook tells of an event that the outbox holds; it waits where a loaded recipient lacks it.

    What is told again after a restart is in everybody's frontier, or before everybody's beginning.
    """
    task = task_of(workspace, scope)
    columns = workspace.columns
    rows = _present(workspace, scope, [workspace.members.number(member) for member in event.recipients or ()])
    if isinstance(event, MessagesChanged):
        last = max((change.seq for change in event.changes), default=0)
        behind = (row for row in rows if int(columns.rewind[row]) < event.rewind_generation)
        if any(MESSAGES.point(columns, row) < last for row in behind):
            task.announce(change=event.rewind_generation)
    else:
        aspect = MESSAGES if isinstance(event, MessageStored) else ACTIVITIES
        if any(max(int(aspect.frontier(columns)[row]), aspect.point(columns, row)) < event.seq for row in rows):
            task.announce(**{aspect.name: event.seq})
    _note_behind(workspace, scope, task)


def unknown_recipients(workspace: Workspace, event: TaskAttention) -> list[int]:
    """Recipients whose rows have to be read first; those away may have come back since."""
    number = workspace.scopes.numbers.get(event.scope)
    if number is None:
        return list(event.recipients)
    unknown = []
    for member in event.recipients:
        row = workspace.find(number, workspace.members.number(member))
        if row == NO_ROW or not workspace.is_complete(row) or not workspace.columns.flags[row] & ACTIVE:
            unknown.append(member)
    return unknown


def account_task(workspace: Workspace, event: TaskAttention) -> Rows:
    """Account one event of a task; answers the rows of the recipients who are in it. Again changes nothing."""
    scope = workspace.scope(event.scope, event.parent)
    task = task_of(workspace, scope)
    recipients = [workspace.members.number(member) for member in event.recipients]
    rows = _present(workspace, scope, recipients)
    touched: set[int] = set()
    if event.message_seq:
        fact = workspace.fact(event.facts)
        task.messages.put(event.message_seq, fact, frozenset(recipients))
        touched |= _account(workspace, MESSAGES, event.message_seq, fact, rows)
        touched |= _seen_changes(workspace, event.rewind_generation, rows)
    if event.activity_seq:
        actor = workspace.person(event.actor)
        fact = Fact(actor, actor, event.activity_counts)
        task.activities.put(event.activity_seq, fact, frozenset(recipients))
        touched |= _account(workspace, ACTIVITIES, event.activity_seq, fact, rows)
    if event.changes:
        touched |= _change(workspace, task, event, rows)
        task.changes = max(task.changes, event.rewind_generation)
    present = _array(rows)
    columns = workspace.columns
    waking = present[columns.state[present] == CountState.HYDRATING]
    columns.state[waking] = CountState.SNAPSHOT_SERVING
    rows_changed(workspace, scope, _array(sorted(touched.union(waking.tolist()))))
    _note_behind(workspace, scope, task)
    return present


def lose_task_event(workspace: Workspace, scope: int) -> None:
    """An event of the task will not be delivered: nobody's counts are sure from here on, until they read."""
    task = task_of(workspace, scope)
    columns, rows = workspace.columns, workspace.rows(scope)
    fallen = np.flatnonzero(columns.state[rows] == CountState.READY) + rows.start
    columns.state[fallen] = CountState.SNAPSHOT_SERVING
    rows_changed(workspace, scope, fallen)
    workspace.metrics.count("lost_events")
    messages, activities, changes = task.announced
    task.messages.lose(messages)
    task.activities.lose(activities)
    task.changes = max(task.changes, changes)
    _note_behind(workspace, scope, task)


def log_reaches(workspace: Workspace, scope: int, row: int, points: tuple[int, int]) -> bool:
    """Whether everything that was accounted for the entry past these points is in the task's log. Not so where an event
    was accounted for a membership that nobody had told of, and then left memory."""
    task = workspace.tasks.get(scope)
    for aspect, point in zip((MESSAGES, ACTIVITIES), points, strict=True):
        log = None if task is None else _log(task, aspect)
        known = log is not None and 0 <= log.start <= point
        if not known and int(aspect.frontier(workspace.columns)[row]) > point:
            return False
    return True


def hide_task(workspace: Workspace, scope: int) -> None:
    """An event of it failed half-way: its counts are hidden until they are exact again."""
    columns, rows = workspace.columns, workspace.rows(scope)
    hidden = np.flatnonzero(columns.state[rows] < CountState.STALE) + rows.start
    columns.state[hidden] = CountState.STALE
    rows_changed(workspace, scope, hidden)


def task_recount(workspace: Workspace, scope: int, aspect: Aspect, row: int) -> bool:
    """Take the exact number where the task's log reaches back to what the member has read."""
    task = workspace.tasks.get(scope)
    if task is None or not workspace.is_complete(row):
        return False
    columns = workspace.columns
    log = _log(task, aspect)
    point = aspect.point(columns, row)
    joined = bool(columns.flags[row] & SAW_JOIN)
    if point < log.floor or not (joined or 0 <= log.start <= point):
        return False
    counts, mentions = log.count(int(columns.member[row]), point)
    aspect.counts(columns)[row] = counts
    aspect.frontier(columns)[row] = max(int(aspect.frontier(columns)[row]), log.top)
    if aspect is MESSAGES:
        columns.mentions[row] = mentions
        columns.rewind[row] = max(int(columns.rewind[row]), task.changes)
    return True


def _log(task: TaskState, aspect: Aspect) -> TaskLog:
    return task.messages if aspect is MESSAGES else task.activities


def _present(workspace: Workspace, scope: int, members: Sequence[int]) -> list[int]:
    """Rows of those who are members now; whoever may no longer read the task is left out."""
    found = [workspace.find(scope, member) for member in dict.fromkeys(members)]
    flags = workspace.columns.flags
    return [row for row in found if row != NO_ROW and workspace.is_complete(row) and flags[row] & ACTIVE]


def _account(workspace: Workspace, aspect: Aspect, seq: int, fact: Fact, rows: list[int]) -> set[int]:
    columns, touched = workspace.columns, set()
    frontier, counts = aspect.frontier(columns), aspect.counts(columns)
    for row in rows:
        if int(frontier[row]) >= seq:
            continue
        frontier[row] = seq
        touched.add(row)
        member = int(columns.member[row])
        if not fact.counts_for(member) or seq <= aspect.point(columns, row):
            continue
        counts[row] += 1
        if aspect is MESSAGES and member in fact.mentions:
            columns.mentions[row] += 1
    return touched


def _seen_changes(workspace: Workspace, generation: int, rows: list[int]) -> set[int]:
    """A message's facts contain every change up to their generation, and those of earlier messages were in order."""
    rewind = workspace.columns.rewind
    behind = {row for row in rows if int(rewind[row]) < generation}
    for row in behind:
        rewind[row] = generation
    return behind


def _change(workspace: Workspace, task: TaskState, event: TaskAttention, rows: list[int]) -> set[int]:
    columns, touched = workspace.columns, set()
    everybody = (None,) * len(event.changes)
    changes = [
        (each.seq, workspace.fact(each.before), workspace.fact(each.after), _numbers(workspace, people))
        for each, people in zip(event.changes, event.changed_for or everybody, strict=True)
    ]
    for seq, _, after, _ in changes:
        task.messages.change(seq, after)
    for row in rows:
        if int(columns.rewind[row]) >= event.rewind_generation:
            continue
        columns.rewind[row] = event.rewind_generation
        touched.add(row)
        member, point, frontier = int(columns.member[row]), MESSAGES.point(columns, row), columns.message_frontier[row]
        for seq, before, after, people in changes:
            if point < seq <= int(frontier) and (people is None or member in people):
                _replace(workspace, row, member, before, after)
    return touched


def _numbers(workspace: Workspace, people: frozenset[int] | None) -> frozenset[int] | None:
    return None if people is None else frozenset(workspace.members.number(member) for member in people)


def _replace(workspace: Workspace, row: int, member: int, before: Fact, after: Fact) -> None:
    columns = workspace.columns
    was, is_now = before.counts_for(member), after.counts_for(member)
    columns.messages[row] = max(0, int(columns.messages[row]) + is_now - was)
    mentioned = (is_now and member in after.mentions) - (was and member in before.mentions)
    columns.mentions[row] = max(0, int(columns.mentions[row]) + mentioned)


def _note_behind(workspace: Workspace, scope: int, task: TaskState) -> None:
    if task.behind != task.waits:
        task.behind = task.waits
        tell_lit(workspace, scope)


def _array(rows: list[int]) -> Rows:
    return np.array(rows, dtype=np.int64)
