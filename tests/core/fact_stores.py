"""The runtime's two stores over the facts: what a database would answer at this very moment.

Every call offers itself to `between` before it looks and again before it answers, so that a test can commit, deliver
or fail things in the middle of a job, as other threads would.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from unread.core.events import Level
from unread.core.ports import HydrateRow, RosterRow, ScopeEvidence, ScopeHeader, SnapshotRow

from .facts import Facts
from .tables import Scope, Tables


class StoreDown(Exception):
    """What a database says when it is gone."""


def nothing_between(point: str) -> None:
    """The default of `between`: nobody else does anything."""


class FactRosterStore:
    def __init__(self, facts: Facts, snapshots: FactSnapshotStore) -> None:
        self.facts = facts
        self.snapshots = snapshots
        self.between: Callable[[str], None] = nothing_between
        self.header_read: Callable[[ScopeHeader], None] = lambda header: None
        """Told of each header, in the transaction that read it."""

    def load_header(self, workspace: int, scope: int) -> ScopeHeader | None:
        self.between("header")
        with self.facts.lock:
            row = self.facts.tables.scopes.get(scope)
            if row is None:
                return None
            header = self._header(row)
            self.header_read(header)
        self.between("header read")
        return header

    def load_page(self, workspace: int, scope: int, after_member: int, limit: int) -> Sequence[RosterRow]:
        self.between("page")
        with self.facts.lock:
            row = self.facts.tables.scopes[scope]
            members = sorted(member for member in row.memberships if member > after_member)[:limit]
            page = [self._roster_row(row, member) for member in members]
        self.between("page read")
        return page

    def _header(self, scope: Scope) -> ScopeHeader:
        parent = self.facts.tables.scopes.get(scope.parent)
        return ScopeHeader(
            scope=scope.id,
            parent=scope.parent,
            active=not scope.archived,
            parent_active=parent is None or not parent.archived,
            parent_roster_generation=parent.roster_generation if parent else 0,
            roster_generation=scope.roster_generation,
            rewind_generation=scope.rewind_generation,
            latest_seq=scope.latest_seq,
            latest_activity_seq=scope.latest_activity_seq,
        )

    def _roster_row(self, scope: Scope, member: int) -> RosterRow:
        row, setting, marker = scope.membership(member), scope.setting(member), scope.marker(member)
        return RosterRow(
            member=member,
            active=row.active,
            visible=row.visible,
            effective_from_seq=row.effective_from_seq,
            last_read_seq=row.last_read_seq,
            last_activity_read_seq=row.last_activity_read_seq,
            membership_generation=row.membership_generation,
            read_generation=row.read_generation,
            level=Level[setting.level.upper()],
            policy_generation=setting.generation,
            marker_seq=marker.seq,
            marker_generation=marker.generation,
            snapshot=self.snapshots.rows.get((member, scope.id)),
        )


class FactSnapshotStore:
    """The snapshot table with its guarded upsert; it outlives every runtime of a test."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.between: Callable[[str], None] = nothing_between
        self.rows: dict[tuple[int, int], SnapshotRow] = {}
        self.versions: dict[tuple[int, int], tuple[int, int]] = {}
        """`(owner_epoch, row_version)` of each row."""
        self.written: list[SnapshotRow] = []
        """Every row handed to `upsert` since somebody looked, guarded away or not."""

    def load_member_page(self, workspace: int, member: int, after_scope: int, limit: int) -> Sequence[HydrateRow]:
        self.between("hydrate")
        with self.facts.lock:
            scopes = sorted(scope for owner, scope in self.rows if owner == member and scope > after_scope)[:limit]
            page = [self._hydrate_row(member, scope) for scope in scopes]
        self.between("hydrate read")
        return page

    def load_member_scopes(self, workspace: int, member: int, scopes: Sequence[int]) -> Sequence[HydrateRow]:
        self.between("hydrate")
        with self.facts.lock:
            page = [self._hydrate_row(member, scope) for scope in scopes if (member, scope) in self.rows]
        self.between("hydrate read")
        return page

    def upsert(self, workspace: int, epoch: int, rows: Sequence[SnapshotRow]) -> None:
        self.between("upsert")
        keys = [(row.member, row.scope) for row in rows]
        assert len(keys) == len(set(keys)), "a batch may name an entry once"
        with self.facts.lock:
            self.written += rows
            for key, row in zip(keys, rows, strict=True):
                if (epoch, row.row_version) > self.versions.get(key, (0, 0)):
                    self.rows[key], self.versions[key] = row, (epoch, row.row_version)
        self.between("upserted")

    def _hydrate_row(self, member: int, scope_id: int) -> HydrateRow:
        scope = self.facts.tables.scopes[scope_id]
        parent = self.facts.tables.scopes.get(scope.parent)
        return HydrateRow(
            snapshot=self.rows[member, scope_id],
            parent=scope.parent,
            active=not scope.archived,
            roster_generation=scope.roster_generation,
            parent_active=parent is None or not parent.archived,
            parent_roster_generation=parent.roster_generation if parent else 0,
        )


def evidence_of(tables: Tables, member: int) -> list[ScopeEvidence]:
    """What a bootstrap reads: the scopes with an active membership of the member, as they are now."""
    found = []
    for scope in tables.scopes.values():
        row = scope.membership(member)
        if row.active:
            found.append(
                ScopeEvidence(
                    scope=scope.id,
                    last_read_seq=row.last_read_seq,
                    last_activity_read_seq=row.last_activity_read_seq,
                    latest_seq=scope.latest_seq,
                    latest_activity_seq=scope.latest_activity_seq,
                    membership_generation=row.membership_generation,
                    read_generation=row.read_generation,
                )
            )
    return found
