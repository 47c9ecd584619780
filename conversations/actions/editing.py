"""Editing a message: its content is replaced as a whole, and its mentions with it."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any
from uuid import UUID

from django.utils import timezone

from ..access import ScopeAccess, member_scope, require_posting, see_message
from ..agentue.fingerprint import canonical
from ..agentue.text import plain_text
from ..agentue.values import JsonObject
from ..backpressure import require_capacity
from ..content.reading import read_content
from ..content.store import replace_content
from ..errors import Conflict, Forbidden
from ..events import Fact, MessageChange, MessageMentionsChanged, MessageUpdated
from ..locking import lock_scope
from ..models import Member, Message, MessageMention, Scope
from ..models.message import Purpose
from ..models.scope import ScopeType
from ..publish import publish_on_commit
from ..queries.mentions import mentions_of
from ..transactions import in_transaction
from .attention import withdraw, withdrawn
from .changing import lock_message, require_settled
from .composing import compose
from .counted import counted
from .mentioning import mentioned
from .speaking import join_thread


def edit_message(
    *, user: Any, message_id: UUID, text: str | None = None, content: Any = None, mentions: Collection[UUID] = ()
) -> Message:
    """Replace what the caller's own message says; the same content and mentions again change nothing.

    `mentions` adds to the names in the text, as in sending; a mention counts only for whom the message is unread.
    409 while the message is being written, for cards and outputs of harness runs, and in an archived conversation.
    """
    access, message = see_message(user, message_id)
    if message.author_id != access.member.id:
        raise Forbidden("Only its author may edit a message.")
    require_capacity(access.scope.workspace_id)
    return _edit(access, message_id, compose(text, content), frozenset(mentions))


@in_transaction
def _edit(seen: ScopeAccess, message_id: UUID, model: JsonObject, listed: frozenset[UUID]) -> Message:
    scope = lock_scope(seen.scope.workspace_id, seen.scope.id)
    require_posting(member_scope(seen.member, scope))
    message = lock_message(scope, message_id)
    require_settled([message])
    if message.purpose != Purpose.OUTPUT:
        raise Conflict("A question or an answer cannot be edited.")
    people = mentioned(scope, plain_text(model), listed)
    before = mentions_of([message.id]).get(message.id, ())
    after = tuple(sorted(member.id for member in people))
    same = canonical(read_content(message)) == canonical(model)
    if same and before == after:
        return message
    facts: list[Fact] = []
    if before != after:
        facts += _replace_mentions(scope, message, before, after, people)
    now = timezone.now()
    message.revision += 1
    message.updated_at = message.edited_at = now
    replace_content(message, model, save=("revision", "updated_at", "edited_at"))
    facts.append(MessageUpdated(scope.workspace_id, scope.id, message.id))
    publish_on_commit(facts)
    return message


def _replace_mentions(
    scope: Scope, message: Message, before: tuple[UUID, ...], after: tuple[UUID, ...], people: list[Member]
) -> list[Fact]:
    MessageMention.objects.filter(message=message, member_id__in=set(before) - set(after)).delete()
    MessageMention.objects.bulk_create(
        MessageMention(message=message, member_id=each) for each in after if each not in before
    )
    scope.rewind_generation += 1
    scope.save(update_fields=["rewind_generation", "updated_at"])
    facts: list[Fact] = []
    if scope.type == ScopeType.THREAD:
        # From the next message on: what is already there was accounted without them.
        facts += join_thread(scope, people, scope.latest_seq + 1)
    recipients = None
    if scope.type == ScopeType.TASK:
        recipients = withdraw(scope, [withdrawn(message, before, after)], [message.id])
    facts.append(
        MessageMentionsChanged(
            workspace_id=scope.workspace_id,
            scope_id=scope.id,
            parent_id=scope.parent_scope_id,
            changes=(MessageChange(message.id, message.seq, counted(message, before), counted(message, after)),),
            rewind_generation=scope.rewind_generation,
            roster_generation=scope.roster_generation,
            recipients=recipients,
        )
    )
    return facts
