"""Row 2: the red dot of a workspace, for somebody with few and with many scopes."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

from ..figures import Figure, Line, grouped
from ..scale import Scale
from ..workspace import WORKSPACE, Rosters, build_runtime, joined, member, posted

FEW = 10
FLAT, TIMES_A_LOOKUP = 1.5, 10
CALLS = 20_000


def run(scale: Scale) -> list[Line]:
    """The loop's own cost is taken off all three, so that a lookup is a lookup and not an iteration."""
    runtime = build_runtime(Rosters({1: 2}))
    few, many, scopes = member(1), member(2), scale.of(10_000, 1_000)
    for number in range(1, scopes + 1):
        for generation, who in enumerate((1, 2) if number <= FEW else (2,), start=1):
            runtime.apply([joined(who, number, generation)])
    for who in (few, many):
        runtime.hydrate_member(WORKSPACE, who)
    runtime.apply([posted(3, 1, 1, 2)])
    while runtime.run_one_job():
        pass
    plain = {member(number): True for number in range(1, 1001)}
    asked = {
        "few": lambda calls: _has_unread(runtime.has_unread, few, calls),
        "many": lambda calls: _has_unread(runtime.has_unread, many, calls),
        "lookup": lambda calls: _look_up(plain, few, calls),
        "nothing": _nothing,
    }
    taken = _in_turns(asked, rounds=scale.of(60, 5))
    few_dot, many_dot = (Figure.of(taken[name], "ns") for name in ("few", "many"))
    lookup = Figure.of(taken["lookup"], "ns")
    ratio = max(few_dot.median, many_dot.median) / min(few_dot.median, many_dot.median)
    return [
        Line("has_unread", f"red dot, {FEW} scopes", few_dot, lookup, *_against(few_dot, lookup)),
        Line("has_unread", f"red dot, {grouped(scopes)} scopes", many_dot, lookup, *_against(many_dot, lookup)),
        Line("has_unread", "between the two", None, None, f"{ratio:.2f}x", f"<= {FLAT}x", ratio <= FLAT),
    ]


def _against(figure: Figure, lookup: Figure) -> tuple[str, str, bool]:
    ratio = figure.median / lookup.median
    return f"{ratio:.1f} lookups", f"<= {TIMES_A_LOOKUP} lookups", ratio <= TIMES_A_LOOKUP


def _in_turns(asked: dict[str, Callable[[int], float]], rounds: int) -> dict[str, list[float]]:
    """Nanoseconds for each call, without the loop around it."""
    taken: dict[str, list[float]] = {name: [] for name in asked}
    gc.collect()
    gc.disable()
    try:
        for _ in range(rounds):
            for name, ask in asked.items():
                taken[name].append(ask(CALLS) * 1e9 / CALLS)
    finally:
        gc.enable()
    loop = Figure.of(taken.pop("nothing"), "ns").median
    return {name: [max(each - loop, 0.1) for each in samples] for name, samples in taken.items()}


def _has_unread(ask: Callable[[int, int], bool], who: int, calls: int) -> float:
    before = time.thread_time()
    for _ in range(calls):
        ask(WORKSPACE, who)
    taken = time.thread_time() - before
    if not ask(WORKSPACE, who):
        raise AssertionError("the red dot should be lit")
    return taken


def _look_up(plain: dict[int, bool], who: int, calls: int) -> float:
    before = time.thread_time()
    for _ in range(calls):
        plain[who]
    return time.thread_time() - before


def _nothing(calls: int) -> float:
    before = time.thread_time()
    for _ in range(calls):
        pass
    return time.thread_time() - before
