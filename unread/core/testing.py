"""In-memory fakes of every port, for tests of the runtime and of what uses it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from .ports import HydrateRow, RosterRow, ScopeHeader, SnapshotRow
from .shadow import control_hint, guarded, overlaid


class ManualClock:
    def __init__(self, now: float = 1000.0) -> None:
        self.now = now

    def monotonic(self) -> float:
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += seconds


@dataclass
class MemoryStores:
    """Both stores over one set of rows. `before` is called with the name of a call before it answers: it may raise, or
    do to the runtime what another thread would do just then."""

    headers: dict[tuple[int, int], ScopeHeader] = field(default_factory=dict)
    rosters: dict[tuple[int, int], dict[int, RosterRow]] = field(default_factory=dict)
    rows: dict[tuple[int, int, int], tuple[int, SnapshotRow]] = field(default_factory=dict)
    """`(epoch, row)` by workspace, member, scope."""
    shadows: dict[tuple[int, int, int], tuple[int, SnapshotRow]] = field(default_factory=dict)
    before: Callable[[str], None] = lambda call: None
    calls: Counter[str] = field(default_factory=Counter)

    def load_header(self, workspace: int, scope: int) -> ScopeHeader | None:
        self._called("load_header")
        return self.headers.get((workspace, scope))

    def load_page(self, workspace: int, scope: int, after_member: int, limit: int) -> Sequence[RosterRow]:
        self._called("load_page")
        roster = self.rosters.get((workspace, scope), {})
        page = [row for member, row in sorted(roster.items()) if member > after_member][:limit]
        return [self._with_snapshot(workspace, scope, row) for row in page]

    def load_member_page(self, workspace: int, member: int, after_scope: int, limit: int) -> Sequence[HydrateRow]:
        self._called("load_member_page")
        scopes = sorted(s for w, m, s in self.rows if w == workspace and m == member and s > after_scope)
        return [self._hydrate_row(workspace, member, scope) for scope in scopes[:limit]]

    def load_member_scopes(self, workspace: int, member: int, scopes: Sequence[int]) -> Sequence[HydrateRow]:
        self._called("load_member_scopes")
        known = [scope for scope in scopes if (workspace, member, scope) in self.rows]
        return [self._hydrate_row(workspace, member, scope) for scope in known]

    def upsert(self, workspace: int, epoch: int, rows: Sequence[SnapshotRow]) -> None:
        self._called("upsert")
        self._write(workspace, epoch, rows)

    def _write(self, workspace: int, epoch: int, rows: Sequence[SnapshotRow]) -> None:
        for row in rows:
            key = (workspace, row.member, row.scope)
            known = self.rows.get(key)
            if known is None or (epoch, row.row_version) > (known[0], known[1].row_version):
                self.rows[key] = (epoch, row)

    def protect(self, workspace: int, epoch: int, rows: Sequence[SnapshotRow]) -> None:
        self._called("protect")
        kept = []
        for row in rows:
            _, known = self.shadows.get((workspace, row.member, row.scope), (0, None))
            kept.append(guarded(row, known))
        for row in kept:
            self.shadows[workspace, row.member, row.scope] = (epoch, row)
        self._write(workspace, epoch, kept)

    def load_members(self, workspace: int, scope: int, members: Sequence[int]) -> Sequence[RosterRow]:
        self._called("load_members")
        roster = self.rosters.get((workspace, scope), {})
        return [self._with_snapshot(workspace, scope, roster[member]) for member in members if member in roster]

    def _served(self, workspace: int, member: int, scope: int) -> SnapshotRow | None:
        known = self.rows.get((workspace, member, scope))
        header = self.headers.get((workspace, scope))
        if known is None or header is None or not header.task:
            return known[1] if known else None
        shadow = self.shadows.get((workspace, member, scope))
        return overlaid(shadow[1], known[1]) if shadow else control_hint(known[1])

    def _called(self, name: str) -> None:
        self.calls[name] += 1
        self.before(name)

    def _with_snapshot(self, workspace: int, scope: int, row: RosterRow) -> RosterRow:
        return RosterRow(
            member=row.member,
            active=row.active,
            visible=row.visible,
            effective_from_seq=row.effective_from_seq,
            last_read_seq=row.last_read_seq,
            last_activity_read_seq=row.last_activity_read_seq,
            membership_generation=row.membership_generation,
            read_generation=row.read_generation,
            level=row.level,
            policy_generation=row.policy_generation,
            marker_seq=row.marker_seq,
            marker_generation=row.marker_generation,
            snapshot=self._served(workspace, row.member, scope),
        )

    def _hydrate_row(self, workspace: int, member: int, scope: int) -> HydrateRow:
        header = self.headers.get((workspace, scope)) or ScopeHeader(scope, 0, True, True, 0, 0, 0, 0, 0)
        snapshot = self._served(workspace, member, scope) or self.rows[workspace, member, scope][1]
        return HydrateRow(
            snapshot=snapshot,
            parent=header.parent,
            active=header.active,
            roster_generation=header.roster_generation,
            parent_active=header.parent_active,
            parent_roster_generation=header.parent_roster_generation,
            task=header.task,
        )


class RecordingSink:
    """Notes whom the runtime told about."""

    def __init__(self) -> None:
        self.told: list[tuple[int, tuple[int, ...]]] = []

    def changed(self, workspace: int, members: Sequence[int]) -> None:
        self.told.append((workspace, tuple(members)))


class CountingMetrics:
    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.observed: dict[str, list[float]] = {}

    def count(self, name: str, amount: int = 1) -> None:
        self.counts[name] += amount

    def observe(self, name: str, seconds: float) -> None:
        self.observed.setdefault(name, []).append(seconds)
