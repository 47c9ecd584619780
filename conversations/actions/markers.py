"""The manual unread marker of one member in one scope, with its row in the inbox. The scope is locked."""

from __future__ import annotations

from uuid import UUID

from ..events import ManualUnreadCleared
from ..models import MemberState, Scope
from .inbox import enter_inbox, leave_inbox


def marker_of(scope: Scope, member_id: UUID) -> MemberState:
    """The member's row, or one that is not saved yet and says: never marked."""
    row = MemberState.objects.filter(scope_id=scope.id, member_id=member_id).first()
    return row or MemberState(scope_id=scope.id, member_id=member_id, generation=0)


def put_marker(scope: Scope, marker: MemberState, seq: int) -> None:
    """Set the marker at `seq` (at least 1); its generation rises. Call only where that changes something."""
    marker.manual_unread, marker.manual_unread_seq = True, seq
    _save(marker)
    enter_inbox(scope, marker.member_id)


def clear_marker(scope: Scope, marker: MemberState) -> ManualUnreadCleared | None:
    """Take the marker away; None, and nothing written, where there is none."""
    if not marker.manual_unread:
        return None
    marker.manual_unread, marker.manual_unread_seq = False, 0
    _save(marker)
    leave_inbox(scope.id, marker.member_id)
    return ManualUnreadCleared(
        workspace_id=scope.workspace_id,
        scope_id=scope.id,
        parent_id=scope.parent_scope_id,
        member_id=marker.member_id,
        marker_generation=marker.generation,
    )


def _save(marker: MemberState) -> None:
    marker.generation += 1
    marker.save(force_insert=marker._state.adding, force_update=not marker._state.adding)
