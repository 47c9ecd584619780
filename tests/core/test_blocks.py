"""Free blocks: none overlaps another, neighbours are one, and scopes that grow side by side leave little behind."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unread.core.blocks import FreeBlocks
from unread.core.budgets import Budgets
from unread.core.testing import CountingMetrics, ManualClock
from unread.core.totals import Totals
from unread.core.workspace import Workspace

ROWS = 200


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["add", "take", "take_at"]), st.integers(0, ROWS - 1), st.integers(1, 40))))
def test_what_is_free_is_what_was_given_and_not_taken(steps: list[tuple[str, int, int]]) -> None:
    blocks, free = FreeBlocks(), set[int]()
    for step, start, size in steps:
        wanted = set(range(start, start + size))
        if step == "add" and not wanted & free:
            first, length = blocks.add(start, size)
            free |= wanted
            assert first - 1 not in free
            assert first + length not in free
            assert set(range(first, first + length)) <= free
        elif step == "take":
            found = blocks.take(size)
            longest = max(map(len, "".join(".x"[n in free] for n in range(ROWS + 41)).split(".")))
            assert found is not None or longest < size * 2
            if found is not None:
                assert set(range(found, found + size)) <= free
                free -= set(range(found, found + size))
        elif step == "take_at":
            begins = start in free and start - 1 not in free
            taken = blocks.take_at(start, size)
            assert taken == (begins and wanted <= free)
            if taken:
                free -= wanted
        assert blocks.rows == len(free)


@pytest.mark.slow
@pytest.mark.parametrize(("scopes", "members"), [(40, 60), (200, 10), (8, 300)])
@pytest.mark.parametrize("in_turns", [True, False])
def test_scopes_that_grow_side_by_side_leave_little_behind(scopes: int, members: int, in_turns: bool) -> None:
    workspace = Workspace(1, 1, Budgets(), ManualClock(), CountingMetrics(), Totals())
    numbers = [workspace.scope(n, 0) for n in range(1, scopes + 1)]
    order = [scope for _ in range(members) for scope in numbers]
    if not in_turns:
        random.Random(1).shuffle(order)
    grown = dict.fromkeys(numbers, 0)
    for scope in order:
        grown[scope] += 1
        workspace.append(scope, [workspace.members.number(grown[scope])])
    assert workspace.entries == scopes * members
    assert workspace.columns.used < 1.6 * workspace.entries
