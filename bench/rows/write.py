"""Row 4: what the runtime adds to the write of a message over HTTP.

Three servers take the same message in turns, in an order drawn anew each time: one with the runtime, and two without
it, of which one is there to show what the difference between two servers that are the same amounts to here.
"""

from __future__ import annotations

import random
import statistics
from collections.abc import Sequence

from ..client import Client, processor_s
from ..databases import DATABASES, NoDatabase
from ..figures import Figure, Line, interval
from ..scale import Scale
from ..servers import PRODUCT, WITHOUT_RUNTIME, Place, places, wait_until_counted

PEOPLE, AT_MOST = 200, 1.03
WARM_UP = 100
BLOCK = 50
"""Messages of each server between two looks at the processor time."""


def run(scale: Scale) -> list[Line]:
    return [line for name in DATABASES for line in _lines(name, scale)]


def _lines(database: str, scale: Scale) -> list[Line]:
    measure = f"message write, {PEOPLE} members, {database}"
    try:
        with (
            DATABASES[database]() as environment,
            places(environment, PEOPLE, PRODUCT, WITHOUT_RUNTIME, WITHOUT_RUNTIME) as (on, off, again),
        ):
            return _compare(measure, on, off, again, blocks=scale.of(30, 4))
    except NoDatabase as why:
        return [Line("write", measure, None, None, f"left out: {why}", "", None)]


def _compare(measure: str, on: Place, off: Place, again: Place, blocks: int) -> list[Line]:
    everyone = (on, off, again)
    clients = [place.client() for place in everyone]
    paths = [f"/conversations/{place.channel}/messages" for place in everyone]
    rng = random.Random(1)
    took: list[list[float]] = [[], [], []]
    processor: list[list[float]] = [[], [], []]
    _warm_up(on, everyone, clients, paths)
    for _ in range(blocks):
        before = [processor_s(place.pid) for place in everyone]
        for _ in range(BLOCK):
            for which in rng.sample(range(3), 3):
                took[which].append(clients[which].timed("POST", paths[which], {"text": "Is the build green again?"}))
        for which, place in enumerate(everyone):
            processor[which].append((processor_s(place.pid) - before[which]) * 1e3 / BLOCK)
    for client in clients:
        client.close()
    return [
        _line(f"{measure}: time of a request", took[0], took[1], goal=True),
        _line("control: the same server twice", took[2], took[1]),
        _line(f"{measure}: processor time of the server", processor[0], processor[1]),
        _line("control: the same server twice", processor[2], processor[1]),
    ]


def _warm_up(on: Place, everyone: Sequence[Place], clients: Sequence[Client], paths: Sequence[str]) -> None:
    for person in range(PEOPLE):
        reader = on.client(person)
        reader.call("GET", f"/workspaces/{on.workspace}/unread")
        reader.close()
    for _ in range(WARM_UP):
        for client, path in zip(clients, paths, strict=True):
            client.call("POST", path, {"text": "Is the build green again?"})
    wait_until_counted(on, PEOPLE - 1, WARM_UP)


def _line(measure: str, first: list[float], second: list[float], goal: bool = False) -> Line:
    """The ratio of the medians, with its 95 % interval over the rounds in which both were measured side by side."""
    ratio = statistics.median(first) / statistics.median(second)
    low, high = interval(_ratio, list(zip(first, second, strict=True)))
    return Line(
        "write",
        measure,
        Figure.of(first, "ms"),
        Figure.of(second, "ms"),
        f"{(ratio - 1) * 100:+.1f} % (95 %: {(low - 1) * 100:+.1f} to {(high - 1) * 100:+.1f})",
        f"<= +{(AT_MOST - 1) * 100:.0f} %" if goal else "",
        ratio <= AT_MOST if goal else None,
    )


def _ratio(pairs: Sequence[tuple[float, float]]) -> float:
    return statistics.median(first for first, _ in pairs) / statistics.median(second for _, second in pairs)
