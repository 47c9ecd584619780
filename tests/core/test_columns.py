"""The arena: blocks that grow and move, members' lists that follow, holes that are used again."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unread.core.budgets import Budgets
from unread.core.columns import NO_ROW, ROW_BYTES, block_size
from unread.core.eviction import compact
from unread.core.testing import CountingMetrics, ManualClock
from unread.core.totals import Totals
from unread.core.workspace import Workspace


def workspace() -> Workspace:
    return Workspace(1, 1, Budgets(), ManualClock(), CountingMetrics(), Totals())


@pytest.mark.slow
@settings(max_examples=50)
@given(st.integers(1, 100_000))
def test_a_block_is_at_most_an_eighth_too_large(rows: int) -> None:
    assert rows <= block_size(rows) <= rows + max(rows // 8, 1)


def test_an_entry_costs_eighty_bytes() -> None:
    assert ROW_BYTES == 80


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(1, 40)), min_size=1, max_size=40))
def test_whatever_grows_and_goes_everybody_is_found_where_he_is(steps: list[tuple[int, int]]) -> None:
    place = workspace()
    expected: dict[int, set[int]] = {}
    next_member = dict.fromkeys(range(6), 0)
    for scope_id, count in steps:
        scope = place.scope(scope_id + 10, 0)
        present = expected.setdefault(scope_id, set())
        if len(present) > 60:
            rows = np.arange(place.rows(scope).start, place.rows(scope).stop)
            place.columns.unlink(rows, place.members.heads)
            place.columns.release(place.scopes.start[scope], place.scopes.size[scope])
            place.scopes.length[scope] = place.scopes.size[scope] = 0
            present.clear()
        members = [place.members.number(1000 + next_member[scope_id] + n) for n in range(count)]
        next_member[scope_id] += count
        if count % 7 == 0:
            compact(place)
        rows = place.append(scope, members)
        place.columns.messages[rows] = np.array(members)
        present.update(members)
    by_member: dict[int, set[int]] = {}
    for scope_id, present in expected.items():
        scope = place.scope(scope_id + 10, 0)
        for member in present:
            row = place.find(scope, member)
            assert row != NO_ROW
            assert int(place.columns.messages[row]) == member
            by_member.setdefault(member, set()).add(row)
        assert place.find(scope, place.members.number(999_999)) == NO_ROW
    for member, rows_of_member in by_member.items():
        assert set(place.columns.rows_of(int(place.members.heads[member]))) == rows_of_member


def test_the_block_of_an_evicted_scope_is_used_again() -> None:
    place = workspace()
    first, second = place.scope(1, 0), place.scope(2, 0)
    members = [place.members.number(n) for n in range(1, 21)]
    place.append(first, members)
    place.append(second, members)
    used = place.columns.used
    rows = np.arange(place.rows(first).start, place.rows(first).stop)
    place.columns.unlink(rows, place.members.heads)
    place.columns.release(place.scopes.start[first], place.scopes.size[first])
    third = place.scope(3, 0)
    place.append(third, members)
    assert place.columns.used == used
    assert place.columns.holes == 0


def test_members_of_a_large_scope_are_found_by_an_index_that_follows_its_growth() -> None:
    place = workspace()
    scope = place.scope(1, 0)
    numbers = [place.members.number(n * 7919 % 100_003 + 1) for n in range(20_000)]
    for first in range(0, 20_000, 2_500):
        rows = place.append(scope, numbers[first : first + 2_500])
        for at in (0, 1_234, 2_499):
            assert place.find(scope, numbers[first + at]) == int(rows[at])
        assert place.find(scope, place.members.number(999_999_999)) == NO_ROW
    for at in range(0, 20_000, 997):
        assert place.find(scope, numbers[at]) == place.scopes.start[scope] + at


def test_compacting_leaves_no_hole() -> None:
    place = workspace()
    scopes = [place.scope(n, 0) for n in range(1, 11)]
    members = [place.members.number(n) for n in range(1, 31)]
    for scope in scopes:
        place.append(scope, members)
    for scope in scopes[::2]:
        rows = np.arange(place.rows(scope).start, place.rows(scope).stop)
        place.columns.unlink(rows, place.members.heads)
        place.columns.release(place.scopes.start[scope], place.scopes.size[scope])
        place.scopes.length[scope] = place.scopes.size[scope] = 0
    compact(place)
    assert place.columns.holes == 0
    assert place.columns.used == 5 * block_size(30)
    for scope in scopes[1::2]:
        assert [place.find(scope, member) - place.scopes.start[scope] for member in members] == list(range(30))
    assert len(place.columns.rows_of(int(place.members.heads[members[0]]))) == 5
