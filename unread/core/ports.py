"""What the runtime needs from outside (stores, sink, metrics, clock), as protocols; fakes are in `testing`.

Stores may block on a database and may raise anything: the runtime calls them from its workers only, never under a
workspace lock, and treats an exception as a failed load or flush to be retried.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from .events import Level
from .states import CountState


@dataclass(frozen=True, slots=True)
class SnapshotRow:
    """One row of the snapshot table: a complete entry, of exactly the seqs up to its frontiers."""

    member: int
    scope: int
    message_unread: int
    mention_unread: int
    activity_unread: int
    marker_seq: int
    """0 when no marker is set."""
    effective_from_seq: int
    last_read_seq: int
    last_activity_read_seq: int
    message_frontier: int
    activity_frontier: int
    level: Level
    active: bool
    visible: bool
    count_state: CountState
    roster_generation: int
    rewind_generation: int
    membership_generation: int
    read_generation: int
    policy_generation: int
    marker_generation: int
    row_version: int
    """From one counter per workspace and epoch; a row replaces another only if (epoch, row_version) is greater."""


@dataclass(frozen=True, slots=True)
class ScopeHeader:
    """A scope's numbers, read before its first roster page."""

    scope: int
    parent: int
    active: bool
    """Not archived."""
    parent_active: bool
    parent_roster_generation: int
    roster_generation: int
    rewind_generation: int
    latest_seq: int
    latest_activity_seq: int
    task: bool = False


@dataclass(frozen=True, slots=True)
class RosterRow:
    """One member of a scope, active or not: membership, setting and marker rows, and the snapshot row if any."""

    member: int
    active: bool
    visible: bool
    effective_from_seq: int
    last_read_seq: int
    last_activity_read_seq: int
    membership_generation: int
    read_generation: int
    level: Level
    policy_generation: int
    marker_seq: int
    marker_generation: int
    snapshot: SnapshotRow | None


@dataclass(frozen=True, slots=True)
class HydrateRow:
    """A member's snapshot row with the status of its scope and parent."""

    snapshot: SnapshotRow
    parent: int
    active: bool
    roster_generation: int
    parent_active: bool
    parent_roster_generation: int
    task: bool = False


@dataclass(frozen=True, slots=True)
class ScopeEvidence:
    """What a page read for its own purpose says of one scope that a member has an active membership in.

    All of it as one query saw it, after the member's runtime version was noted.
    """

    scope: int
    last_read_seq: int
    last_activity_read_seq: int
    latest_seq: int
    latest_activity_seq: int
    membership_generation: int
    read_generation: int


class SnapshotStore(Protocol):
    def load_member_page(self, workspace: int, member: int, after_scope: int, limit: int) -> Sequence[HydrateRow]:
        """At most `limit` rows in scope order with scope > `after_scope`; fewer than `limit` means the end.

        The order is the store's own; pass the last row's scope to go on, 0 to begin.
        """
        ...

    def load_member_scopes(self, workspace: int, member: int, scopes: Sequence[int]) -> Sequence[HydrateRow]:
        """The rows of these scopes that exist (a page hydrate); at most one batch of scopes."""
        ...

    def upsert(self, workspace: int, epoch: int, rows: Sequence[SnapshotRow]) -> None:
        """Write all rows in one guarded statement: a row never replaces one of a greater (epoch, row_version)."""
        ...

    def protect(self, workspace: int, epoch: int, rows: Sequence[SnapshotRow]) -> None:
        """Write all rows with their task shadows, or none. Raises `ShadowError` where one would undo what stands."""
        ...


class RosterStore(Protocol):
    def load_header(self, workspace: int, scope: int) -> ScopeHeader | None:
        """The scope's header; None where there is no such scope (any more)."""
        ...

    def load_page(self, workspace: int, scope: int, after_member: int, limit: int) -> Sequence[RosterRow]:
        """At most `limit` members after `after_member` in the store's order; fewer than `limit` means the end."""
        ...

    def load_members(self, workspace: int, scope: int, members: Sequence[int]) -> Sequence[RosterRow]:
        """The rows of these members that exist."""
        ...


class DeltaSink(Protocol):
    def changed(self, workspace: int, members: Sequence[int]) -> None:
        """These watched members have something to take (`take_delta`).

        Never called under a runtime lock; must not block.
        """
        ...


class Clock(Protocol):
    def monotonic(self) -> float:
        """Seconds."""
        ...


class Metrics(Protocol):
    """Counters and observations by name; the edge maps them to Prometheus. Must be cheap and must not raise."""

    def count(self, name: str, amount: int = 1) -> None: ...

    def observe(self, name: str, seconds: float) -> None: ...
