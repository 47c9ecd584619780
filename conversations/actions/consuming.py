"""Consuming a user conversation: each actor polls what is for it, and commits what it is done with.

At least once and in order: a poll begins after what was committed, also where an earlier one returned more. Reading
history is not consuming. The scope is locked, so that what a poll has passed over cannot come later.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet

from ..access import NO_MESSAGE, ScopeAccess, acting_as, member_scope, see_scope
from ..content.reading import read_contents
from ..errors import Conflict, InvalidRequest, NotFound, TooLarge
from ..locking import lock_scope
from ..models import ConversationConsumer, Message, Scope
from ..models.message import MessageStatus
from ..transactions import in_transaction
from .append import Actor
from .directing import is_user_conversation


@dataclass(frozen=True, slots=True)
class Polled:
    messages: list[Message]
    """Without their contents."""
    position: UUID | None
    process_scope_id: UUID | None


def poll(*, user: Any, scope_id: UUID, actor: Actor, after: UUID | None = None, limit: int = 50) -> Polled:
    """What is directed at the actor or at everybody, after `after` or what it has committed, and never its own.

    Ends before a message that is still being written. 400 for anything but a user conversation, 403 for an actor that
    the caller is not, 404 for an `after` that is no message here, 409
    for one that no poll has come to yet.
    """
    access, actor = _consumer_access(user, scope_id, actor)
    return _poll(access, actor, after, limit)


def commit(*, user: Any, scope_id: UUID, actor: Actor, message_id: UUID) -> UUID:
    """Everything up to this message is done; answers the greatest one committed, which never moves back.

    409 for a message that no poll of this actor has returned, 404 for one that is not here.
    """
    access, actor = _consumer_access(user, scope_id, actor)
    return _commit(access, actor, message_id)


def _consumer_access(user: Any, scope_id: UUID, actor: Actor) -> tuple[ScopeAccess, Actor]:
    access = see_scope(user, scope_id)
    if not is_user_conversation(access.scope):
        raise InvalidRequest("Only a user conversation is consumed.")
    return access, acting_as(access.member, actor)


@in_transaction
def _poll(seen: ScopeAccess, actor: Actor, after: UUID | None, limit: int) -> Polled:
    scope = _locked(seen)
    consumer = _consumer(scope, actor)
    if after is not None and not _is_here(scope, after):
        raise NotFound(NO_MESSAGE)
    if after is not None and (consumer.position is None or after > consumer.position):
        raise Conflict("after is beyond what was returned to this actor.", position=_text(consumer.position))
    start = after or consumer.committed
    waiting = _for(scope, actor)
    if start is not None:
        waiting = waiting.filter(id__gt=start)
    returned = _fitting(_before_open(waiting.order_by("id")[:limit]))
    if returned and (consumer.position is None or returned[-1].id > consumer.position):
        consumer.position = returned[-1].id
        consumer.save(update_fields=["position", "updated_at"])
    return Polled(returned, consumer.position, consumer.process_scope_id)


@in_transaction
def _commit(seen: ScopeAccess, actor: Actor, message_id: UUID) -> UUID:
    scope = _locked(seen)
    consumer = _consumer(scope, actor)
    if not _is_here(scope, message_id):
        raise NotFound(NO_MESSAGE)
    returned = consumer.position is not None and message_id <= consumer.position
    if not returned or _for(scope, actor).filter(id=message_id).values_list("id").first() is None:
        raise Conflict("This message was not returned to this actor.", position=_text(consumer.position))
    if consumer.committed is None or message_id > consumer.committed:
        consumer.committed = message_id
        consumer.save(update_fields=["committed", "updated_at"])
    return consumer.committed


def _locked(seen: ScopeAccess) -> Scope:
    scope = lock_scope(seen.scope.workspace_id, seen.scope.id)
    member_scope(seen.member, scope)
    return scope


def _consumer(scope: Scope, actor: Actor) -> ConversationConsumer:
    kind, key = actor
    return ConversationConsumer.objects.get_or_create(scope=scope, actor_kind=kind, actor_key=key)[0]


def _for(scope: Scope, actor: Actor) -> QuerySet[Message]:
    """Directed at the actor or at nobody in particular, and said by somebody else."""
    kind, key = actor
    messages = Message.objects.defer("content").select_related("author").filter(scope=scope)
    messages = messages.filter(Q(target_kind="") | Q(target_kind=kind, target_key=key))
    return messages.exclude(actor_kind=kind, actor_key=key)


def _fitting(messages: list[Message]) -> list[Message]:
    """As many as one answer holds, and always the first one: alone too large, it is read block by block."""
    while len(messages) > 1:
        try:
            read_contents(messages)
            break
        except TooLarge:
            messages = messages[: len(messages) // 2]
    return messages


def _is_here(scope: Scope, message_id: UUID) -> bool:
    return Message.objects.filter(scope=scope, id=message_id).values_list("id").first() is not None


def _text(position: UUID | None) -> str | None:
    return None if position is None else str(position)


def _before_open(messages: Sequence[Message] | QuerySet[Message]) -> list[Message]:
    settled: list[Message] = []
    for message in messages:
        if message.status == MessageStatus.STREAMING:
            break
        settled.append(message)
    return settled
