"""Which seqs of one scope this process has accounted: its messages, or its activities.

A frontier that everything up to has been accounted (or lost), plus small sets for what arrived early, what arrived
late (at or below the starting frontier) and what was given up but may still come.
"""

from __future__ import annotations

from typing import Final

from .log import FactLog

UNSTARTED: Final = -1
_EMPTY: Final[set[int]] = set()
"""Stands for every set that nothing was put into yet; never added to."""
_NO_LOG: Final = FactLog(1)
"""Stands for every log that nothing was put into yet: most scopes have no activities."""


class Stream:
    __slots__ = (
        "_log_size",
        "early",
        "frontier",
        "gap_since",
        "gap_top",
        "late",
        "log",
        "lost",
        "seen",
        "settle_from",
        "settle_since",
        "start",
        "top",
    )

    def __init__(self, log_size: int) -> None:
        self.start = UNSTARTED
        """The starting frontier: the scope's latest seq as the first warm job read it."""
        self.frontier = UNSTARTED
        self.top = 0
        """Highest seq accounted here."""
        self.seen = 0
        """Highest seq known to be committed."""
        self.early = _EMPTY
        self.late = _EMPTY
        self.lost = _EMPTY
        """Given up below the frontier; accounted all the same if they come."""
        self.log = _NO_LOG
        """To be read; `own_log` is to be written."""
        self._log_size = log_size
        self.gap_since = -1.0
        self.gap_top = 0
        self.settle_from = 0
        """Seqs past this one and up to the start have to arrive, or entries called ready miss them."""
        self.settle_since = -1.0

    def own_log(self) -> FactLog:
        if self.log is _NO_LOG:
            self.log = FactLog(self._log_size)
        return self.log

    @property
    def has_log(self) -> bool:
        return self.log is not _NO_LOG

    def restore(self, late: list[int], lost: list[int]) -> None:
        self.late = set(late) or _EMPTY
        self.lost = set(lost) or _EMPTY

    def begin(self, latest: int) -> None:
        self.start = self.frontier = latest
        self.seen = max(self.seen, latest)
        self._advance()

    def accounted(self, seq: int) -> bool:
        if seq > self.frontier:
            return seq in self.early
        if seq > self.start:
            return seq not in self.lost
        return seq in self.late

    def accept(self, seq: int) -> None:
        """Everybody it counts for has been accounted."""
        self.top = max(self.top, seq)
        self.seen = max(self.seen, seq)
        if seq <= self.start:
            self.late = _with(self.late, seq)
            if self.settle_since >= 0 and len(self.late) >= self.start - self.settle_from and not self.unsettled():
                self.settle_since = -1.0
        elif seq <= self.frontier:
            self.lost.discard(seq)
        elif seq == self.frontier + 1 and not self.early and not self.lost:
            self.frontier = seq
        else:
            self.early = _with(self.early, seq)
            self._advance()

    def missing(self, up_to: int, at_most: int) -> list[int]:
        """Seqs past the frontier that have not been accounted, the lowest first."""
        found: list[int] = []
        seq = self.frontier + 1
        while seq <= up_to and len(found) < at_most:
            if seq not in self.early and seq not in self.lost:
                found.append(seq)
            seq += 1
        return found

    def lose(self, seq: int, keep: int) -> None:
        """Give a seq up, so that the frontier can pass it; at most `keep` of them stay known as lost."""
        self.own_log().raise_floor(seq)
        if seq <= self.start:
            return
        self.lost = _with(self.lost, seq)
        self._advance()
        while len(self.lost) > keep:
            self.lost.remove(min(self.lost))

    def jump(self, seq: int) -> None:
        """Give up everything up to a seq without knowing the single ones."""
        self.own_log().raise_floor(seq)
        self.frontier = max(self.frontier, seq)
        self.early = {each for each in self.early if each > self.frontier}
        self._advance()

    def settle(self, after: int, now: float) -> None:
        """An entry is called ready though events past `after` and up to the start may still be on their way."""
        if self.settle_since < 0:
            self.settle_from, self.settle_since = after, now
        else:
            self.settle_from, self.settle_since = min(self.settle_from, after), now

    def unsettled(self) -> list[int]:
        return [seq for seq in range(self.settle_from + 1, self.start + 1) if seq not in self.late]

    @property
    def open_gap(self) -> bool:
        return bool(self.early) or self.seen > self.frontier

    def time_gap(self, now: float) -> None:
        """Note since when something is missing. What went missing after that has a grace of its own."""
        if not self.open_gap:
            self.gap_since = -1.0
        elif self.gap_since < 0 or self.frontier >= self.gap_top:
            self.gap_since, self.gap_top = now, self.seen

    @property
    def nbytes(self) -> int:
        return self.log.nbytes + 60 * (len(self.early) + len(self.late) + len(self.lost))

    def _advance(self) -> None:
        frontier = self.frontier
        while frontier + 1 in self.early or frontier + 1 in self.lost:
            frontier += 1
            self.early.discard(frontier)
        self.frontier = frontier


def _with(seqs: set[int], seq: int) -> set[int]:
    if seqs is _EMPTY:
        return {seq}
    seqs.add(seq)
    return seqs
