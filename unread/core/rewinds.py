"""The order of a scope's message changes: by rewind generation, early ones held, lost ones given up."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from .events import MessagesChanged
from .stream import UNSTARTED


class Rewinds:
    __slots__ = (
        "applied",
        "gap_since",
        "gap_top",
        "held",
        "late",
        "lost",
        "seen",
        "settle_from",
        "settle_since",
        "start",
    )

    def __init__(self) -> None:
        self.start = UNSTARTED
        """The scope's generation as the first warm job read it."""
        self.applied = UNSTARTED
        """Every change up to this generation has been applied, given up, or was history at the start."""
        self.seen = 0
        """Highest generation known to be committed."""
        self.held: dict[int, MessagesChanged] | None = None
        self.late: set[int] | None = None
        """Changes at or below the start that were applied here."""
        self.lost: set[int] | None = None
        self.gap_since = -1.0
        self.gap_top = 0
        self.settle_from = 0
        """Changes past this one and up to the start have to arrive: a fact accounted here may lack them."""
        self.settle_since = -1.0

    def begin(self, generation: int) -> None:
        self.start = self.applied = generation
        self.seen = max(self.seen, generation)

    def is_new(self, generation: int) -> bool:
        """Neither applied nor held."""
        if generation > self.applied:
            return not self.held or generation not in self.held
        if generation <= self.start:
            return not self.late or generation not in self.late
        return bool(self.lost) and generation in (self.lost or ())

    def accept(self, generation: int) -> None:
        """The change has been applied."""
        self.seen = max(self.seen, generation)
        if generation <= self.start:
            self.late = self.late or set()
            self.late.add(generation)
        elif generation <= self.applied:
            if self.lost:
                self.lost.discard(generation)
        else:
            self.applied = generation

    def has_all(self, after: int, up_to: int) -> bool:
        """Whether every change past one generation and up to another has been applied here."""
        if up_to > self.applied or (self.lost and any(after < generation <= up_to for generation in self.lost)):
            return False
        return all(generation in (self.late or ()) for generation in range(after + 1, min(up_to, self.start) + 1))

    def settle(self, after: int, now: float) -> None:
        """A fact of that generation was accounted: what was committed since, in this life, is still on its way."""
        if self.settle_since < 0:
            self.settle_from, self.settle_since = after, now
        else:
            self.settle_from, self.settle_since = min(self.settle_from, after), now

    def unsettled(self, waiting: Collection[int] = ()) -> int:
        """The highest change at or below the start that has to arrive, has not and does not wait; 0 if none."""
        if self.settle_since < 0:
            return 0
        generation, late = self.start, self.late or ()
        while generation > self.settle_from and (generation in late or generation in waiting):
            generation -= 1
        return generation if generation > self.settle_from else 0

    def hold(self, event: MessagesChanged) -> None:
        self.held = self.held or {}
        self.held[event.rewind_generation] = event
        self.seen = max(self.seen, event.rewind_generation)

    def ready(self) -> Iterator[MessagesChanged]:
        """Held changes whose turn has come; each must be accepted before the next is asked for."""
        while self.held and self.applied + 1 in self.held:
            yield self.held.pop(self.applied + 1)

    def lose(self, up_to: int, keep: int) -> int:
        """Give up the missing generations up to one or to the next held one; answers the highest given up."""
        lost = self.lost or set()
        generation = self.applied + 1
        while generation <= up_to and not (self.held and generation in self.held):
            if len(lost) < keep:
                lost.add(generation)
            generation += 1
        self.lost = lost
        self.applied = generation - 1
        return self.applied

    @property
    def open_gap(self) -> bool:
        return self.seen > self.applied

    def time_gap(self, now: float) -> None:
        """As a stream's."""
        if not self.open_gap:
            self.gap_since = -1.0
        elif self.gap_since < 0 or self.applied >= self.gap_top:
            self.gap_since, self.gap_top = now, self.seen
