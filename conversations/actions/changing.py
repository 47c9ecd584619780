"""What edits, deletes and rewinds share: messages under their locks, and what stands against changing them."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from ..access import NO_MESSAGE
from ..errors import Conflict, NotFound
from ..models import HarnessRun, Message, Scope
from ..models.message import MessageStatus


def lock_message(scope: Scope, message_id: UUID) -> Message:
    """The fresh row without its content, locked after its scope; `NotFound` where it was removed meanwhile."""
    message = Message.objects.select_for_update().defer("content").filter(id=message_id, scope=scope).first()
    if message is None:
        raise NotFound(NO_MESSAGE)
    return message


def require_settled(messages: Sequence[Message]) -> None:
    """`Conflict` where one is still being written, or is the output of a harness run."""
    streaming = [str(message.id) for message in messages if message.status == MessageStatus.STREAMING]
    if streaming:
        raise Conflict("A message is still being written; wait for its end.", message_ids=streaming[:10])
    ids = [message.id for message in messages]
    held = HarnessRun.objects.filter(message_id__in=ids).values_list("message_id", flat=True)[:10]
    if outputs := [str(message_id) for message_id in held]:
        raise Conflict("The output of a harness run cannot be changed or removed.", message_ids=outputs)
