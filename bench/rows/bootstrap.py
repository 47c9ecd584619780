"""Row 3: the unread of the first paint, for somebody with much of it."""

from __future__ import annotations

from .. import child
from ..databases import DATABASES, NoDatabase
from ..figures import Figure, Line, times
from ..scale import Scale

SCOPES, UNREAD, GOAL = 200, 500, 20


def run(scale: Scale) -> list[Line]:
    return [_line(name, scale) for name in DATABASES]


def _line(database: str, scale: Scale) -> Line:
    unread = scale.of(UNREAD, 50)
    measure = f"bootstrap unread, {SCOPES} scopes with {unread} each, {database}"
    try:
        with DATABASES[database]() as environment:
            found = child.run(
                "bench.children.bootstrap",
                environment=environment,
                scopes=SCOPES,
                unread=unread,
                again=scale.of(200, 20),
            )
    except NoDatabase as why:
        return Line("bootstrap", measure, None, None, f"left out: {why}", "", None)
    product, baseline = Figure.of(found["product"], "ms"), Figure.of(found["baseline"], "ms")
    ratio, statements = times(product, baseline), found["statements"]
    return Line(
        "bootstrap",
        measure,
        product,
        baseline,
        f"{ratio:.1f}x, {statements} statements",
        f">= {GOAL}x, 0 statements",
        ratio >= GOAL and statements == 0,
    )
