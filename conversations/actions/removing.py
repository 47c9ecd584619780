"""Deleting one message, and rewinding a conversation to one.

The rows go, with their content, mentions and reactions; seqs stay used. Each removal is one change of the scope's
messages: `rewind_generation` rises by one and one fact lists what each message counted before.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.utils import timezone

from ..access import NO_MESSAGE, ScopeAccess, require_managing, require_open, see_message, see_scope
from ..backpressure import require_capacity
from ..errors import Forbidden, InvalidRequest, NotFound
from ..events import ConversationUpdated, Fact, MessageChange, MessageRewound
from ..locking import lock_scope, lock_scopes
from ..models import Message, RemovedMessage, Scope
from ..models.scope import ScopeStatus, ScopeType
from ..publish import publish_on_commit
from ..queries.mentions import mentions_of
from ..queries.seq_windows import rows_after
from ..transactions import in_transaction
from .archiving import set_archived
from .attention import withdraw, withdrawn
from .changing import lock_message, require_settled
from .counted import counted
from .summary import recompute_visible_summary, summary_facts, take_from_summary

REWIND_MAX_MESSAGES = 1000


def delete_message(*, user: Any, message_id: UUID) -> None:
    """Remove one message: its author or an admin, also where the conversation is archived. Its thread stays.

    409 while it is being written, and for the output of a harness run.
    """
    access, message = see_message(user, message_id)
    if message.author_id != access.member.id and not access.member.is_admin:
        raise Forbidden("Only its author or an admin may delete a message.")
    require_capacity(access.scope.workspace_id)
    _delete(access, message_id)


def rewind(*, user: Any, scope_id: UUID, to_message_id: UUID) -> int:
    """Keep that message and remove all later ones, at most `REWIND_MAX_MESSAGES`; returns how many were removed.

    The creator or an admin. Threads whose root goes are archived.
    """
    access = see_scope(user, scope_id)
    require_managing(access)
    require_open(access)
    require_capacity(access.scope.workspace_id)
    return _rewind(access, to_message_id)


@in_transaction
def _delete(access: ScopeAccess, message_id: UUID) -> None:
    scope = lock_scope(access.scope.workspace_id, access.scope.id)
    message = lock_message(scope, message_id)
    require_settled([message])
    removed = _remove(scope, [message])
    take_from_summary(scope, message)
    scope.save(update_fields=["visible_message_count", "visible_last_message_at", "updated_at"])
    publish_on_commit([removed, *summary_facts(scope)])


@in_transaction
def _rewind(access: ScopeAccess, to_message_id: UUID) -> int:
    scope = lock_scope(access.scope.workspace_id, access.scope.id)
    require_open(ScopeAccess(access.member, scope, access.parent, access.membership, access.parent_membership))
    kept = Message.objects.filter(id=to_message_id, scope=scope).values_list("seq", flat=True).first()
    if kept is None:
        raise NotFound(NO_MESSAGE)
    rows = Message.objects.select_for_update().defer("content").filter(scope=scope)
    messages = rows_after(rows, after=kept, upto=scope.latest_seq, count=REWIND_MAX_MESSAGES + 1)
    if len(messages) > REWIND_MAX_MESSAGES:
        raise InvalidRequest(
            f"More than {REWIND_MAX_MESSAGES} messages follow this one; rewind in steps, beginning with a later one."
        )
    if not messages:
        return 0
    require_settled(messages)
    facts: list[Fact] = [_remove(scope, messages)]
    recompute_visible_summary(scope)
    facts += summary_facts(scope)
    facts += _archive_threads(scope, access, [message.id for message in messages])
    publish_on_commit(facts)
    return len(messages)


def _remove(scope: Scope, messages: Sequence[Message]) -> MessageRewound:
    ids = [message.id for message in messages]
    mentions = mentions_of(ids)
    now = timezone.now()
    RemovedMessage.objects.bulk_create(
        RemovedMessage(
            id=message.id,
            scope=scope,
            author_id=message.author_id,
            client_message_id=message.client_message_id,
            output_key=message.output_key,
            removed_at=now,
        )
        for message in messages
        if message.client_message_id is not None or message.output_key is not None
    )
    Message.objects.filter(id__in=ids).only("id").delete()
    scope.rewind_generation += 1
    scope.save(update_fields=["rewind_generation", "updated_at"])
    recipients = None
    if scope.type == ScopeType.TASK:
        recipients = withdraw(scope, [withdrawn(message, mentions.get(message.id, ())) for message in messages], ids)
    return MessageRewound(
        workspace_id=scope.workspace_id,
        scope_id=scope.id,
        parent_id=scope.parent_scope_id,
        changes=tuple(
            MessageChange(message.id, message.seq, counted(message, mentions.get(message.id, ())), None)
            for message in messages
        ),
        rewind_generation=scope.rewind_generation,
        roster_generation=scope.roster_generation,
        recipients=recipients,
    )


def _archive_threads(scope: Scope, access: ScopeAccess, root_ids: Sequence[UUID]) -> list[Fact]:
    found = Scope.objects.filter(
        parent_scope=scope, root_message_id__in=root_ids, type=ScopeType.THREAD, status=ScopeStatus.ACTIVE
    )
    facts: list[Fact] = []
    for thread in lock_scopes(scope.workspace_id, found.values_list("id", flat=True)).values():
        if archived := set_archived(thread, access.member, archived=True):
            facts += (*archived, ConversationUpdated(thread.workspace_id, thread.id))
    return facts
