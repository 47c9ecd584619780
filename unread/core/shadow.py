"""The task shadow: what a delivered task event left in a member's row, which no later writer may take back.

A shadow is a complete row as it was when the barrier of one event was written. Periodic flushes write the other
columns and never this one, so a writer that knows nothing of shadows, or a former owner that comes late, cannot undo
it. A reader prefers it: counts, frontiers and their generations are the shadow's; of the regular columns it takes only
controls that are provably newer, each by the generation of its own row, and a cursor or beginning of membership only
where it covers everything protected. What covers a part of it leaves a number that nobody knows: it is suppressed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any, Final

from .events import Level
from .ports import SnapshotRow
from .states import CountState

SHADOW_VERSION: Final = 1
_NOT_IN_IT: Final = frozenset(("member", "scope", "row_version"))
_NAMES: Final = tuple(field.name for field in fields(SnapshotRow) if field.name not in _NOT_IN_IT)
_RISING: Final = ("membership_generation", "read_generation", "policy_generation", "marker_generation")


class ShadowError(Exception):
    """The shadow of a row cannot be used, or would be undone."""


class UnsupportedShadow(ShadowError):
    """Written by a version that this one does not know."""


class DamagedShadow(ShadowError):
    """Not what any version writes."""


class ShadowRefused(ShadowError):
    """What is to be written would take back what is protected."""


def shadow_of(row: SnapshotRow) -> dict[str, int]:
    return {name: int(getattr(row, name)) for name in _NAMES}


def read_shadow(regular: SnapshotRow, version: int | None, value: Any) -> SnapshotRow | None:
    """The shadow beside a row, None without one. Raises `UnsupportedShadow` or `DamagedShadow`."""
    if not version:
        if value is not None:
            raise DamagedShadow("a shadow without a version")
        return None
    if version != SHADOW_VERSION:
        raise UnsupportedShadow(f"a shadow of version {version}")
    if not isinstance(value, Mapping) or value.keys() != set(_NAMES):
        raise DamagedShadow("not the fields of a shadow")
    if any(type(each) is not int or not 0 <= each < 2**31 for each in value.values()):
        raise DamagedShadow("a number out of bounds")
    try:
        return replace(
            regular,
            **{
                **value,
                "level": Level(value["level"]),
                "count_state": CountState(value["count_state"]),
                "active": bool(value["active"]),
                "visible": bool(value["visible"]),
            },
        )
    except ValueError as error:
        raise DamagedShadow(str(error)) from None


def served(regular: SnapshotRow, version: int | None, value: Any) -> SnapshotRow:
    """What a reader takes of a task's row. Never raises: what cannot be used is suppressed."""
    try:
        shadow = read_shadow(regular, version, value)
    except ShadowError:
        return replace(regular, count_state=CountState.STALE)
    return control_hint(regular) if shadow is None else overlaid(shadow, regular)


def control_hint(regular: SnapshotRow) -> SnapshotRow:
    """A task's row without a shadow (format 0): its controls. Nobody vouches for its counts and frontiers."""
    return replace(
        regular,
        message_unread=0,
        mention_unread=0,
        activity_unread=0,
        message_frontier=0,
        activity_frontier=0,
        rewind_generation=0,
        count_state=CountState.HYDRATING,
    )


def overlaid(shadow: SnapshotRow, regular: SnapshotRow) -> SnapshotRow:
    """The shadow under the provably newer controls of the regular columns."""
    row = replace(shadow, **_newer_controls(shadow, regular))
    if row.last_read_seq < shadow.last_read_seq or row.last_activity_read_seq < shadow.last_activity_read_seq:
        return replace(row, count_state=CountState.STALE)
    if cleared := messages_cleared(row, shadow):
        row = replace(row, message_unread=0, mention_unread=0)
    elif _reach(row) > _reach(shadow) and shadow.message_unread:
        row = replace(row, count_state=CountState.STALE)
    if activities_cleared(row, shadow):
        row = replace(row, activity_unread=0)
        if cleared and row.count_state is CountState.STALE:
            row = replace(row, count_state=CountState.SNAPSHOT_SERVING)
    elif row.last_activity_read_seq > shadow.last_activity_read_seq and shadow.activity_unread:
        row = replace(row, count_state=CountState.STALE)
    return row


def messages_cleared(row: SnapshotRow, shadow: SnapshotRow) -> bool:
    """The row's member has read, or was not there for, every message that the shadow protects."""
    return _reach(row) >= shadow.message_frontier


def activities_cleared(row: SnapshotRow, shadow: SnapshotRow) -> bool:
    return row.last_activity_read_seq >= shadow.activity_frontier


def guarded(candidate: SnapshotRow, shadow: SnapshotRow | None) -> SnapshotRow:
    """The candidate as it may replace a shadow. Raises `ShadowRefused` where it would take something back.

    Protected are frontiers, generations, cursors and counts. A count falls only where everything protected is cleared,
    or by removals, with a greater rewind generation. Where controls cleared a part, the protected count stays, as a
    hint, and goes on staying until everything is cleared; that an exact one would fall for no reason is refused.
    """
    if shadow is None:
        return candidate
    for name in (*_RISING, "last_read_seq", "last_activity_read_seq"):
        if getattr(candidate, name) < getattr(shadow, name):
            raise ShadowRefused(f"{name} would fall from {getattr(shadow, name)} to {getattr(candidate, name)}")
    moved = candidate.read_generation > shadow.read_generation
    moved |= candidate.membership_generation > shadow.membership_generation
    moved |= shadow.count_state is not CountState.READY
    row = _guard_messages(candidate, shadow, moved)
    return _guard_activities(row, shadow, moved)


def _guard_messages(row: SnapshotRow, shadow: SnapshotRow, moved: bool) -> SnapshotRow:
    cleared = messages_cleared(row, shadow)
    for name in ("message_frontier", "rewind_generation"):
        row = _not_back(row, shadow, name, lift=cleared)
    if cleared or row.rewind_generation > shadow.rewind_generation:
        return row
    for name in ("message_unread", "mention_unread"):
        row = _not_less(row, shadow, name, moved)
    return row


def _guard_activities(row: SnapshotRow, shadow: SnapshotRow, moved: bool) -> SnapshotRow:
    cleared = activities_cleared(row, shadow)
    row = _not_back(row, shadow, "activity_frontier", lift=cleared)
    return row if cleared else _not_less(row, shadow, "activity_unread", moved)


def _not_back(row: SnapshotRow, shadow: SnapshotRow, name: str, *, lift: bool) -> SnapshotRow:
    protected, now = getattr(shadow, name), getattr(row, name)
    if now >= protected:
        return row
    if not lift:
        raise ShadowRefused(f"{name} would fall from {protected} to {now}")
    return replace(row, **{name: protected})  # nothing at or below it counts any more, so it stands for more as well


def _not_less(row: SnapshotRow, shadow: SnapshotRow, name: str, moved: bool) -> SnapshotRow:
    protected, now = getattr(shadow, name), getattr(row, name)
    if now >= protected:
        return row
    if not moved:
        raise ShadowRefused(f"{name} would fall from {protected} to {now}")
    return replace(row, **{name: protected}, count_state=CountState(max(row.count_state, CountState.SNAPSHOT_SERVING)))


def _newer_controls(shadow: SnapshotRow, regular: SnapshotRow) -> dict[str, Any]:
    taken: dict[str, Any] = {}
    for generation, names in _CONTROLS.items():
        if getattr(regular, generation) > getattr(shadow, generation):
            taken |= {name: getattr(regular, name) for name in (generation, *names)}
    return taken


_CONTROLS: Final = {
    "membership_generation": ("active", "visible", "effective_from_seq"),
    "read_generation": ("last_read_seq", "last_activity_read_seq"),
    "policy_generation": ("level",),
    "marker_generation": ("marker_seq",),
}


def _reach(row: SnapshotRow) -> int:
    """No message at or below it counts."""
    return max(row.last_read_seq, row.effective_from_seq - 1)
