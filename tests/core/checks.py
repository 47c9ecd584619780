"""What must hold of a stage: always, at rest, and of every row that a flush hands to the store."""

from __future__ import annotations

from unread.core.ports import SnapshotRow
from unread.core.states import CountState, Shown

from . import oracle
from .facts import WORKSPACE
from .oracle import NOTHING, Truth
from .stage import Stage

COUNTED = (CountState.READY, CountState.SNAPSHOT_SERVING)


class Wrong(AssertionError):
    """The runtime broke a promise."""


def check_always(stage: Stage) -> None:
    """The red dot agrees with the list, only what can be believed shows a number, and nothing blew up inside."""
    if stage.metrics.counts["apply_errors"] or stage.metrics.counts["sink_errors"]:
        raise Wrong("an event could not be applied")
    for member in stage.facts.members:
        unread = stage.runtime.member_unread(WORKSPACE, member)
        lit = any(shown.lit for shown in unread.counts.values())
        if not stage.in_batches and stage.runtime.has_unread(WORKSPACE, member) != unread.has_unread:
            raise Wrong(f"{name(member)}: two answers to has_unread")
        if unread.has_unread != lit:
            raise Wrong(f"{name(member)}: has_unread is {unread.has_unread}, but the counts say {lit}")
        for scope, shown in unread.counts.items():
            if not shown.lit:
                raise Wrong(f"{where(member, scope)}: a count that shows nothing: {shown}")
            if shown.state not in COUNTED and (shown.messages or shown.mentions or shown.activities):
                raise Wrong(f"{where(member, scope)}: {shown.state.label} shows a number: {shown}")
        for scope in stage.facts.tables.scopes if unread.state != "hydrating" else ():
            _check_ready(stage, member, scope, unread.counts.get(scope))
    check_rows(stage)


def check_at_rest(stage: Stage) -> None:
    """Everything is delivered and every job has run: each entry is exact, or excused by its history."""
    if not stage.rested and not stage.missing:
        raise Wrong("jobs remain after everything has run")
    for member in stage.facts.members:
        unread = stage.runtime.member_unread(WORKSPACE, member)
        if unread.state == "hydrating" and stage.config.tight:
            continue  # evicted or refused again as soon as it was in
        if unread.state not in ("ready", "snapshot_serving"):
            raise Wrong(f"{name(member)}: still {unread.state} at rest")
        for scope in stage.facts.tables.scopes:
            shown = unread.counts.get(scope)
            try:
                _check_entry(stage, member, scope, shown)
            except Wrong as wrong:
                raise Wrong(f"{where(member, scope)}: {wrong}") from None
        wanted = "snapshot_serving" if CountState.SNAPSHOT_SERVING in _states(unread.counts) else "ready"
        if unread.state != wanted:
            raise Wrong(f"{name(member)}: called {unread.state}, but the entries shown make it {wanted}")
    check_always(stage)


def _check_ready(stage: Stage, member: int, scope: int, shown: Shown | None) -> None:
    """Also in the middle of a history, numbers are exact where nothing is on its way, unless excused."""
    trust = stage.trust
    if not stage.quiet(scope) or trust.may_err_ready(member, scope):
        return
    state = state_of(stage, member, scope)
    exact = trust.messages_exact(member, scope) and trust.activities_exact(member, scope)
    hint = state is CountState.SNAPSHOT_SERVING and exact and not trust.loose(member, scope)
    if state is CountState.READY or hint:
        truth = oracle.truth(stage.facts.tables, member, scope)
        if _seen(shown) != truth:
            raise Wrong(f"{where(member, scope)}: {state.label} {_seen(shown)} in between, but the facts say {truth}")


def _check_entry(stage: Stage, member: int, scope: int, shown: Shown | None) -> None:
    truth = oracle.truth(stage.facts.tables, member, scope)
    trust = stage.trust
    seen = _seen(shown)
    state = state_of(stage, member, scope) if shown is None else shown.state
    may_err = trust.may_err_ready(member, scope)
    if state is CountState.READY and not may_err:
        if seen != truth:
            raise Wrong(f"ready {seen}, but the facts say {truth}")
        if oracle.has_access(stage.facts.tables, member, stage.facts.tables.scopes[scope]):
            trust.ready_and_right(member, scope)
        return
    if trust.loose(member, scope) or may_err:
        return
    access = oracle.has_access(stage.facts.tables, member, stage.facts.tables.scopes[scope])
    if access and state is not CountState.READY and trust.must_be_ready(member, scope):
        raise Wrong(f"must be ready, is {state and state.label}; shown {seen}, the facts say {truth}")
    if seen.manual != truth.manual:
        raise Wrong(f"marker shown {seen.manual}, the facts say {truth.manual}")
    messages, activities = trust.messages_exact(member, scope), trust.activities_exact(member, scope)
    if state not in COUNTED and not (messages and activities):
        return
    _check_component(truth.messages, seen.messages, messages, state, "messages")
    _check_component(truth.mentions, seen.mentions, messages, state, "mentions")
    _check_component(truth.activities, seen.activities, activities, state, "activities")


def _seen(shown: Shown | None) -> Truth:
    return NOTHING if shown is None else Truth(shown.messages, shown.mentions, shown.activities, shown.manual)


def _check_component(truth: int, seen: int, exact: bool, state: CountState | None, what: str) -> None:
    if exact and seen != truth:
        raise Wrong(f"{seen} {what} shown ({state and state.label}), the facts say {truth}")
    if not exact and seen < truth:
        raise Wrong(f"{seen} {what} shown ({state and state.label}), fewer than the {truth} of the facts")


def check_rows(stage: Stage) -> None:
    """A flushed row counts what lies between its cursors and frontiers: exactly if it calls itself ready, else as far
    as the history of its entry lets anybody know."""
    for row in stage.snapshots.written:
        member, scope, trust = row.member, row.scope, stage.trust
        if row.count_state not in COUNTED or not row.active:
            continue
        if trust.loose(member, scope) or trust.may_err_ready(member, scope):
            continue
        ready = row.count_state is CountState.READY
        if not ready and scope in stage.unsettled:
            continue
        counts = _between_cursors_and_frontiers(stage, row)
        written = (row.message_unread, row.mention_unread, row.activity_unread)
        if trust.scope(scope).frontier is None:  # the warm job that would recount is still to come
            messages, activities = (not bounded for bounded in trust.bounded(member, scope))
        else:
            messages, activities = trust.messages_exact(member, scope), trust.activities_exact(member, scope)
        for count, wrote, exact in zip(counts, written, (messages, messages, activities), strict=True):
            if count != wrote if ready or exact else wrote < count:
                raise Wrong(f"{where(member, scope)}: row {describe(row)} should count {counts}")
    stage.snapshots.written.clear()


def _between_cursors_and_frontiers(stage: Stage, row: SnapshotRow) -> tuple[int, int, int]:
    scope = stage.facts.tables.scopes[row.scope]
    return oracle.count(
        row.member,
        [m for m in scope.messages_at(row.rewind_generation) if m.seq <= row.message_frontier],
        [a for a in scope.activities if a.seq <= row.activity_frontier],
        row.effective_from_seq,
        row.last_read_seq,
        row.last_activity_read_seq,
    )


def state_of(stage: Stage, member: int, scope: int) -> CountState | None:
    shown = stage.runtime.shown(WORKSPACE, member, scope)
    return None if shown is None else shown.state


def _states(counts: dict[int, Shown]) -> set[CountState]:
    return {shown.state for shown in counts.values()}


def describe(row: SnapshotRow) -> str:
    return (
        f"{row.message_unread}/{row.mention_unread}/{row.activity_unread} from {row.effective_from_seq}, "
        f"read {row.last_read_seq}/{row.last_activity_read_seq}, "
        f"frontier {row.message_frontier}/{row.activity_frontier}, rewind {row.rewind_generation}"
    )


def name(member: int) -> str:
    return f"member {(member & 0xFFFF) - 1}"


def where(member: int, scope: int) -> str:
    return f"{name(member)} in scope {(scope & 0xFFFF) - 1}"
