"""The kinds of moves (methods of `Player`), each with the bounds of its arguments and its weight in a history.

`aside` is no kind of its own: `("aside", after, *move)` makes a move in the middle of a store call.
"""

from __future__ import annotations

from dataclasses import dataclass

from .player import ANY, BACK, MEMBERS, SCOPES


@dataclass(frozen=True, slots=True)
class Kind:
    bounds: tuple[int, ...]
    weight: int


FACTS = {
    "post": Kind((MEMBERS, SCOPES, MEMBERS + 1, 6), 60),
    "replay": Kind((SCOPES, BACK), 4),
    "delete": Kind((SCOPES, BACK), 6),
    "rewind": Kind((SCOPES, BACK), 3),
    "edit": Kind((SCOPES, BACK, MEMBERS + 1), 5),
    "show": Kind((SCOPES, BACK, 2), 5),
    "activity": Kind((MEMBERS, SCOPES, 2), 8),
    "read_to": Kind((MEMBERS, SCOPES, BACK), 10),
    "read_all": Kind((MEMBERS, SCOPES, 2), 8),
    "mark": Kind((MEMBERS, SCOPES), 4),
    "mark_from": Kind((MEMBERS, SCOPES, BACK), 8),
    "clear": Kind((MEMBERS, SCOPES), 2),
    "level": Kind((MEMBERS, SCOPES, 3), 3),
    "join": Kind((MEMBERS, SCOPES), 8),
    "leave": Kind((MEMBERS, SCOPES), 6),
    "visible": Kind((MEMBERS, SCOPES, 2), 4),
    "archive": Kind((SCOPES,), 3),
    "restore": Kind((SCOPES,), 5),
    "thread": Kind((MEMBERS, SCOPES, BACK), 6),
}

DELIVERIES = {
    "deliver": Kind((ANY,), 40),
    "deliver_all": Kind((), 12),
    "again": Kind((ANY,), 8),
    "lose": Kind((ANY,), 4),
    "find": Kind((ANY,), 2),
}

WORK = {
    "hydrate": Kind((MEMBERS,), 6),
    "peek": Kind((MEMBERS, SCOPES), 3),
    "job": Kind((), 10),
    "jobs": Kind((), 10),
    "flush": Kind((), 14),
    "fail_upserts": Kind((3,), 7),
    "fail_loads": Kind((3,), 5),
    "wait": Kind((2,), 3),
    "evict": Kind((SCOPES,), 4),
}

SIGHTS = {
    "note": Kind((MEMBERS,), 7),
    "look": Kind((MEMBERS,), 9),
    "observe": Kind((MEMBERS,), 10),
    "watch": Kind((MEMBERS,), 2),
    "unwatch": Kind((MEMBERS,), 1),
    "take": Kind((MEMBERS,), 6),
}

ENDS = {
    "settle": Kind((), 5),
    "restart": Kind((), 9),
    "crash": Kind((), 8),
    "haunt": Kind((), 2),
}

MOVES = FACTS | DELIVERIES | WORK | SIGHTS | ENDS
