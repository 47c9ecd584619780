"""The append: one new message at the end of a locked scope.

Everything happens under the scope's lock, so id order, seq order and commit order are one order on any number of
writers. What may be appended, and by whom, is decided by the callers.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from django.utils import timezone

from ..agentue.values import JsonObject
from ..content.store import create_content
from ..ids import new_id
from ..models import Member, Message, MessageMention, Scope
from ..models.message import MessageStatus, MessageType, Purpose
from .summary import add_to_summary

Actor = tuple[str, str]
NO_TARGET: Actor = ("", "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Utterance:
    """What one new message says, decided and checked."""

    author: Member
    actor: Actor
    content: JsonObject
    principal_id: UUID | None = None
    """Who is not notified; the author where None."""
    mentions: tuple[UUID, ...] = ()
    target: Actor = NO_TARGET
    reply_to_id: UUID | None = None
    purpose: str = Purpose.OUTPUT
    message_type: str = MessageType.DEFAULT
    status: str = MessageStatus.COMPLETED
    client_message_id: str | None = None
    output_key: str | None = None
    effect_key: str | None = None
    human_due_at: datetime | None = None
    """Until when a question waits for its answer."""
    fingerprint: str = field(default="")


def append_message(scope: Scope, said: Utterance) -> Message:
    """Store `said` under the next seq of the locked `scope`, whose row and fields advance with it."""
    now = timezone.now()
    message = Message(
        id=new_id(after=scope.last_message_id),
        scope=scope,
        seq=scope.latest_seq + 1,
        author=said.author,
        notify_principal_id=said.principal_id or said.author.id,
        actor_kind=said.actor[0],
        actor_key=said.actor[1],
        target_kind=said.target[0],
        target_key=said.target[1],
        reply_to_id=said.reply_to_id,
        purpose=said.purpose,
        message_type=said.message_type,
        status=said.status,
        dispatch_pending=said.status == MessageStatus.STREAMING,
        client_message_id=said.client_message_id,
        output_key=said.output_key,
        effect_key=said.effect_key,
        human_due_at=said.human_due_at,
        creation_fingerprint=said.fingerprint,
        created_at=now,
        updated_at=now,
    )
    create_content(message, said.content)
    MessageMention.objects.bulk_create(MessageMention(message=message, member_id=each) for each in said.mentions)
    scope.latest_seq, scope.last_message_id = message.seq, message.id
    add_to_summary(scope, message)
    Scope.objects.filter(pk=scope.pk).update(
        latest_seq=scope.latest_seq,
        last_message_id=scope.last_message_id,
        visible_message_count=scope.visible_message_count,
        visible_last_message_at=scope.visible_last_message_at,
        updated_at=now,
    )
    return message
