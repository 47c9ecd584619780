"""Reading: the cursors of one member move forward, and what they pass is no longer marked unread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from ..access import NO_MESSAGE, ScopeAccess, member_scope, require_joined, see_scope, workspace_member
from ..errors import Conflict, InvalidRequest, NotFound
from ..events import Fact
from ..locking import lock_scope, lock_scopes
from ..models import Member, Membership, Message, Scope
from ..models.scope import ScopeType
from ..publish import publish_on_commit
from ..queries.cursors import first_after, last_up_to
from ..transactions import in_transaction
from .cursors import advance_cursors

READ_MANY_MAX_SCOPES = 100


@dataclass(frozen=True, slots=True)
class Read:
    """What a read did. Both ids are None where the cursor did not move."""

    member: Member
    scope_id: UUID
    previous_message_id: UUID | None
    """The last message that had been read before (None also where there was none)."""
    unread_from_message_id: UUID | None
    """The first message that this read covered: marking unread from it undoes the read."""


def mark_read(*, user: Any, scope_id: UUID, message_id: UUID | None = None) -> Read:
    """Everything up to that message; without one everything, messages and activities. Tasks are read as a whole.

    404 for a message that is not in this conversation (any more), 409 for whoever has not joined it. Archived
    conversations can be read.
    """
    access = see_scope(user, scope_id)
    require_joined(access)
    before, after = _read(access, message_id)
    if before == after:
        return Read(access.member, scope_id, None, None)
    return Read(access.member, scope_id, last_up_to(scope_id, before), first_after(scope_id, before))


def mark_many_read(*, user: Any, workspace_id: UUID, scope_ids: Sequence[UUID]) -> Member:
    """Exactly these conversations, to their ends, in one transaction: all of them or, with a refusal, none."""
    member = workspace_member(user, workspace_id)
    wanted = list(dict.fromkeys(scope_ids))
    if len(wanted) > READ_MANY_MAX_SCOPES:
        raise InvalidRequest(f"At most {READ_MANY_MAX_SCOPES} conversations can be marked read at once.")
    if wanted:
        _read_many(member, wanted)
    return member


@in_transaction
def _read(seen: ScopeAccess, message_id: UUID | None) -> tuple[int, int]:
    """The message cursor as it was and as it is."""
    scope = lock_scope(seen.scope.workspace_id, seen.scope.id)
    membership = require_joined(member_scope(seen.member, scope))
    named = None if message_id is None else seq_of(scope, message_id)
    before = membership.last_read_seq
    if named is None or scope.type == ScopeType.TASK:
        publish_on_commit(_to_the_end(scope, membership))
    else:
        publish_on_commit(advance_cursors(scope, membership, to_seq=named, named_seq=named))
    return before, membership.last_read_seq


@in_transaction
def _read_many(member: Member, scope_ids: Sequence[UUID]) -> None:
    scopes = lock_scopes(member.workspace_id, scope_ids)
    rows = {row.scope_id: row for row in Membership.objects.filter(member=member, scope_id__in=scope_ids)}
    facts: list[Fact] = []
    for scope in scopes.values():
        row = rows.get(scope.id)
        if row is None or not row.active or not row.visible:
            member_scope(member, scope)
            raise Conflict("Join this conversation first.", conversation_id=str(scope.id))
        facts += _to_the_end(scope, row)
    publish_on_commit(facts)


def seq_of(scope: Scope, message_id: UUID) -> int:
    """The seq of a message of this scope, else `NotFound`."""
    seq = Message.objects.filter(id=message_id, scope=scope).values_list("seq", flat=True).first()
    if seq is None:
        raise NotFound(NO_MESSAGE)
    return seq


def _to_the_end(scope: Scope, membership: Membership) -> list[Fact]:
    return advance_cursors(scope, membership, to_seq=scope.latest_seq, to_activity_seq=scope.latest_activity_seq)
