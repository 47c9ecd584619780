"""Where a member's entry is in a scope: small scopes are looked through, large ones get an index at first need."""

from __future__ import annotations

from typing import Final

import numpy as np

from .columns import NO_ROW, Int32s

_LARGE: Final = 8_192
"""Entries from which a sorted index is quicker than a look at each; it costs eight bytes an entry."""


class Places:
    """Indexes of large scopes, by scope number. A place in a scope never changes until the scope is evicted."""

    __slots__ = ("_indexes",)

    def __init__(self) -> None:
        self._indexes: dict[int, tuple[Int32s, Int32s]] = {}
        """Members in order, and their places."""

    def find(self, scope: int, members: Int32s, member: int) -> int:
        """The place of a member among the scope's members, NO_ROW if there is none."""
        length = len(members)
        if length < _LARGE:
            return _look(members, member)
        ordered, places = self._index(scope, members)
        at = int(np.searchsorted(ordered, member))
        if at < len(ordered) and ordered[at] == member:
            return int(places[at])
        newer = _look(members[len(ordered) :], member)
        return newer if newer == NO_ROW else newer + len(ordered)

    def forget(self, scope: int) -> None:
        self._indexes.pop(scope, None)

    @property
    def nbytes(self) -> int:
        return sum(ordered.nbytes + places.nbytes for ordered, places in list(self._indexes.values()))

    def _index(self, scope: int, members: Int32s) -> tuple[Int32s, Int32s]:
        """The index, made anew when an eighth of the scope came after it."""
        known = self._indexes.get(scope)
        if known is not None and len(known[0]) * 9 >= len(members) * 8:
            return known
        places = np.argsort(members, kind="stable").astype(np.int32)
        made = self._indexes[scope] = (members[places], places)
        return made


def _look(members: Int32s, member: int) -> int:
    if not len(members):
        return NO_ROW
    hits = members == member
    at = int(hits.argmax())
    return at if hits[at] else NO_ROW
