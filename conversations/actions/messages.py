"""Sending a message: the append, with everything that belongs into its transaction."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from ..access import ScopeAccess, acting_as, member_scope, require_posting, see_scope
from ..agentue.text import plain_text
from ..agentue.values import JsonObject
from ..backpressure import require_capacity
from ..errors import Forbidden, InvalidRequest, NotFound
from ..locking import lock_scope
from ..models import Member, Message, Scope
from ..models.message import MessageStatus, MessageType
from ..pacing import send_pace
from ..publish import publish_on_commit
from ..queries.mentions import mentions_of
from ..transactions import in_transaction
from .append import NO_TARGET, Actor, Utterance
from .composing import compose, settled_status
from .counted import stored_fact
from .identity import creation_fingerprint, earlier_send, output_key
from .mentioning import mentionable, mentioned
from .speaking import speak

FOR_ANYBODY = (MessageType.DEFAULT, MessageType.STICKER)


@dataclass(frozen=True, slots=True)
class Sent:
    message: Message
    created: bool
    """False for a retry, which is answered with the first message."""


@dataclass(frozen=True, slots=True)
class _Request:
    actor: Actor
    model: JsonObject
    listed: tuple[UUID, ...]
    client_message_id: str | None
    key: str | None
    target: Actor
    reply_to_id: UUID | None
    message_type: str
    status: str
    principal_id: UUID | None
    fingerprint: str


def send_message(
    *,
    user: Any,
    scope_id: UUID,
    text: str | None = None,
    content: Any = None,
    mentions: Collection[UUID] = (),
    client_message_id: str | None = None,
    key: str | None = None,
    actor: Actor | None = None,
    target: Actor | None = None,
    reply_to_id: UUID | None = None,
    message_type: str | None = None,
    stream: bool = False,
    status: str | None = None,
    error: Any = None,
    notify_principal_id: UUID | None = None,
) -> Sent:
    """Say something in a conversation, complete at once or (`stream`) open for events.

    A retry under the same `client_message_id` (of this author here) or `key` (of this actor here) returns the first
    message and publishes its event again, in case the first commit's hook was lost with its answer.

    Refusals: 400 for what cannot be said, 403 for a foreign actor, 404, 409 where the conversation is archived or not
    joined or the key stands for something else, 429 and 503.
    """
    access = see_scope(user, scope_id)
    require_capacity(access.scope.workspace_id)
    send_pace().take(access.member.id)
    speaks_as = acting_as(access.member, actor)
    if stream and (status is not None or error is not None):
        raise InvalidRequest("A stream gets its status and error when it ends.")
    model = compose(text, content, error, may_be_empty=stream)
    request = _Request(
        actor=speaks_as,
        model=model,
        listed=tuple(sorted(set(mentions))),
        client_message_id=client_message_id,
        key=key,
        target=target or NO_TARGET,
        reply_to_id=reply_to_id,
        message_type=_allowed_type(access.member, message_type),
        status=MessageStatus.STREAMING if stream else settled_status(status, model),
        principal_id=_principal(access.member, notify_principal_id),
        fingerprint=creation_fingerprint(
            actor=list(speaks_as),
            content=model,
            mentions=sorted(map(str, set(mentions))),
            target=list(target or NO_TARGET),
            reply_to_id=reply_to_id and str(reply_to_id),
            message_type=message_type or MessageType.DEFAULT.value,
            status=status,
            stream=stream,
            notify_principal_id=notify_principal_id and str(notify_principal_id),
        ),
    )
    return _send(access, request)


@in_transaction
def _send(seen: ScopeAccess, request: _Request) -> Sent:
    scope = lock_scope(seen.scope.workspace_id, seen.scope.id)
    stored_key = None if request.key is None else output_key(scope.id, request.actor, request.key)
    earlier = earlier_send(scope, seen.member.id, request.client_message_id, stored_key, request.fingerprint)
    if earlier is not None:
        told = mentions_of([earlier.id]).get(earlier.id, ())
        publish_on_commit([stored_fact(scope, earlier, told, replayed=True)])
        return Sent(earlier, created=False)
    access = member_scope(seen.member, scope)
    require_posting(access)
    _require_principal(scope, request.principal_id)
    _require_reply(scope, request.reply_to_id)
    people = mentioned(scope, plain_text(request.model), request.listed)
    said = Utterance(
        author=access.member,
        actor=request.actor,
        content=request.model,
        principal_id=request.principal_id,
        target=request.target,
        reply_to_id=request.reply_to_id,
        message_type=request.message_type,
        status=request.status,
        client_message_id=request.client_message_id,
        output_key=stored_key,
        fingerprint=request.fingerprint,
    )
    message, facts = speak(access, said, people)
    publish_on_commit(facts)
    return Sent(message, created=True)


def _allowed_type(member: Member, message_type: str | None) -> str:
    if message_type is None:
        return MessageType.DEFAULT
    allowed = tuple(MessageType) if member.is_admin or not member.is_person else FOR_ANYBODY
    if message_type not in allowed:
        raise InvalidRequest(f"message_type must be one of {', '.join(allowed)}.", message_type=message_type)
    return message_type


def _principal(member: Member, principal_id: UUID | None) -> UUID | None:
    if principal_id is not None and principal_id != member.id and member.is_person:
        raise Forbidden("Only a service account speaks on a person's behalf.")
    return principal_id


def _require_principal(scope: Scope, principal_id: UUID | None) -> None:
    if principal_id is not None and not mentionable(scope).filter(id=principal_id).exists():
        raise InvalidRequest(
            "notify_principal_id must be a member of this conversation.", notify_principal_id=str(principal_id)
        )


def _require_reply(scope: Scope, reply_to_id: UUID | None) -> None:
    if reply_to_id is not None and not Message.objects.filter(id=reply_to_id, scope=scope).values_list("id").first():
        raise NotFound("The message to reply to is not in this conversation.", reply_to_id=str(reply_to_id))
