"""What this process knows of a scope's messages (or activities), by seq: the record that makes recounts exact.

A log is a bounded ring of records of what was accounted. A record holds what decides whether a message counts and for
whom, as of one rewind generation. What a message was changed into before it was accounted is kept beside the ring, and
has a bound of its own. Over the bound the lowest seq goes. What went is remembered in a few numbers, so that nobody
mistakes an incomplete log for a complete one:

- `floor`: nothing at or below it may be recounted from here;
- `forgotten_generation`: changes up to this generation may have gone with their records;
- `unsure_generation`: facts of an older generation than this may lack a change that is no longer known.

A change of a message whose record went has to know whether the facts that were accounted contain it already. They do
if the change is from before the start and the facts are not; they do not if the change comes in its order. The facts
in between, older than the start or ahead of their order, are few, and their generations are kept (`counted_as_of`).
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from .columns import Int32s

NOBODY: Final = -2
"""No member's number."""

_FIRST_RECORDS: Final = 4
_SEQ, _AUTHOR, _PRINCIPAL, _GENERATION, _COUNTS = range(5)
_NO_TABLE: Final[Int32s] = np.empty((5, 0), dtype=np.int32)
_KEPT_GENERATIONS: Final = 4096
_KEPT_CHANGES: Final = 1024


class Fact(NamedTuple):
    """A message or activity as the counts see it, members by number."""

    author: int
    principal: int
    counts: bool
    mentions: tuple[int, ...] = ()

    def counts_for(self, member: int) -> bool:
        return self.counts and member != self.author and member != self.principal


NOTHING: Final = Fact(NOBODY, NOBODY, False)
"""A message that is not there (any more)."""


class Record(NamedTuple):
    fact: Fact
    generation: int


class FactLog:
    __slots__ = (
        "applied_generation",
        "capacity",
        "changed",
        "counted_as_of",
        "floor",
        "forgotten_generation",
        "mentions",
        "muddled_generation",
        "size",
        "start_generation",
        "table",
        "top",
        "unsure_generation",
    )

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.size = 0
        self.top = 0
        """Highest seq that ever had a record."""
        self.floor = 0
        self.forgotten_generation = -1
        self.unsure_generation = -1
        self.muddled_generation = -1
        """Changes up to this one cannot be held against facts whose generation was not kept, for want of room."""
        self.start_generation = -1
        """Changes up to this one were history when the scope was warmed; they may come in any order."""
        self.applied_generation = -1
        """Later changes come in order."""
        self.changed: dict[int, tuple[Fact, int]] | None = None
        self.counted_as_of: dict[int, int] | None = None
        self.table: Int32s = _NO_TABLE
        self.mentions: dict[int, tuple[int, ...]] | None = None

    def __len__(self) -> int:
        return self.size

    @property
    def nbytes(self) -> int:
        return self.table.nbytes + 64 * len(self.mentions or ())

    def get(self, seq: int) -> Record | None:
        """What was accounted of a seq, or what it was changed into before that."""
        at = self._find(seq)
        if at < 0:
            changed = (self.changed or {}).get(seq)
            return Record(*changed) if changed else None
        _, author, principal, generation, counts = self.table[:, at].tolist()
        return Record(Fact(author, principal, bool(counts), (self.mentions or {}).get(seq, ())), generation)

    def keep_change(self, seq: int, fact: Fact, generation: int) -> None:
        """What a message that was not accounted yet was changed into. Over the bound the oldest change goes."""
        changed = self.changed = self.changed or {}
        changed[seq] = (fact, generation)
        if len(changed) > _KEPT_CHANGES:
            oldest = min(changed, key=lambda each: changed[each][1])
            self.distrust(changed.pop(oldest)[1])

    def put(self, seq: int, fact: Fact, generation: int) -> None:
        """Write or replace the record of an accounted seq; over the bound the lowest seq goes, perhaps this one."""
        if self.changed:
            self.changed.pop(seq, None)
        at = self._find(seq)
        if at < 0:
            self.top = max(self.top, seq)
            at = self._room(seq, fact, generation)
            if at < 0:
                return
        table = self.table
        table[_SEQ, at] = seq
        table[_AUTHOR, at], table[_PRINCIPAL, at] = fact.author, fact.principal
        table[_GENERATION, at], table[_COUNTS, at] = generation, fact.counts
        if fact.mentions and fact.counts:
            self.mentions = self.mentions or {}
            self.mentions[seq] = fact.mentions
        elif self.mentions:
            self.mentions.pop(seq, None)

    def contains(self, seq: int, generation: int) -> bool | None:
        """Whether the facts that were accounted of a seq without a record contain a change; None if nobody knows."""
        kept = (self.counted_as_of or {}).get(seq)
        if kept is not None:
            return generation <= kept
        if generation <= self.muddled_generation:
            return None
        if generation <= self.start_generation:
            return True
        return False if generation > self.applied_generation else None

    def in_order(self, seq: int, generation: int) -> bool:
        """Whether every earlier change of the seq has been applied."""
        return generation > self.applied_generation and seq not in (self.counted_as_of or ())

    def raise_floor(self, seq: int) -> None:
        self.floor = max(self.floor, seq)

    def distrust(self, generation: int) -> None:
        """A change of this generation is not known: facts that are older may lack it."""
        self.unsure_generation = max(self.unsure_generation, generation)

    def count(self, member: int, after: int, without: int = 0) -> tuple[int, int]:
        """Accounted messages past `after` that count for a member, and how many mention him; `without` is left out."""
        size = self.size
        if not size:
            return 0, 0
        seqs, authors, principals, _, counts = self.table[:, :size]
        counted = (seqs > after) & (counts != 0)
        counted &= authors != member
        counted &= principals != member
        if without:
            counted &= seqs != without
        mentions = 0
        if self.mentions:
            for seq, members in self.mentions.items():
                if member in members and seq > after and seq != without:
                    record = self.get(seq)
                    mentions += record is not None and record.fact.counts_for(member)
        return int(np.count_nonzero(counted)), mentions

    def totals(self, after: Int32s) -> Int32s:
        """For each point, how many accounted messages lie past it, whoever wrote them."""
        seqs, _, _, _, counts = self.table[:, : self.size]
        counted = np.sort(seqs[counts != 0])
        return (len(counted) - np.searchsorted(counted, after, side="right")).astype(np.int32)

    def concerned(self) -> set[int]:
        """Members for whom `totals` may be wrong, or who are mentioned."""
        members = set(self.table[_AUTHOR : _PRINCIPAL + 1, : self.size].ravel().tolist())
        return members.union(*(self.mentions or {}).values())

    def newer_than(self, generation: int, after: int, up_to: int) -> dict[int, Record]:
        """What is known of seqs past one and up to another, as of later generations than the given one."""
        seqs, _, _, generations, _ = self.table[:, : self.size]
        found: npt.NDArray[np.intp] = np.flatnonzero((generations > generation) & (seqs > after) & (seqs <= up_to))
        records = {
            seq: Record(*changed)
            for seq, changed in (self.changed or {}).items()
            if changed[1] > generation and after < seq <= up_to
        }
        for seq in seqs[found].tolist():
            record = self.get(seq)
            if record is not None:
                records[seq] = record
        return records

    def _find(self, seq: int) -> int:
        size = self.size
        if not size or seq > self.top:
            return -1
        hits = self.table[_SEQ, :size] == seq
        at = int(hits.argmax())
        return at if hits[at] else -1

    def _room(self, seq: int, fact: Fact, generation: int) -> int:
        """A place for a new record, or -1 where the new record itself is the one that has to go."""
        if self.size == self.table.shape[1] < self.capacity:
            grown = np.empty((5, min(max(self.size * 2, _FIRST_RECORDS), self.capacity)), dtype=np.int32)
            grown[:, : self.size] = self.table
            self.table = grown
        if self.size < self.table.shape[1]:
            self.size += 1
            return self.size - 1
        at = int(self.table[_SEQ].argmin())
        lowest = int(self.table[_SEQ, at])
        if seq < lowest:
            self._evicted(seq, fact.counts, generation)
            return -1
        self._evicted(lowest, bool(self.table[_COUNTS, at]), int(self.table[_GENERATION, at]))
        if self.mentions:
            self.mentions.pop(lowest, None)
        return at

    def _evicted(self, seq: int, counts: bool, generation: int) -> None:
        self.forgotten_generation = max(self.forgotten_generation, generation)
        if counts:
            self.floor = max(self.floor, seq)
        if self.start_generation <= generation <= self.applied_generation:
            return
        kept = self.counted_as_of = self.counted_as_of or {}
        if seq in kept or len(kept) < _KEPT_GENERATIONS:
            kept[seq] = generation
        else:
            self.muddled_generation = max(self.muddled_generation, generation)
