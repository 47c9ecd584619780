"""A workspace in memory: people and scopes by number, and the runtime of the product warmed with them."""

from __future__ import annotations

from collections.abc import Sequence

from unread.core.budgets import Budgets, RuntimeSettings
from unread.core.events import Counted, Event, Level, MembershipChanged, MessageStored
from unread.core.ports import HydrateRow, RosterRow, ScopeHeader, SnapshotRow
from unread.core.runtime import UnreadRuntime
from unread.core.testing import CountingMetrics, ManualClock, RecordingSink

WORKSPACE = 0x0192_0000_0000_7000_8000 << 48 | 1
_MEMBER = 0x0192_1111_0000_7000_8000 << 48
_SCOPE = 0x0192_2222_0000_7000_8000 << 48


def member(number: int) -> int:
    """An id as wide as a UUID."""
    return _MEMBER + number


def scope(number: int) -> int:
    return _SCOPE + number


def joined(
    member_number: int, scope_number: int, generation: int, from_seq: int = 1, workspace: int = WORKSPACE
) -> MembershipChanged:
    """A membership begins: the scope's `generation`-th, as an event that a creation or a join commits."""
    return MembershipChanged(
        workspace=workspace,
        scope=scope(scope_number),
        parent=0,
        member=member(member_number),
        active=True,
        visible=True,
        begins=True,
        effective_from_seq=from_seq,
        last_read_seq=from_seq - 1,
        last_activity_read_seq=0,
        membership_generation=1,
        read_generation=1,
        level=Level.ALL,
        policy_generation=0,
        marker_seq=0,
        marker_generation=0,
        roster_generation=generation,
    )


def posted(by: int, scope_number: int, seq: int, roster_generation: int, mentions: Sequence[int] = ()) -> MessageStored:
    author = member(by)
    facts = Counted(author, author, True, tuple(member(each) for each in mentions))
    return MessageStored(WORKSPACE, scope(scope_number), 0, seq, facts, roster_generation, 0)


class Rosters:
    """Scopes whose rosters grew by one with each generation: `sizes[scope number]` members, numbered from 1."""

    def __init__(self, sizes: dict[int, int], latest_seq: int = 0) -> None:
        self._sizes = {scope(each): size for each, size in sizes.items()}
        self._latest_seq = latest_seq

    def load_header(self, workspace: int, which: int) -> ScopeHeader:
        size = self._sizes[which]
        return ScopeHeader(which, 0, True, True, 0, size, 0, self._latest_seq, 0)

    def load_page(self, workspace: int, which: int, after_member: int, limit: int) -> Sequence[RosterRow]:
        first = after_member - _MEMBER + 1 if after_member else 1
        last = min(first + limit, self._sizes[which] + 1)
        return [
            RosterRow(
                member=member(each),
                active=True,
                visible=True,
                effective_from_seq=1,
                last_read_seq=self._latest_seq,
                last_activity_read_seq=0,
                membership_generation=1,
                read_generation=1,
                level=Level.ALL,
                policy_generation=0,
                marker_seq=0,
                marker_generation=0,
                snapshot=None,
            )
            for each in range(first, last)
        ]


class NoSnapshots:
    """A snapshot table without rows, which takes what is written and keeps nothing."""

    def load_member_page(self, workspace: int, which: int, after_scope: int, limit: int) -> Sequence[HydrateRow]:
        return []

    def load_member_scopes(self, workspace: int, which: int, scopes: Sequence[int]) -> Sequence[HydrateRow]:
        return []

    def upsert(self, workspace: int, epoch: int, rows: Sequence[SnapshotRow]) -> None:
        del workspace, epoch, rows


def build_runtime(rosters: Rosters, budgets: Budgets | None = None) -> UnreadRuntime:
    """The product's runtime, owning the workspace, without threads."""
    runtime = UnreadRuntime(
        snapshots=NoSnapshots(),
        rosters=rosters,
        sink=RecordingSink(),
        metrics=CountingMetrics(),
        clock=ManualClock(),
        settings=RuntimeSettings(hydrate_batch_size=1000),
        budgets=budgets,
    )
    runtime.own(WORKSPACE, 1)
    return runtime


def warm(runtime: UnreadRuntime, first: Event) -> None:
    """Let an event find its scope cold, and run the job that it asks for."""
    runtime.apply([first])
    while runtime.run_one_job():
        pass
