"""Row 1: one message, put into the counts of everybody in a warm scope."""

from __future__ import annotations

from collections.abc import Callable

from unread.core.budgets import Budgets
from unread.core.events import Event, MessageStored, ReadCursorAdvanced
from unread.core.runtime import UnreadRuntime

from ..figures import Line, grouped, times
from ..reference import ReferenceRuntime
from ..reference.snapshots import load
from ..scale import Scale
from ..timing import Step, side_by_side
from ..workspace import WORKSPACE, Rosters, build_runtime, member, posted, scope, warm

AUTHOR, SCOPE = 1, 1
SIZES = ((2_000, 10), (100_000, 50))
"""Members, and how many times faster than the baseline a message has to be accounted."""


def run(scale: Scale) -> list[Line]:
    return [line for size, goal in SIZES for line in _lines(size, goal, scale)]


def _lines(size: int, goal: int, scale: Scale) -> list[Line]:
    pair = _Pair(size)
    again = scale.of(400 if size < 10_000 else 100, 20)
    steady = side_by_side(*pair.steps([pair.message() for _ in range(again)]))
    pair.compare()
    first = []
    for _ in range(scale.of(9 if size < 10_000 else 3, 1)):
        pair.everybody_reads()
        first.append(side_by_side(*pair.steps([pair.message()])))
    pair.compare()
    lighting = [sorted(each, key=lambda figure: figure.median)[len(first) // 2] for each in zip(*first, strict=True)]
    return [
        Line(
            "account",
            f"one message to {grouped(size)} members",
            *steady,
            f"{times(*steady):.1f}x",
            f">= {goal}x",
            times(*steady) >= goal,
        ),
        Line(
            "account",
            "the same, when everybody had read everything",
            *lighting,
            f"{times(lighting[0], lighting[1]):.1f}x",
            "",
            None,
        ),
    ]


class _Pair:
    """The product and the baseline, told the same."""

    def __init__(self, size: int) -> None:
        self.size, self.seq, self.reads = size, 0, 1
        rosters = Rosters({SCOPE: size})
        budgets = Budgets(max_sync_accounting_members=size, accounting_batch_size=size)
        self.product: UnreadRuntime = build_runtime(rosters, budgets)
        self.baseline = ReferenceRuntime()
        header = rosters.load_header(WORKSPACE, scope(SCOPE))
        load(self.baseline, header, rosters.load_page(WORKSPACE, scope(SCOPE), 0, size))
        first = self.message()
        warm(self.product, first)
        self.baseline.apply([first])
        for each in (1, 2, size):
            self.product.hydrate_member(WORKSPACE, member(each))

    def message(self) -> MessageStored:
        self.seq += 1
        return posted(AUTHOR, SCOPE, self.seq, self.size)

    def steps(self, events: list[MessageStored]) -> tuple[list[Step], list[Step]]:
        def step(apply: Callable[[list[Event]], None], event: Event) -> Step:
            return lambda: apply([event])

        product = [step(self.product.apply, event) for event in events]
        return product, [step(self.baseline.apply, event) for event in events]

    def everybody_reads(self) -> None:
        """And everything is written, so that nothing is dirty any more."""
        self.reads += 1
        for each in range(1, self.size + 1):
            where = (WORKSPACE, scope(SCOPE), 0, member(each))
            read = ReadCursorAdvanced(*where, self.seq, 0, self.reads, self.seq, 0)
            self.product.apply([read])
            self.baseline.apply([read])
        self.product.flush()
        self.baseline.flushed()

    def compare(self) -> None:
        for each in (1, 2, self.size):
            shown = self.product.member_unread(WORKSPACE, member(each)).counts.get(scope(SCOPE))
            expected = self.baseline.member_unread(member(each)).get(scope(SCOPE))
            if shown != expected or (each != AUTHOR and shown is None):
                raise AssertionError(f"the product shows {shown}, the baseline {expected}")
