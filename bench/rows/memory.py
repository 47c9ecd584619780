"""Row 5: what entries take of memory, and of the garbage collector's time."""

from __future__ import annotations

from typing import Any

from .. import child
from ..figures import Figure, Line, grouped, times
from ..scale import Scale

AT_MOST_BYTES, GOAL, AT_MOST_MS = 100, 4, 20.0
SHAPES = ((10, 100), (100, 100), (1_000, 100))
"""Members of each scope, and scopes of each member."""


def run(scale: Scale) -> list[Line]:
    entries = scale.of(1_000_000, 100_000)
    lines = []
    for in_each, of_each in SHAPES:
        shape = {"scopes": entries // in_each, "in_each": in_each, "members": entries // of_each}
        baseline = _measure("baseline", "events", shape)
        for filled in ("events", "snapshot"):
            product = _measure("product", filled, shape)
            how = "told by events" if filled == "events" else "hydrated member by member"
            lines += _lines(f"{grouped(entries)} entries, {grouped(in_each)} a scope, {how}", product, baseline)
    return lines


def _measure(kind: str, filled: str, shape: dict[str, int]) -> dict[str, float]:
    found: dict[str, Any] = child.run("bench.children.memory", kind=kind, filled=filled, **shape)
    expected = shape["scopes"] if kind == "baseline" else shape["scopes"] * shape["in_each"]
    if found["entries"] != expected:
        raise AssertionError(f"{kind} holds {found['entries']}, not {expected}")
    return found


def _lines(measure: str, product: dict[str, float], baseline: dict[str, float]) -> list[Line]:
    sizes = _one(product["bytes"], "B"), _one(baseline["bytes"], "B")
    ratio = times(*sizes)
    more = product["full_ms"] - product["empty_ms"]
    return [
        Line(
            "memory",
            f"{measure}: resident, each",
            *sizes,
            f"{ratio:.1f}x less",
            f"<= {AT_MOST_BYTES} B, >= {GOAL}x less",
            product["bytes"] <= AT_MOST_BYTES and ratio >= GOAL,
        ),
        Line(
            "memory",
            f"{measure}: a full collection",
            _one(product["full_ms"], "ms"),
            _one(baseline["full_ms"], "ms"),
            f"{more:+.1f} ms over {product['empty_ms']:.1f}",
            f"< +{AT_MOST_MS:.0f} ms",
            more < AT_MOST_MS,
        ),
    ]


def _one(value: float, unit: str) -> Figure:
    return Figure(value, value, value, 1, unit)
