"""Row 6: convergence under load. Not a time but a count: of differences, and there may be none."""

from __future__ import annotations

from .. import child
from ..databases import NoDatabase, mariadb
from ..figures import Figure, Line
from ..scale import Scale

WRITERS, READERS = 8, 2


def run(scale: Scale) -> list[Line]:
    seconds = scale.of(60, 5)
    measure = f"{WRITERS} writers for {seconds} s, MariaDB"
    try:
        with mariadb() as environment:
            found = child.run(
                "bench.children.convergence",
                environment=environment,
                writers=WRITERS,
                seconds=seconds,
                readers=READERS,
                seed=1,
            )
    except NoDatabase as why:
        return [Line("convergence", measure, None, None, f"left out: {why}", "", None)]
    for problem in (*found["errors"], *found["differences"])[:20]:
        print(f"convergence: {problem}")
    wrong = len(found["differences"]) + len(found["errors"])
    rate = Figure(found["writes"] / seconds, 0, 0, 1, "actions/s")
    entries, ready = found["entries"], found["ready"]
    result = f"{wrong} differences in {entries} entries ({ready} ready), {found['writes']} actions"
    return [Line("convergence", measure, rate, None, result, "0 differences", wrong == 0)]
