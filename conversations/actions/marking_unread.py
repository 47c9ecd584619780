"""Marking a conversation unread by hand, from one message on or as a whole, and taking that back."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from ..access import ScopeAccess, member_scope, require_joined, see_scope
from ..backpressure import require_capacity
from ..errors import InvalidRequest
from ..events import Counted, ManualUnreadSet, UnreadFrom
from ..locking import lock_scope
from ..models import Member, Membership, Message, Scope
from ..models.scope import ScopeType
from ..publish import publish_on_commit
from ..queries.mentions import mentions_of
from ..queries.seq_windows import rows_after
from ..transactions import in_transaction
from .counted import counted
from .cursors import save_cursors
from .markers import clear_marker, marker_of, put_marker
from .reading import seq_of

MARK_UNREAD_MAX_MESSAGES = 1024
"""How many messages one mark may make unread; what the unread runtime keeps of one scope by default."""


def mark_unread(*, user: Any, scope_id: UUID, message_id: UUID | None = None) -> Member:
    """Light the conversation until it is read; from `message_id` on also its messages are unread again.

    409 for whoever has not joined, 404 for a message from elsewhere; 400 for one from before one's time here, for one
    with more than `MARK_UNREAD_MAX_MESSAGES` after it, and for any message of a task, which is unread as a whole;
    503 while too much is unsaved.
    """
    access = see_scope(user, scope_id)
    require_capacity(access.scope.workspace_id)
    require_joined(access)
    if message_id is not None and access.scope.type == ScopeType.TASK:
        raise InvalidRequest("A task is marked unread as a whole, without a message.")
    if message_id is None:
        _mark(access)
    else:
        _mark_from(access, message_id)
    return access.member


def clear_unread(*, user: Any, scope_id: UUID) -> Member:
    """Take the marker away; the cursors stay where they are."""
    access = see_scope(user, scope_id)
    require_joined(access)
    _clear(access)
    return access.member


@in_transaction
def _mark(seen: ScopeAccess) -> None:
    scope, membership = _locked(seen)
    marker = marker_of(scope, membership.member_id)
    if marker.manual_unread:
        return
    put_marker(scope, marker, max(scope.latest_seq, 1))
    publish_on_commit([_set(scope, membership, marker.manual_unread_seq, marker.generation, None)])


@in_transaction
def _mark_from(seen: ScopeAccess, message_id: UUID) -> None:
    scope, membership = _locked(seen)
    seq = seq_of(scope, message_id)
    if seq < membership.effective_from_seq:
        raise InvalidRequest("This message is from before you joined; it cannot be unread for you.")
    rows = _rows_from(scope, seq)
    marker = marker_of(scope, membership.member_id)
    marked = marker.manual_unread and marker.manual_unread_seq == seq
    if membership.last_read_seq != seq - 1:
        membership.last_read_seq = seq - 1
        membership.read_generation += 1
        save_cursors(membership)
    elif marked:
        return
    if not marked:
        put_marker(scope, marker, seq)
    unread_from = UnreadFrom(
        last_read_seq=membership.last_read_seq,
        last_activity_read_seq=membership.last_activity_read_seq,
        read_generation=membership.read_generation,
        latest_seq=scope.latest_seq,
        rewind_generation=scope.rewind_generation,
        rows=rows,
    )
    publish_on_commit([_set(scope, membership, seq, marker.generation, unread_from)])


@in_transaction
def _clear(seen: ScopeAccess) -> None:
    scope, membership = _locked(seen)
    cleared = clear_marker(scope, marker_of(scope, membership.member_id))
    if cleared is not None:
        publish_on_commit([cleared])


def _locked(seen: ScopeAccess) -> tuple[Scope, Membership]:
    scope = lock_scope(seen.scope.workspace_id, seen.scope.id)
    return scope, require_joined(member_scope(seen.member, scope))


def _rows_from(scope: Scope, seq: int) -> tuple[tuple[int, Counted], ...]:
    """Every message from `seq` on with what it counts."""
    rows = Message.objects.defer("content").filter(scope=scope)
    messages = rows_after(rows, after=seq - 1, upto=scope.latest_seq, count=MARK_UNREAD_MAX_MESSAGES + 1)
    if len(messages) > MARK_UNREAD_MAX_MESSAGES:
        raise InvalidRequest(
            f"More than {MARK_UNREAD_MAX_MESSAGES} messages follow this one; choose a later one to be unread from."
        )
    mentions = mentions_of([message.id for message in messages])
    return tuple((message.seq, counted(message, mentions.get(message.id, ()))) for message in messages)


def _set(
    scope: Scope, membership: Membership, seq: int, generation: int, unread_from: UnreadFrom | None
) -> ManualUnreadSet:
    return ManualUnreadSet(
        workspace_id=scope.workspace_id,
        scope_id=scope.id,
        parent_id=scope.parent_scope_id,
        member_id=membership.member_id,
        marker_seq=seq,
        marker_generation=generation,
        unread_from=unread_from,
    )
