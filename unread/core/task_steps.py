"""Steps of the task outbox's worker: account one event for its recipients, then write their rows with shadows."""

from __future__ import annotations

from collections.abc import Sequence

from .events import TaskAttention
from .flush import copied
from .loading import load_roster_row
from .owner import Owner
from .ports import RosterRow, ScopeHeader, SnapshotRow
from .tasks import account_task, lose_task_event, mark_task, unknown_recipients
from .warm import take_states
from .workspace import Workspace


class TaskSteps(Owner):
    def attend(self, event: TaskAttention) -> bool:
        """Account an event of a task and protect the rows of its recipients; False where the workspace is not owned.

        Raises what the stores raise. Accounted it may be then, protected it is not; again is safe at any time.
        """
        workspace = self._owned.get(event.workspace)
        if workspace is None:
            return False
        rows = self._account(workspace, event)
        if rows is None:
            return False
        if rows:
            self._snapshots.protect(workspace.id, workspace.epoch, rows)
        return not workspace.closed

    def give_up(self, workspace: int, scope: int) -> None:
        """An event of the task will not be delivered: what is shown of it becomes a hint."""
        owned = self._owned.get(workspace)
        if owned is None:
            return
        with owned.lock:
            if not owned.closed:
                lose_task_event(owned, owned.scope(scope, 0))
        self._finish(owned)

    def _account(self, workspace: Workspace, event: TaskAttention) -> list[SnapshotRow] | None:
        while True:
            with workspace.lock:
                if workspace.closed:
                    return None
                number = workspace.scopes.numbers.get(event.scope)
                told = number is not None and workspace.scopes.is_told(number)
                unknown = unknown_recipients(workspace, event)
                evictions = workspace.evictions
            header = None if told else self._rosters.load_header(workspace.id, event.scope)
            loaded = self._rosters.load_members(workspace.id, event.scope, unknown) if unknown else ()
            with workspace.lock:
                if workspace.closed:
                    return None
                if workspace.evictions != evictions:
                    continue  # rows of an evicted scope may have been read before its last flush
                _load(workspace, event, header, loaded)
                rows = account_task(workspace, event)
                copies = copied(workspace, workspace.scopes.numbers[event.scope], rows)
            self._finish(workspace)
            return copies


def _load(workspace: Workspace, event: TaskAttention, header: ScopeHeader | None, loaded: Sequence[RosterRow]) -> None:
    scope = workspace.scope(event.scope, event.parent)
    mark_task(workspace, scope)
    if header is not None:
        take_states(workspace, scope, header)
    for row in loaded:
        member = workspace.members.number(row.member)
        found = workspace.find(scope, member)
        place = found if found < 0 else found - workspace.scopes.start[scope]
        load_roster_row(workspace, scope, member, place, row)
