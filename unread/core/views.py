"""What a member is shown: the whole view, the changes since the last take, all from the one `shown` of an entry."""

from __future__ import annotations

from collections.abc import Sequence

from .aggregate import shown_row
from .columns import NO_ROW
from .states import CountState, MemberDelta, MemberUnread, Shown
from .workspace import Watch, Workspace

UNAVAILABLE = MemberUnread(state="unavailable", has_unread=False, epoch=0, version=0, counts={})


def member_unread(workspace: Workspace, member: int, scopes: Sequence[int] | None = None) -> MemberUnread:
    """The view of a member, or the part of it that concerns some scopes; the holder of the lock calls it."""
    number = workspace.members.numbers.get(member)
    if number is None or not workspace.members.is_loaded(number):
        return _view(workspace, "hydrating", False, {})
    found = _all_lit(workspace, number)
    counts = found if scopes is None else {scope: found[scope] for scope in scopes if scope in found}
    return _view(workspace, _state(found), bool(found), counts)


def take_delta(workspace: Workspace, member: int, watch: Watch) -> MemberDelta | None:
    """What changed since the last take, at most `max_delta_entries`; None if nothing did or nothing is shown yet."""
    number = workspace.members.numbers[member]
    if not workspace.members.is_loaded(number):
        return None
    columns, base = workspace.columns, workspace.tick_base
    rows = columns.rows_of(int(workspace.members.heads[number]))
    changed = sorted((base + int(columns.touched[row]), row) for row in rows)
    changed = [each for each in changed if each[0] > watch.taken]
    if not changed and not watch.news:
        return None
    version = workspace.version
    limit = workspace.budgets.max_delta_entries
    if len(changed) > limit:
        # Entries that changed together stay together, so that the next delta begins where this one ends.
        version = changed[limit - 1][0]
        changed = [each for each in changed if each[0] <= version]
    counts = {}
    for _, row in changed:
        scope = int(columns.scope[row])
        counts[workspace.scopes.ids[scope]] = shown_row(workspace, scope, row)
    lit = _all_lit(workspace, number)
    since, watch.taken = watch.taken, version
    watch.news = False
    view = MemberUnread(_state(lit), bool(lit), workspace.epoch, version, counts)
    return MemberDelta(since=since, unread=view)


def has_more(workspace: Workspace, member: int, watch: Watch) -> bool:
    """Whether entries changed past what was taken."""
    columns, base = workspace.columns, workspace.tick_base
    rows = columns.rows_of(int(workspace.members.heads[workspace.members.numbers[member]]))
    return any(base + int(columns.touched[row]) > watch.taken for row in rows)


def snapshot(workspace: Workspace, member: int, watch: Watch | None) -> MemberUnread:
    """The whole view; a watched member's pending changes are part of it and are not told again."""
    view = member_unread(workspace, member)
    if watch is not None:
        watch.taken, watch.news = view.version, False
    return view


def shown_of(workspace: Workspace, member: int, scope: int) -> Shown | None:
    """One entry, also if it shows nothing; None where there is none. For tests and diagnosis."""
    number, place = workspace.members.numbers.get(member), workspace.scopes.numbers.get(scope)
    if number is None or place is None:
        return None
    row = workspace.find(place, number)
    return None if row == NO_ROW else shown_row(workspace, place, row)


def _all_lit(workspace: Workspace, number: int) -> dict[int, Shown]:
    counts = {}
    columns, scopes = workspace.columns, workspace.scopes
    for row in columns.rows_of(int(workspace.members.heads[number])):
        scope = int(columns.scope[row])
        shown = shown_row(workspace, scope, row)
        if shown.lit:
            counts[scopes.ids[scope]] = shown
    return counts


def _state(counts: dict[int, Shown]) -> str:
    hints = any(shown.state is CountState.SNAPSHOT_SERVING for shown in counts.values())
    return (CountState.SNAPSHOT_SERVING if hints else CountState.READY).label


def _view(workspace: Workspace, state: str, has_unread: bool, counts: dict[int, Shown]) -> MemberUnread:
    return MemberUnread(state, has_unread, workspace.epoch, workspace.version, counts)
