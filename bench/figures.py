"""What a benchmark says: figures with their spread, and lines of the table that hold one against its baseline."""

from __future__ import annotations

import random
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

RESAMPLES = 1_000
Sample = TypeVar("Sample")


@dataclass(frozen=True, slots=True)
class Figure:
    """The median of samples, and the range that the middle 80 % of them lie in; one sample has no range."""

    median: float
    low: float
    high: float
    samples: int
    unit: str

    @staticmethod
    def of(samples: Sequence[float], unit: str) -> Figure:
        ordered = sorted(samples)
        tenth = len(ordered) // 10
        return Figure(statistics.median(ordered), ordered[tenth], ordered[-1 - tenth], len(ordered), unit)

    def __str__(self) -> str:
        value = f"{number(self.median)} {self.unit}"
        return value if self.samples == 1 else f"{value} ({number(self.low)} to {number(self.high)})"


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the table. `met` is None for what has no goal of its own."""

    row: str
    measure: str
    figure: Figure | None
    baseline: Figure | None
    result: str
    goal: str
    met: bool | None


def times(product: Figure, baseline: Figure) -> float:
    """How many times less the product takes than its baseline."""
    return baseline.median / product.median if product.median else float("inf")


def number(value: float) -> str:
    """Three figures that matter, without an exponent."""
    return grouped(value) if value == 0 or abs(value) >= 100 else f"{value:.3g}"


def grouped(value: float) -> str:
    return f"{value:,.0f}".replace(",", " ")


def interval(statistic: Callable[[Sequence[Sample]], float], samples: Sequence[Sample]) -> tuple[float, float]:
    """The 95 % interval of a statistic by resampling, with a seed of its own so that the same samples give the same."""
    rng = random.Random(1)
    found = sorted(statistic(rng.choices(samples, k=len(samples))) for _ in range(RESAMPLES))
    return found[int(RESAMPLES * 0.025)], found[int(RESAMPLES * 0.975)]
