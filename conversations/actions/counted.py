"""What facts say about messages: who may count them, as the rows are now."""

from __future__ import annotations

from uuid import UUID

from ..events import Counted, MessageStored
from ..models import Message, Scope
from ..models.scope import ScopeType
from ..visibility import is_human_visible


def counted(message: Message, mentions: tuple[UUID, ...]) -> Counted:
    return Counted(
        author_id=message.author_id,
        principal_id=message.notify_principal_id,
        counts=is_human_visible(message.message_type) and not message.silent,
        mentions=mentions,
    )


def stored_fact(scope: Scope, message: Message, mentions: tuple[UUID, ...], *, replayed: bool = False) -> MessageStored:
    """`scope` is locked and holds the generations of this moment. In a task nobody counts who was not frozen."""
    return MessageStored(
        workspace_id=scope.workspace_id,
        scope_id=scope.id,
        parent_id=scope.parent_scope_id,
        message_id=message.id,
        seq=message.seq,
        facts=counted(message, mentions),
        roster_generation=scope.roster_generation,
        rewind_generation=scope.rewind_generation,
        recipients=() if scope.type == ScopeType.TASK else None,
        replayed=replayed,
    )
