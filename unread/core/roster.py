"""Up to which roster generation a scope's roster is complete in memory.

Membership and archive facts act at once, each by the generation of its own row. Only the *number* is kept in order:
it rises by one, so that it says that nothing before it is missing, and messages wait for it.
"""

from __future__ import annotations

from typing import Final

from .stream import UNSTARTED

_NONE: Final[set[int]] = set()


class RosterGeneration:
    __slots__ = ("complete", "early", "gap_since", "wanted")

    def __init__(self) -> None:
        self.complete = UNSTARTED
        """The roster contains everything up to this generation; UNSTARTED until a warm job has read it."""
        self.early = _NONE
        self.wanted = 0
        """Highest generation that an event asked for."""
        self.gap_since = -1.0

    def accept(self, generation: int, keep: int) -> None:
        """A membership or archive fact was applied. Over `keep` early numbers are forgotten: a warm job finds them."""
        self.wanted = max(self.wanted, generation)
        if generation <= self.complete:
            return
        if self.early is _NONE:
            self.early = set()
        self.early.add(generation)
        self._advance()
        if len(self.early) > keep:
            self.early.clear()

    def completed(self, generation: int) -> None:
        """A warm job has read the whole roster, beginning at this generation."""
        self.complete = max(self.complete, generation)
        self._advance()

    @property
    def open_gap(self) -> bool:
        return self.wanted > self.complete

    def time_gap(self, now: float) -> None:
        """As a stream's."""
        if not self.open_gap:
            self.gap_since = -1.0
        elif self.gap_since < 0:
            self.gap_since = now

    def _advance(self) -> None:
        if self.complete == UNSTARTED:
            return
        if self.early:
            while self.complete + 1 in self.early:
                self.complete += 1
            self.early = {generation for generation in self.early if generation > self.complete}
        if not self.open_gap:
            self.gap_since = -1.0
