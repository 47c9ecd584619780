"""The identity of a send: which earlier message a retry means, and whether it says the same."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from ..agentue.fingerprint import content_fingerprint
from ..errors import Conflict
from ..models import Message, RemovedMessage, Scope

REMOVED = "The message with this key was removed. Use another key to send it again."
OTHER_CONTENT = "Another message was already sent under this key."


def output_key(scope_id: UUID, actor: tuple[str, str], key: str) -> str:
    """The stored form of a speaker's key: one for scope, actor and key, whatever characters they have."""
    return content_fingerprint([str(scope_id), *actor, key])


def creation_fingerprint(**said: Any) -> str:
    """What "the same content" means: everything that the request decides about the message, but for its keys."""
    return content_fingerprint(said)


def earlier_send(
    scope: Scope, author_id: UUID, client_message_id: str | None, stored_key: str | None, fingerprint: str
) -> Message | None:
    """The message that was sent under these keys before; the scope is locked, so nobody is sending it right now.

    `Conflict` where it said something else, was removed since, or the two keys mean two messages.
    """
    if client_message_id is None and stored_key is None:
        return None
    found: dict[UUID, Message] = {}
    if client_message_id is not None:
        ours = {"scope_id": scope.id, "author_id": author_id, "client_message_id": client_message_id}
        found |= {message.id: message for message in Message.objects.defer("content").filter(**ours)}
        if not found and RemovedMessage.objects.filter(**ours).exists():
            raise Conflict(REMOVED, client_message_id=client_message_id)
    if stored_key is not None:
        found |= {message.id: message for message in Message.objects.defer("content").filter(output_key=stored_key)}
        if not found and RemovedMessage.objects.filter(output_key=stored_key).exists():
            raise Conflict(REMOVED)
    if not found:
        return None
    messages = list(found.values())
    if len(messages) > 1 or messages[0].creation_fingerprint != fingerprint:
        raise Conflict(OTHER_CONTENT, message_id=str(messages[0].id))
    return messages[0]
