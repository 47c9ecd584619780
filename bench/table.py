"""The table that `bin/bench` prints, in Markdown, so that it can be put into a document as it is."""

from __future__ import annotations

from collections.abc import Sequence

from .figures import Figure, Line

_HEADS = ("row", "measure", "loopd", "baseline", "result", "goal", "")


def render(lines: Sequence[Line]) -> str:
    cells = [_HEADS, *(_cells(line) for line in lines)]
    widths = [max(len(row[place]) for row in cells) for place in range(len(_HEADS))]
    rows = [_row(row, widths) for row in cells]
    return "\n".join([rows[0], "|" + "|".join("-" * (width + 2) for width in widths) + "|", *rows[1:]])


def _cells(line: Line) -> tuple[str, ...]:
    verdict = {True: "met", False: "missed", None: ""}[line.met]
    return (line.row, line.measure, _figure(line.figure), _figure(line.baseline), line.result, line.goal, verdict)


def _figure(figure: Figure | None) -> str:
    return "" if figure is None else str(figure)


def _row(row: Sequence[str], widths: Sequence[int]) -> str:
    return "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |"
