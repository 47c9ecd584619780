"""The rules of the task shadow, one by one: what a reader takes of a row, and what may replace a shadow."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from unread.core.events import Level
from unread.core.ports import SnapshotRow
from unread.core.shadow import (
    DamagedShadow,
    ShadowRefused,
    UnsupportedShadow,
    control_hint,
    guarded,
    read_shadow,
    served,
    shadow_of,
)
from unread.core.states import CountState

HINT, STALE, HYDRATING = CountState.SNAPSHOT_SERVING, CountState.STALE, CountState.HYDRATING

PROTECTED = SnapshotRow(
    member=1,
    scope=2,
    message_unread=3,
    mention_unread=1,
    activity_unread=2,
    marker_seq=0,
    effective_from_seq=2,
    last_read_seq=4,
    last_activity_read_seq=3,
    message_frontier=9,
    activity_frontier=6,
    level=Level.ALL,
    active=True,
    visible=True,
    count_state=HINT,
    roster_generation=0,
    rewind_generation=2,
    membership_generation=5,
    read_generation=5,
    policy_generation=5,
    marker_generation=5,
    row_version=7,
)


def reads(regular: SnapshotRow, shadow: SnapshotRow = PROTECTED) -> SnapshotRow:
    return served(regular, 1, shadow_of(shadow))


def row(**changed: Any) -> SnapshotRow:
    return replace(PROTECTED, **{"row_version": 8, **changed})


# What a reader takes


def test_a_reader_prefers_the_shadow() -> None:
    late = row(message_unread=0, mention_unread=0, activity_unread=9, message_frontier=50, activity_frontier=0)
    assert reads(replace(late, rewind_generation=40)) == row()


def test_a_larger_frontier_of_the_regular_columns_is_no_proof_of_anything() -> None:
    taken = reads(row(message_frontier=100, message_unread=0))
    assert (taken.message_frontier, taken.message_unread) == (9, 3)


@pytest.mark.parametrize(
    ("generation", "control"),
    [
        ("policy_generation", {"level": Level.NONE}),
        ("marker_generation", {"marker_seq": 9}),
        ("membership_generation", {"active": False, "visible": False}),
    ],
)
def test_newer_controls_are_overlaid_and_older_ones_are_not(generation: str, control: dict[str, Any]) -> None:
    newer = row(**control, **{generation: 6})
    assert reads(newer) == newer
    for same_or_older in (5, 4):
        assert reads(row(**control, **{generation: same_or_older})) == row()


def test_a_cursor_that_covers_everything_protected_clears_it() -> None:
    taken = reads(row(read_generation=6, last_read_seq=9, last_activity_read_seq=6, message_unread=0))
    assert (taken.message_unread, taken.mention_unread, taken.activity_unread) == (0, 0, 0)
    assert (taken.last_read_seq, taken.last_activity_read_seq, taken.read_generation) == (9, 6, 6)
    assert taken.count_state is HINT


def test_a_beginning_past_everything_protected_clears_the_messages() -> None:
    taken = reads(row(membership_generation=6, effective_from_seq=10, last_activity_read_seq=6, read_generation=6))
    assert (taken.message_unread, taken.activity_unread, taken.count_state) == (0, 0, HINT)


@pytest.mark.parametrize(
    "partly",
    [
        {"read_generation": 6, "last_read_seq": 8, "last_activity_read_seq": 6},
        {"read_generation": 6, "last_read_seq": 9, "last_activity_read_seq": 5},
        {"membership_generation": 6, "effective_from_seq": 9},
    ],
    ids=["messages", "activities", "beginning"],
)
def test_what_covers_a_part_suppresses(partly: dict[str, Any]) -> None:
    taken = reads(row(**partly))
    assert taken.count_state is STALE
    assert taken.message_frontier == 9


def test_a_part_of_nothing_suppresses_nothing() -> None:
    empty = replace(PROTECTED, message_unread=0, mention_unread=0, activity_unread=0)
    moved = row(read_generation=6, last_read_seq=6, last_activity_read_seq=4)
    taken = reads(moved, empty)
    assert (taken.count_state, taken.last_read_seq, taken.message_unread) == (HINT, 6, 0)


def test_a_cursor_that_went_back_suppresses() -> None:
    assert reads(row(read_generation=6, last_read_seq=3)).count_state is STALE


def test_an_older_cursor_covers_nothing() -> None:
    taken = reads(row(read_generation=5, last_read_seq=9, last_activity_read_seq=6))
    assert (taken.last_read_seq, taken.message_unread) == (4, 3)


@pytest.mark.parametrize("version", [None, 0])
def test_a_row_of_format_0_is_a_hint_of_controls(version: int | None) -> None:
    taken = served(row(marker_seq=3, level=Level.MENTIONS), version, None)
    assert (taken.message_unread, taken.mention_unread, taken.activity_unread) == (0, 0, 0)
    assert (taken.message_frontier, taken.activity_frontier, taken.rewind_generation) == (0, 0, 0)
    assert taken.count_state is HYDRATING
    assert (taken.marker_seq, taken.level, taken.last_read_seq, taken.read_generation) == (3, Level.MENTIONS, 4, 5)


def test_a_shadow_of_an_unknown_version_is_suppressed_and_refused() -> None:
    assert served(row(), 2, shadow_of(PROTECTED)).count_state is STALE
    with pytest.raises(UnsupportedShadow):
        read_shadow(row(), 2, shadow_of(PROTECTED))


WHOLE = shadow_of(PROTECTED)


@pytest.mark.parametrize(
    "damaged",
    [
        None,
        "text",
        [],
        {},
        {name: value for name, value in WHOLE.items() if name != "level"},
        {**WHOLE, "more": 1},
        {**WHOLE, "message_unread": -1},
        {**WHOLE, "message_unread": True},
        {**WHOLE, "message_unread": "3"},
        {**WHOLE, "message_unread": 2**31},
        {**WHOLE, "level": 9},
        {**WHOLE, "count_state": 9},
    ],
)
def test_a_damaged_shadow_is_suppressed_and_refused(damaged: Any) -> None:
    assert served(row(), 1, damaged).count_state is STALE
    with pytest.raises(DamagedShadow):
        read_shadow(row(), 1, damaged)


def test_a_shadow_without_its_version_is_damaged() -> None:
    assert served(row(), None, WHOLE).count_state is STALE


def test_a_shadow_comes_back_as_it_was_written() -> None:
    assert read_shadow(row(), 1, WHOLE) == row()


# What may replace a shadow


def test_the_first_shadow_is_not_held_up_by_a_row_of_format_0() -> None:
    early = row(message_frontier=1, rewind_generation=0, message_unread=1)
    assert guarded(early, None) == early


def test_more_may_replace_less() -> None:
    more = row(message_frontier=10, message_unread=4, activity_frontier=7, activity_unread=3, read_generation=6)
    assert guarded(more, PROTECTED) == more


@pytest.mark.parametrize(
    "back",
    [
        {"message_frontier": 8},
        {"activity_frontier": 5},
        {"rewind_generation": 1},
        {"membership_generation": 4},
        {"read_generation": 4},
        {"policy_generation": 4},
        {"marker_generation": 4},
        {"last_read_seq": 3},
        {"last_activity_read_seq": 2},
    ],
    ids=lambda back: "+".join(back),
)
def test_nothing_protected_moves_back(back: dict[str, int]) -> None:
    with pytest.raises(ShadowRefused):
        guarded(row(**back), PROTECTED)


@pytest.mark.parametrize(
    "less",
    [
        {"message_unread": 2},
        {"mention_unread": 0},
        {"activity_unread": 1},
        {"activity_unread": 1, "rewind_generation": 3},
    ],
    ids=lambda less: "+".join(less),
)
def test_an_exact_count_never_falls_for_no_reason(less: dict[str, int]) -> None:
    exact = replace(PROTECTED, count_state=CountState.READY)
    with pytest.raises(ShadowRefused):
        guarded(row(**less), exact)
    kept = guarded(row(**less), PROTECTED)  # a hint: a part of it may have been cleared before
    assert (kept.message_unread, kept.mention_unread, kept.activity_unread) == (3, 1, 2)


def test_a_removal_with_a_greater_rewind_generation_may_lower_the_count() -> None:
    removed = row(message_unread=2, mention_unread=0, rewind_generation=3)
    assert guarded(removed, PROTECTED) == removed


def test_a_count_that_was_cleared_whole_may_fall() -> None:
    read = row(read_generation=6, last_read_seq=9, last_activity_read_seq=6, message_unread=0, mention_unread=0)
    read = replace(read, activity_unread=0)
    assert guarded(read, PROTECTED) == read


def test_a_count_that_was_cleared_in_part_stays_as_protected() -> None:
    partly = row(read_generation=6, last_read_seq=6, message_unread=1, mention_unread=0, count_state=CountState.READY)
    kept = guarded(partly, PROTECTED)
    assert (kept.message_unread, kept.mention_unread, kept.count_state, kept.last_read_seq) == (3, 1, HINT, 6)


def test_frontiers_of_what_is_cleared_are_lifted() -> None:
    rejoined = row(
        membership_generation=7,
        effective_from_seq=12,
        read_generation=6,
        last_activity_read_seq=6,
        message_frontier=0,
        activity_frontier=0,
        rewind_generation=0,
        message_unread=0,
        mention_unread=0,
        activity_unread=0,
    )
    kept = guarded(rejoined, PROTECTED)
    assert (kept.message_frontier, kept.activity_frontier, kept.rewind_generation) == (9, 6, 2)
    assert (kept.message_unread, kept.activity_unread) == (0, 0)


def test_controls_hints_are_not_shadows() -> None:
    assert control_hint(row()).count_state is HYDRATING
