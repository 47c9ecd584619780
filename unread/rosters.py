"""Rosters for warm jobs: a scope's header, and pages of its members with everything that decides what they are shown.

Never a message and never a count: one statement for the header, one for each page.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.db import connection

from conversations.connections import database_unit
from conversations.models import Scope
from conversations.models.membership import MembershipStatus
from conversations.models.scope import ScopeStatus, ScopeType

from .core.events import Level
from .core.ports import RosterRow, ScopeHeader
from .ids import id_of, key
from .store import SNAPSHOT_COLUMNS, SNAPSHOT_JOIN, read_snapshot

_ROWS = f"""
    SELECT m.member_id, m.status, m.visible, m.effective_from_seq, m.last_read_seq, m.last_activity_read_seq,
           m.membership_generation, m.read_generation, n.level, n.generation,
           s.manual_unread, s.manual_unread_seq, s.generation, c.type, {SNAPSHOT_COLUMNS}
    FROM scope_memberships m
    JOIN scopes c ON c.id = m.scope_id
    LEFT JOIN scope_notification_settings n ON n.scope_id = m.scope_id AND n.member_id = m.member_id
    LEFT JOIN conversation_member_states s ON s.scope_id = m.scope_id AND s.member_id = m.member_id
    {SNAPSHOT_JOIN}
    WHERE m.scope_id = %s AND m.member_id
"""  # noqa: S608 - built of constants
_OWN = 14
"""Columns before those of the snapshot row."""


class RosterTable:
    """The runtime's `RosterStore`."""

    def load_header(self, workspace: int, scope: int) -> ScopeHeader | None:
        with database_unit():
            row = (
                Scope.objects.filter(id=UUID(int=scope), workspace_id=UUID(int=workspace))
                .values_list(
                    "parent_scope_id",
                    "status",
                    "parent_scope__status",
                    "parent_scope__roster_generation",
                    "roster_generation",
                    "rewind_generation",
                    "latest_seq",
                    "latest_activity_seq",
                    "type",
                )
                .first()
            )
        if row is None:
            return None
        parent, status, parent_status, parent_generation, roster, rewind, seq, activity_seq, kind = row
        return ScopeHeader(
            scope=scope,
            parent=parent.int if parent else 0,
            active=status == ScopeStatus.ACTIVE,
            parent_active=parent is None or parent_status == ScopeStatus.ACTIVE,
            parent_roster_generation=parent_generation or 0,
            roster_generation=roster,
            rewind_generation=rewind,
            latest_seq=seq,
            latest_activity_seq=activity_seq,
            task=kind == ScopeType.TASK,
        )

    def load_page(self, workspace: int, scope: int, after_member: int, limit: int) -> Sequence[RosterRow]:
        with database_unit(), connection.cursor() as cursor:
            cursor.execute(
                f"{_ROWS} > %s ORDER BY m.member_id LIMIT %s", [key(workspace), key(scope), key(after_member), limit]
            )
            return [_roster_row(values) for values in cursor.fetchall()]

    def load_members(self, workspace: int, scope: int, members: Sequence[int]) -> Sequence[RosterRow]:
        with database_unit(), connection.cursor() as cursor:
            places = ", ".join(["%s"] * len(members))
            cursor.execute(f"{_ROWS} IN ({places})", [key(workspace), key(scope), *map(key, members)])
            return [_roster_row(values) for values in cursor.fetchall()]


def _roster_row(values: Sequence[Any]) -> RosterRow:
    (
        member,
        status,
        visible,
        effective_from_seq,
        last_read_seq,
        last_activity_read_seq,
        membership_generation,
        read_generation,
        level,
        policy_generation,
        manual,
        marker_seq,
        marker_generation,
        scope_type,
    ) = values[:_OWN]
    return RosterRow(
        member=id_of(member),
        active=status == MembershipStatus.ACTIVE,
        visible=bool(visible),
        effective_from_seq=effective_from_seq,
        last_read_seq=last_read_seq,
        last_activity_read_seq=last_activity_read_seq,
        membership_generation=membership_generation,
        read_generation=read_generation,
        level=Level[level.upper()] if level else Level.ALL,
        policy_generation=policy_generation or 0,
        marker_seq=marker_seq if manual else 0,
        marker_generation=marker_generation or 0,
        snapshot=read_snapshot(values[_OWN:], scope_type) if values[_OWN] is not None else None,
    )
