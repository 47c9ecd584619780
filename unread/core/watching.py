"""Members with open sockets: their entries carry a bit, so that accounting finds them without a look at each member."""

from __future__ import annotations

from .columns import WATCHED
from .workspace import Watch, Workspace


def watch(workspace: Workspace, member: int) -> None:
    number = workspace.members.number(member)
    watched = workspace.watches.get(number)
    if watched is None:
        watched = workspace.watches[number] = Watch(taken=workspace.version)
        _mark(workspace, number, True)
    watched.sockets += 1


def unwatch(workspace: Workspace, member: int) -> None:
    number = workspace.members.numbers.get(member)
    watched = None if number is None else workspace.watches.get(number)
    if number is None or watched is None:
        return
    watched.sockets -= 1
    if not watched.sockets:
        del workspace.watches[number]
        _mark(workspace, number, False)


def _mark(workspace: Workspace, number: int, watched: bool) -> None:
    columns = workspace.columns
    for row in columns.rows_of(int(workspace.members.heads[number])):
        columns.flags[row] = int(columns.flags[row]) & ~WATCHED | (WATCHED if watched else 0)
