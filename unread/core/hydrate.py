"""Hydrate jobs: a member's snapshot rows, page by page, into memory; published when the last page is in."""

from __future__ import annotations

from collections.abc import Sequence

from .columns import LOADED
from .loading import load_hydrate_row, load_snapshot
from .members import LOADED as PAGES_IN
from .members import LOADING, NOT_LOADED
from .ports import HydrateRow, SnapshotStore
from .workspace import Workspace


def hydrate_member(workspace: Workspace, member: int, snapshots: SnapshotStore, page_size: int) -> bool:
    """Load all pages of a member and publish them; False if that is under way already or the workspace went.

    Raises what the store raises, with the member as unloaded as before.
    """
    with workspace.lock:
        number = workspace.members.number(member)
        if workspace.closed or workspace.members.loading[number] == LOADING:
            return False
        if workspace.members.loading[number] == PAGES_IN:
            return True
        workspace.members.loading[number] = LOADING
        workspace.hydrating.add(number)
    try:
        after = 0
        while True:
            with workspace.lock:
                evictions = workspace.evictions
            page = snapshots.load_member_page(workspace.id, member, after, page_size)
            with workspace.lock:
                if workspace.closed:
                    return False
                if workspace.evictions != evictions:
                    continue  # rows of an evicted scope may have been read before its last flush
                for row in page:
                    load_hydrate_row(workspace, number, row)
            if len(page) < page_size:
                break
            after = page[-1].snapshot.scope
        with workspace.lock:
            if not workspace.closed:
                _publish(workspace, number)
            return not workspace.closed
    finally:
        with workspace.lock:
            workspace.hydrating.discard(number)
            if workspace.members.loading[number] == LOADING:
                workspace.members.loading[number] = NOT_LOADED


def hydrate_page(
    workspace: Workspace, member: int, scopes: Sequence[int], snapshots: SnapshotStore, page_size: int
) -> None:
    """Load the rows of some scopes of a member, who is as published as before. Raises what the store raises."""
    for first in range(0, len(scopes), page_size):
        some = list(scopes[first : first + page_size])
        while True:
            with workspace.lock:
                evictions = workspace.evictions
            page: Sequence[HydrateRow] = snapshots.load_member_scopes(workspace.id, member, some)
            with workspace.lock:
                if workspace.closed:
                    return
                if workspace.evictions != evictions:
                    continue
                number = workspace.members.number(member)
                for row in page:
                    load_hydrate_row(workspace, number, row)
                found = {row.snapshot.scope for row in page}
                for scope in some:
                    if scope not in found and scope in workspace.scopes.numbers:
                        _has_no_row(workspace, workspace.scopes.numbers[scope], number)
            break


def _publish(workspace: Workspace, member: int) -> None:
    """All pages are in: what has no row has none, and the member's sockets get everything."""
    columns = workspace.columns
    rows = columns.rows_of(int(workspace.members.heads[member]))
    workspace.members.lift_veil(member)
    for row in rows:
        kept = not columns.flags[row] & LOADED
        if kept:
            load_snapshot(workspace, int(columns.scope[row]), row, None)
        workspace.changed(int(columns.scope[row]), row, dirty=kept)
    workspace.note_news(member)


def _has_no_row(workspace: Workspace, scope: int, member: int) -> None:
    row = workspace.find(scope, member)
    if row >= 0 and not workspace.columns.flags[row] & LOADED:
        load_snapshot(workspace, scope, row, None)
        workspace.changed(scope, row)
