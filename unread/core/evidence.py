"""Free evidence: what a page read for its own purpose, used to lower or to hide, never to raise and never to promote.

It comes from a read, so it makes nothing dirty.
"""

from __future__ import annotations

from collections.abc import Sequence

from .aggregate import shown_row
from .aspects import ACTIVITIES, MESSAGES
from .columns import HIDDEN, LOADED
from .cursors import highest_counted
from .ports import ScopeEvidence
from .states import CountState
from .workspace import Workspace


def observe(
    workspace: Workspace, member: int, noted_version: int, evidence: Sequence[ScopeEvidence], *, complete: bool
) -> None:
    """Hold the member's entries against what a query saw after `noted_version` was noted.

    An entry that changed since is left alone. With `complete`, an entry that is not in the list has no active
    membership and is hidden until a newer fact says otherwise.
    """
    numbers = workspace.scopes.numbers
    seen = {numbers[each.scope]: each for each in evidence if each.scope in numbers}
    columns = workspace.columns
    for row in columns.rows_of(int(workspace.members.heads[member])):
        if workspace.tick_base + int(columns.touched[row]) > noted_version or not columns.flags[row] & LOADED:
            continue
        scope = int(columns.scope[row])
        known = seen.get(scope)
        if known is None:
            if complete:
                _hide(workspace, scope, row)
        elif known.membership_generation >= int(columns.membership_generation[row]):
            _lower(workspace, scope, row, known)


def _hide(workspace: Workspace, scope: int, row: int) -> None:
    if shown_row(workspace, scope, row).state is CountState.UNAVAILABLE:
        return
    workspace.columns.flags[row] |= HIDDEN
    workspace.metrics.count("hidden_by_evidence")
    workspace.changed(scope, row, dirty=False)


def _lower(workspace: Workspace, scope: int, row: int, known: ScopeEvidence) -> None:
    columns = workspace.columns
    if known.read_generation < int(columns.read_generation[row]):
        return
    at_end = known.last_read_seq >= known.latest_seq and known.last_activity_read_seq >= known.latest_activity_seq
    newer = known.read_generation > int(columns.read_generation[row])
    if not at_end and (not newer or int(columns.state[row]) != CountState.SNAPSHOT_SERVING):
        return
    live, lowered = workspace.live_of(scope), False
    for aspect, cursor in ((MESSAGES, known.last_read_seq), (ACTIVITIES, known.last_activity_read_seq)):
        left = 0 if at_end else max(0, highest_counted(workspace, live, aspect, row) - cursor)
        if cursor < int(aspect.cursor(columns)[row]):
            continue
        counts = aspect.counts(columns)
        if int(counts[row]) > left:
            counts[row], lowered = left, True
        if aspect is MESSAGES and int(columns.mentions[row]) > left:
            columns.mentions[row], lowered = left, True
        aspect.cursor(columns)[row] = cursor
    if newer:
        columns.read_generation[row] = known.read_generation
    if newer or lowered:
        workspace.changed(scope, row, dirty=False)
