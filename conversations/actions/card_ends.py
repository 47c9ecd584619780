"""The end of a pending card: an answer, or its deadline. It comes once, under the lock of the card's conversation.

`human_due_at` is set while a card is pending and at no other time. `wake_pending` says that the actor who asked has to
be told of the end; why, the card's status says.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable
from datetime import datetime
from uuid import UUID

from django.db.models import Exists, OuterRef
from django.utils import timezone

from ..agentue.cards import CardStatus, ended
from ..agentue.values import JsonObject
from ..content.reading import read_content
from ..content.refusals import StorageError
from ..content.store import replace_content
from ..errors import Refusal
from ..events import Fact, MessageUpdated
from ..locking import lock_scope
from ..models import Message, Scope
from ..publish import publish_on_commit
from ..transactions import in_transaction

logger = logging.getLogger(__name__)

SETTLED_PER_READ = 20
"""A read settles no more than these; the sweeper does the rest soon."""


def has_run_out(question: Message, now: datetime) -> bool:
    """At its deadline a card is over."""
    return question.human_due_at is not None and question.human_due_at <= now


def end_card(scope: Scope, question: Message, model: JsonObject, status: CardStatus, **more: str) -> Fact:
    """Bring a pending card, locked with its content, to its end; `more` as in `agentue.cards.ended`."""
    question.revision += 1
    question.updated_at = timezone.now()
    question.human_due_at = None
    question.wake_pending = True
    columns = ("revision", "updated_at", "human_due_at", "wake_pending")
    replace_content(question, ended(model, status, **more), save=columns)
    return MessageUpdated(scope.workspace_id, scope.id, question.id)


def lock_question(scope: Scope, message_id: UUID) -> Message | None:
    """The fresh row with its content, after its scope; None where it is gone."""
    return Message.objects.select_for_update().filter(id=message_id, scope=scope).first()


def settle_cards(messages: Iterable[Message]) -> None:
    """On read: time out those among the loaded messages whose deadline has come, and refresh them.

    No statement where none has. What is busy stays as it is, for the next read or the sweeper.
    """
    now = timezone.now()
    due = [message for message in messages if has_run_out(message, now)]
    for message in due[:SETTLED_PER_READ]:
        fresh = _try(message.scope.workspace_id, message.scope_id, message.id)
        if fresh is not None:
            message.revision, message.updated_at = fresh.revision, fresh.updated_at
            message.human_due_at = fresh.human_due_at


def time_out_due(workspace_ids: Collection[UUID], limit: int) -> int:
    """At most `limit` cards of those workspaces, the longest overdue first, each in a transaction of its own.

    Returns how many are settled now. One statement where none is due.
    """
    owned = Exists(Scope.objects.filter(id=OuterRef("scope_id"), workspace_id__in=workspace_ids))
    # Not by a join: the index of deadlines has to lead, and not the workspaces with all their messages.
    rows = Message.objects.filter(owned, human_due_at__lte=timezone.now())
    found = list(rows.order_by("human_due_at").values_list("scope__workspace_id", "scope_id", "id")[:limit])
    return sum(_try(*each) is not None for each in found)


def _try(workspace_id: UUID, scope_id: UUID, message_id: UUID) -> Message | None:
    try:
        return time_out(workspace_id, scope_id, message_id)
    except (Refusal, StorageError) as refused:
        logger.info("card %s is not timed out now: %s", message_id, refused)
        return None


@in_transaction
def time_out(workspace_id: UUID, scope_id: UUID, message_id: UUID) -> Message | None:
    """The question as it is afterwards: timed out, unless it was answered or is not due. None where it is gone."""
    scope = lock_scope(workspace_id, scope_id)
    question = lock_question(scope, message_id)
    if question is None or not has_run_out(question, timezone.now()):
        return question
    publish_on_commit([end_card(scope, question, read_content(question), CardStatus.TIMEOUT)])
    return question
