"""Row 9: an event into a message of 5 MB over HTTP, against the same event into a small one.

Both end in a part that is as full, so that only the size of the rest differs. A third message has no parts at all: what
it costs that blocks lie in parts.
"""

from __future__ import annotations

import random
import statistics
from collections.abc import Sequence
from typing import Any

from ..client import Client
from ..databases import DATABASES, NoDatabase
from ..figures import Figure, Line, interval
from ..scale import Scale
from ..servers import PRODUCT, places

BLOCK_BYTES, AT_MOST = 50_000, 1.1
SMALL, LARGE = 6, 106
"""Blocks: one stays in the message's row and five fill a part."""
WARM_UP = 20


class Answer:
    """An open message of so many blocks and a short last one, which grows."""

    def __init__(self, client: Client, channel: str, blocks: int) -> None:
        texts = ["x" * BLOCK_BYTES] * blocks + ["begins"]
        content = {
            "version": "1.1",
            "biz": "chat",
            "meta": {},
            "blocks": [{"id": f"b{at}", "type": "text", "content": text} for at, text in enumerate(texts)],
        }
        body = {"content": content, "stream": True}
        self._path = f"/messages/{client.call('POST', f'/conversations/{channel}/messages', body)['id']}/events"
        self._client, self._last, self._seq = client, f"b{blocks}", 0

    def emit(self) -> float:
        """Milliseconds of one event."""
        self._seq += 1
        word: dict[str, Any] = {"id": self._last, "content": " word"}
        event = {"op": "append", "seq": self._seq, "mask": "block.content", "block": word}
        return self._client.timed("POST", self._path, {"event": event})


def run(scale: Scale) -> list[Line]:
    return [line for name in DATABASES for line in _lines(name, scale)]


def _lines(database: str, scale: Scale) -> list[Line]:
    try:
        with DATABASES[database]() as environment, places(environment, 2, PRODUCT) as [place]:
            client = place.client()
            answers = [Answer(client, place.channel, blocks) for blocks in (LARGE, SMALL, 0)]
            for _ in range(WARM_UP):
                for answer in answers:
                    answer.emit()
            took: list[list[float]] = [[], [], []]
            rng = random.Random(1)
            for _ in range(scale.of(1000, 50)):
                for which in rng.sample(range(3), 3):
                    took[which].append(answers[which].emit())
            client.close()
    except NoDatabase as why:
        return [Line("emit", f"event into 5 MB, {database}", None, None, f"left out: {why}", "", None)]
    return [
        _line(f"event into 5 MB, {database}, beside 0.3 MB", took[0], took[1], goal=True),
        _line(f"event into 0.3 MB with parts, {database}, beside one without", took[1], took[2], goal=False),
    ]


def _line(measure: str, large: Sequence[float], small: Sequence[float], *, goal: bool) -> Line:
    ratio = _ratio(list(zip(large, small, strict=True)))
    low, high = interval(_ratio, list(zip(large, small, strict=True)))
    return Line(
        "emit",
        measure,
        Figure.of(large, "ms"),
        Figure.of(small, "ms"),
        f"{ratio:.2f} times (95 %: {low:.2f} to {high:.2f})",
        f"<= {AT_MOST} times" if goal else "",
        ratio <= AT_MOST if goal else None,
    )


def _ratio(pairs: Sequence[tuple[float, float]]) -> float:
    return statistics.median(large for large, _ in pairs) / statistics.median(small for _, small in pairs)
