"""Timing within one process: processor time of this thread, so that what else runs on the machine disturbs little."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Sequence

from .figures import Figure

Step = Callable[[], object]
BLOCK = 20


def side_by_side(product: Sequence[Step], baseline: Sequence[Step]) -> tuple[Figure, Figure]:
    """Run the steps in turns, a block of the product and a block of the baseline, and time each step in microseconds.

    In blocks, so that neither side meets the processor's caches as the other one left them more than once in a while.
    The collector is off meanwhile, for both alike: its cost is a measure of its own.
    """
    taken: tuple[list[float], list[float]] = ([], [])
    gc.collect()
    gc.disable()
    try:
        for first in range(0, len(product), BLOCK):
            for steps, into in zip((product, baseline), taken, strict=True):
                into += [_time(step) for step in steps[first : first + BLOCK]]
    finally:
        gc.enable()
    return Figure.of(taken[0], "µs"), Figure.of(taken[1], "µs")


def _time(step: Step) -> float:
    before = time.thread_time()
    step()
    return (time.thread_time() - before) * 1e6
