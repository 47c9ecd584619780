"""Row 8: writing a hundred thousand dirty rows, and what requests notice of it."""

from __future__ import annotations

from .. import child
from ..databases import DATABASES, NoDatabase
from ..figures import Figure, Line, grouped, times
from ..scale import Scale

GOAL, AT_MOST = 10, 2.0


def run(scale: Scale) -> list[Line]:
    return [line for name in DATABASES for line in _lines(name, scale)]


def _lines(database: str, scale: Scale) -> list[Line]:
    entries = scale.of(100_000, 10_000)
    measure = f"flush of {grouped(entries)} dirty rows, {database}"
    try:
        with DATABASES[database]() as environment:
            found = child.run(
                "bench.children.flushing",
                environment=environment,
                entries=entries,
                rounds=scale.of(5, 2),
                single=scale.of(5_000, 500),
                idle=scale.of(1_500, 200),
            )
    except NoDatabase as why:
        return [Line("flush", measure, None, None, f"left out: {why}", "", None)]
    product, single, shared = (Figure.of(found[name], "µs") for name in ("product", "single", "shared"))
    ratio = times(product, single)
    busy, idle = _p99(found["busy"]), _p99(found["idle"])
    slower = busy.median / idle.median
    return [
        Line("flush", f"{measure}: each", product, single, f"{ratio:.1f}x", f">= {GOAL}x", ratio >= GOAL),
        Line(
            "flush",
            "against single statements that share transactions",
            product,
            shared,
            f"{times(product, shared):.1f}x",
            "",
            None,
        ),
        Line(
            "flush",
            f"a request's p99 while flushing and idle, {database}",
            busy,
            idle,
            f"{slower:.1f}x",
            f"<= {AT_MOST:.0f}x",
            slower <= AT_MOST,
        ),
    ]


def _p99(samples: list[float]) -> Figure:
    """The 99th percentile, between the median and the slowest."""
    ordered = sorted(samples)
    return Figure(ordered[int(len(ordered) * 0.99)], ordered[len(ordered) // 2], ordered[-1], len(ordered), "ms")
