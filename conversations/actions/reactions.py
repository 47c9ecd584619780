"""Reactions: one member's emoji on a message, each change a low-signal activity."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from ..access import NO_MESSAGE, ScopeAccess, member_scope, require_posting, see_message
from ..activity_types import REACTION
from ..backpressure import require_capacity
from ..emoji import is_reaction
from ..errors import Conflict, InvalidRequest, NotFound
from ..events import ReactionChanged
from ..locking import lock_scope
from ..models import Message, MessageReaction, Scope
from ..publish import publish_on_commit
from ..transactions import in_transaction
from .activity import append_activity

MAX_EMOJI_PER_MESSAGE = 50
MAX_REACTIONS_PER_MESSAGE = 500


def react(*, user: Any, message_id: UUID, emoji: str) -> bool:
    """Put the caller's emoji on a message; False where it is there already.

    409 where the conversation is archived or not joined, and where the message has its fill of reactions.
    """
    return _change(user, message_id, emoji, present=True)


def unreact(*, user: Any, message_id: UUID, emoji: str) -> bool:
    """Take the caller's emoji off again; False where it was not there."""
    return _change(user, message_id, emoji, present=False)


def _change(user: Any, message_id: UUID, emoji: str, *, present: bool) -> bool:
    if not is_reaction(emoji):
        raise InvalidRequest("A reaction is a name of a-z, 0-9, _, + and - (at most 64), or one emoji.", emoji=emoji)
    access, _ = see_message(user, message_id)
    require_capacity(access.scope.workspace_id)
    return _apply(access, message_id, emoji, present)


@in_transaction
def _apply(seen: ScopeAccess, message_id: UUID, emoji: str, present: bool) -> bool:
    scope = lock_scope(seen.scope.workspace_id, seen.scope.id)
    require_posting(member_scope(seen.member, scope))
    if Message.objects.filter(id=message_id, scope=scope).values_list("id").first() is None:
        raise NotFound(NO_MESSAGE)
    mine = MessageReaction.objects.filter(message_id=message_id, member=seen.member, emoji=emoji)
    if mine.exists() == present:
        return False
    if present:
        _require_room(message_id, emoji)
        MessageReaction.objects.create(message_id=message_id, member=seen.member, emoji=emoji)
    else:
        mine.delete()
    _publish(scope, seen, message_id, emoji, present)
    return True


def _require_room(message_id: UUID, emoji: str) -> None:
    there = list(MessageReaction.objects.filter(message_id=message_id).values_list("emoji", flat=True))
    if len(there) >= MAX_REACTIONS_PER_MESSAGE:
        raise Conflict(f"A message takes at most {MAX_REACTIONS_PER_MESSAGE} reactions.")
    if emoji not in there and len(set(there)) >= MAX_EMOJI_PER_MESSAGE:
        raise Conflict(f"A message takes at most {MAX_EMOJI_PER_MESSAGE} different emoji.")


def _publish(scope: Scope, seen: ScopeAccess, message_id: UUID, emoji: str, present: bool) -> None:
    told = append_activity(
        scope,
        seen.member,
        REACTION,
        ref_type="message",
        ref=str(message_id),
        payload={"emoji": emoji, "present": present},
    )
    publish_on_commit([told, ReactionChanged(scope.workspace_id, scope.id, message_id)])
