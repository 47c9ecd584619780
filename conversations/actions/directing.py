"""Directed messages: the process conversation of whom a message in a user conversation is directed at.

It is made in the message's own transaction, once for the parent and actor, for ever; the parent is locked. Broadcasts,
messages to people and messages inside process conversations make none.
"""

from __future__ import annotations

from typing import Any

from ..events import ConversationUpdated, Fact
from ..ids import new_id
from ..models import ConversationConsumer, Message, Scope
from ..models.scope import ScopeType


def is_user_conversation(scope: Scope) -> bool:
    return scope.type == ScopeType.CONVERSATION and scope.parent_scope_id is None


def direct(scope: Scope, message: Message) -> list[Fact]:
    """Call after appending `message` to the locked `scope`: its target can be woken, and has a place to work in."""
    if not is_user_conversation(scope) or not message.target_kind or message.target_kind == "user":
        return []
    actor: dict[str, Any] = {"actor_kind": message.target_kind, "actor_key": message.target_key}
    inner, facts = process_conversation(scope, message, actor)
    consumer, _ = ConversationConsumer.objects.get_or_create(scope=scope, **actor)
    consumer.process_scope = inner
    if (message.actor_kind, message.actor_key) != (message.target_kind, message.target_key):
        consumer.end_offset = message.id  # what an actor says itself is nothing that it polls
    consumer.save(update_fields=["process_scope", "end_offset", "updated_at"])
    return facts


def process_conversation(scope: Scope, message: Message, actor: dict[str, Any]) -> tuple[Scope, list[Fact]]:
    found = Scope.objects.filter(parent_scope=scope, type=ScopeType.CONVERSATION, **actor).first()
    if found is not None:
        return found, []
    made = Scope.objects.create(
        id=new_id(),
        workspace_id=scope.workspace_id,
        type=ScopeType.CONVERSATION,
        parent_scope=scope,
        created_by_id=message.author_id,
        visibility=scope.visibility,
        **actor,
    )
    return made, [ConversationUpdated(scope.workspace_id, made.id)]
