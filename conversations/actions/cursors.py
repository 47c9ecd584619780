"""Moving one member's read cursors in a locked scope, and what that clears."""

from __future__ import annotations

from ..events import ActivityReadCursorAdvanced, Fact, ReadCursorAdvanced
from ..models import Membership, Scope
from ..models.scope import ScopeType
from .inbox import settle_inbox
from .markers import clear_marker, marker_of


def advance_cursors(
    scope: Scope, membership: Membership, *, to_seq: int, to_activity_seq: int = 0, named_seq: int | None = None
) -> list[Fact]:
    """Move both cursors forward, never back, and clear a marker at or below the seq that the read names.

    `named_seq`: the message that a read named, None for a read of everything. Writes and returns nothing where nothing
    changes. The fact carries the scope's ends as this transaction holds them.
    """
    facts: list[Fact] = []
    seq = max(to_seq, membership.last_read_seq)
    activity_seq = max(to_activity_seq, membership.last_activity_read_seq)
    if (seq, activity_seq) != (membership.last_read_seq, membership.last_activity_read_seq):
        kind = ReadCursorAdvanced if seq != membership.last_read_seq else ActivityReadCursorAdvanced
        membership.last_read_seq, membership.last_activity_read_seq = seq, activity_seq
        membership.read_generation += 1
        save_cursors(membership)
        facts.append(
            kind(
                workspace_id=scope.workspace_id,
                scope_id=scope.id,
                parent_id=scope.parent_scope_id,
                member_id=membership.member_id,
                last_read_seq=seq,
                last_activity_read_seq=activity_seq,
                read_generation=membership.read_generation,
                latest_seq=scope.latest_seq,
                latest_activity_seq=scope.latest_activity_seq,
            )
        )
    marker = marker_of(scope, membership.member_id)
    if named_seq is None or named_seq >= marker.manual_unread_seq:
        cleared = clear_marker(scope, marker)
        if cleared is not None:
            facts.append(cleared)
    if scope.type == ScopeType.TASK and seq == scope.latest_seq and activity_seq == scope.latest_activity_seq:
        settle_inbox(scope.id, membership.member_id)
    return facts


def save_cursors(membership: Membership) -> None:
    membership.save(
        force_update=True,
        update_fields=["last_read_seq", "last_activity_read_seq", "read_generation", "updated_at"],
    )
