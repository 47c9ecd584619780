"""What this process knows of a scope's messages (or activities), by seq: the record that makes recounts exact.

A log is a bounded ring of records. A record holds what decides whether a message counts and for whom, as of one rewind
generation, and whether this process has accounted the message or only knows a change of it. Over the bound the lowest
seq goes. What went is remembered as three numbers, so that nobody mistakes an incomplete log for a complete one:

- `floor`: nothing at or below it may be recounted from here;
- `evicted_generation`: an evicted accounted record may already have contained changes up to this generation;
- `unsure_generation`: facts of an older generation than this may lack a change that is no longer known.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from .columns import Int32s

NOBODY: Final = -2
"""No member's number."""

_FIRST_RECORDS: Final = 4
_SEQ, _AUTHOR, _PRINCIPAL, _GENERATION, _BITS = range(5)
_NO_TABLE: Final[Int32s] = np.empty((5, 0), dtype=np.int32)
_COUNTS: Final = 1
_ACCOUNTED: Final = 2


@dataclass(frozen=True, slots=True)
class Fact:
    """A message or activity as the counts see it, members by number."""

    author: int
    principal: int
    counts: bool
    mentions: tuple[int, ...] = ()

    def counts_for(self, member: int) -> bool:
        return self.counts and member != self.author and member != self.principal


NOTHING: Final = Fact(NOBODY, NOBODY, False)
"""A message that is not there (any more)."""


@dataclass(frozen=True, slots=True)
class Record:
    fact: Fact
    generation: int
    accounted: bool


class FactLog:
    __slots__ = ("_mentions", "_table", "capacity", "evicted_generation", "floor", "size", "unsure_generation")

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.size = 0
        self.floor = 0
        self.evicted_generation = -1
        self.unsure_generation = -1
        self._table: Int32s = _NO_TABLE
        self._mentions: dict[int, tuple[int, ...]] | None = None

    def __len__(self) -> int:
        return self.size

    @property
    def nbytes(self) -> int:
        return self._table.nbytes + 64 * len(self._mentions or ())

    def get(self, seq: int) -> Record | None:
        at = self._find(seq)
        if at < 0:
            return None
        _, author, principal, generation, bits = self._table[:, at].tolist()
        fact = Fact(author, principal, bool(bits & _COUNTS), (self._mentions or {}).get(seq, ()))
        return Record(fact, generation, bool(bits & _ACCOUNTED))

    def put(self, seq: int, fact: Fact, generation: int, *, accounted: bool) -> None:
        """Write or replace the record of a seq; over the bound the lowest seq goes, perhaps this one."""
        at = self._find(seq)
        if at < 0:
            at = self._room(seq, fact, generation, accounted)
            if at < 0:
                return
        bits = (_COUNTS if fact.counts else 0) | (_ACCOUNTED if accounted else 0)
        self._table[:, at] = (seq, fact.author, fact.principal, generation, bits)
        if fact.mentions and fact.counts:
            self._mentions = self._mentions or {}
            self._mentions[seq] = fact.mentions
        elif self._mentions:
            self._mentions.pop(seq, None)

    def raise_floor(self, seq: int) -> None:
        self.floor = max(self.floor, seq)

    def distrust(self, generation: int) -> None:
        """A change of this generation is not known: facts that are older may lack it."""
        self.unsure_generation = max(self.unsure_generation, generation)

    def count(self, member: int, after: int, without: int = 0) -> tuple[int, int]:
        """Accounted messages past `after` that count for a member, and how many mention him; one seq may be left out."""
        size = self.size
        if not size:
            return 0, 0
        seqs, authors, principals, _, bits = self._table[:, :size]
        counted = (seqs > after) & (bits == _COUNTS | _ACCOUNTED)
        counted &= authors != member
        counted &= principals != member
        if without:
            counted &= seqs != without
        mentions = 0
        if self._mentions:
            for seq, members in self._mentions.items():
                if member in members and seq > after and seq != without:
                    record = self.get(seq)
                    mentions += record is not None and record.accounted and record.fact.counts_for(member)
        return int(np.count_nonzero(counted)), mentions

    def totals(self, after: Int32s) -> Int32s:
        """For each point, how many accounted messages lie past it, whoever wrote them."""
        seqs, _, _, _, bits = self._table[:, : self.size]
        counted = np.sort(seqs[bits == _COUNTS | _ACCOUNTED])
        return (len(counted) - np.searchsorted(counted, after, side="right")).astype(np.int32)

    def concerned(self) -> set[int]:
        """Members for whom `totals` may be wrong, or who are mentioned."""
        members = set(self._table[_AUTHOR : _PRINCIPAL + 1, : self.size].ravel().tolist())
        return members.union(*(self._mentions or {}).values())

    def newer_than(self, generation: int, up_to: int) -> dict[int, Fact]:
        """Facts of seqs up to one, as of later generations than the given one."""
        seqs, _, _, generations, _ = self._table[:, : self.size]
        found: npt.NDArray[np.intp] = np.flatnonzero((generations > generation) & (seqs <= up_to))
        facts = {}
        for seq in seqs[found].tolist():
            record = self.get(seq)
            if record is not None:
                facts[seq] = record.fact
        return facts

    def _find(self, seq: int) -> int:
        size = self.size
        if not size:
            return -1
        hits = self._table[_SEQ, :size] == seq
        at = int(hits.argmax())
        return at if hits[at] else -1

    def _room(self, seq: int, fact: Fact, generation: int, accounted: bool) -> int:
        """A place for a new record, or -1 where the new record itself is the one that has to go."""
        if self.size == self._table.shape[1] < self.capacity:
            grown = np.empty((_BITS + 1, min(max(self.size * 2, _FIRST_RECORDS), self.capacity)), dtype=np.int32)
            grown[:, : self.size] = self._table
            self._table = grown
        if self.size < self._table.shape[1]:
            self.size += 1
            return self.size - 1
        at = int(self._table[_SEQ].argmin())
        lowest = int(self._table[_SEQ, at])
        if seq < lowest:
            self._evicted(seq, fact.counts, generation, accounted)
            return -1
        bits = int(self._table[_BITS, at])
        self._evicted(lowest, bool(bits & _COUNTS), int(self._table[_GENERATION, at]), bool(bits & _ACCOUNTED))
        if self._mentions:
            self._mentions.pop(lowest, None)
        return at

    def _evicted(self, seq: int, counts: bool, generation: int, accounted: bool) -> None:
        if not accounted:
            self.distrust(generation)
            return
        self.evicted_generation = max(self.evicted_generation, generation)
        if counts:
            self.floor = max(self.floor, seq)
