"""Text without its Markdown code: fenced blocks and spans between backticks. Linear in the length of the text."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
_TICKS = re.compile(r"`+")


def without_code(text: str) -> str:
    """`text` with a space for every piece of code, so that what stood around it does not grow together."""
    if "`" not in text and "~~~" not in text:
        return text
    return _without_spans("\n".join(_outside_fences(text)))


def _outside_fences(text: str) -> list[str]:
    """A fence ends with a line of at least as many of its characters, else with the text."""
    kept: list[str] = []
    fence = ""
    for line in text.split("\n"):
        match = _FENCE.fullmatch(line.rstrip("\r"))
        if fence:
            if match and match[1].startswith(fence) and not match[2].strip():
                fence = ""
        elif match and not (match[1][0] == "`" and "`" in match[2]):
            fence = match[1]
            kept.append(" ")
        else:
            kept.append(line)
    return kept


def _without_spans(text: str) -> str:
    """A run of backticks opens a span that the next run of the same length closes; without one it is plain text."""
    runs = [(match.start(), match.end()) for match in _TICKS.finditer(text)]
    starts: dict[int, list[int]] = defaultdict(list)
    for start, end in runs:
        starts[end - start].append(start)
    kept: list[str] = []
    at = 0
    for start, end in runs:
        if start < at:
            continue
        same = starts[end - start]
        following = bisect_right(same, start)
        if following == len(same):
            continue
        kept += (text[at:start], " ")
        at = same[following] + (end - start)
    kept.append(text[at:])
    return "".join(kept)
