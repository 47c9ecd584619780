"""Messages as the API shows them, a page at a time: a constant number of statements for any number of messages."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any
from uuid import UUID

from ..content.reading import read_contents
from ..models import Message, MessageReaction, Scope
from ..models.scope import ScopeType
from .json_values import id_text, moment
from .mentions import mentions_of
from .replies import threads_under

Rendered = dict[str, Any]


def messages_by_id(message_ids: Iterable[UUID]) -> list[Message]:
    """Those that still exist, in id order, without content and with their authors. One statement."""
    found = Message.objects.defer("content").select_related("author").filter(id__in=list(message_ids))
    return list(found.order_by("id"))


def render_messages(messages: Sequence[Message], *, content: bool = True) -> list[Rendered]:
    """In the given order; six statements at most. Without `content` neither bodies nor their errors are read.

    Messages that were removed since they were listed are left out. `TooLarge` where all bodies together exceed what
    one answer holds.
    """
    if not messages:
        return []
    ids = [message.id for message in messages]
    bodies = read_contents(messages) if content else {}
    mentions, reactions = mentions_of(ids), reactions_of(ids)
    threads = threads_under({message.scope_id for message in messages}, ids)
    inner = _process_conversations(messages)
    rendered = []
    for message in messages:
        item = {
            "id": id_text(message.id),
            "conversation_id": id_text(message.scope_id),
            "seq": message.seq,
            "revision": message.revision,
            "status": message.status,
            "author_id": id_text(message.author_id),
            "actor": {"kind": message.actor_kind, "key": message.actor_key},
            "target": {"kind": message.target_kind, "key": message.target_key} if message.target_kind else None,
            "reply_to_id": id_text(message.reply_to_id),
            "message_type": message.message_type,
            "purpose": message.purpose,
            "task_id": id_text(message.task_id),
            "client_message_id": message.client_message_id,
            "mentions": list(map(str, mentions.get(message.id, ()))),
            "reactions": reactions.get(message.id, {}),
            "thread": _thread(threads.get(message.id)),
            "process_conversation_id": id_text(inner.get(message.id)),
            "created_at": moment(message.created_at),
            "updated_at": moment(message.updated_at),
            "edited_at": moment(message.edited_at),
        }
        if content:
            body = bodies.get(message.id)
            if body is None:
                continue
            item |= {"content": body, "error": body["meta"].get("error")}
        rendered.append(item)
    return rendered


def reactions_of(message_ids: Iterable[UUID]) -> dict[UUID, dict[str, list[str]]]:
    """Who reacted with what, in order of time. One statement; messages without reactions are absent."""
    found: dict[UUID, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    rows = MessageReaction.objects.filter(message_id__in=list(message_ids)).order_by("id")
    for message_id, emoji, member_id in rows.values_list("message_id", "emoji", "member_id"):
        found[message_id][emoji].append(str(member_id))
    return {message_id: dict(emoji) for message_id, emoji in found.items()}


def _thread(thread: Scope | None) -> Rendered | None:
    if thread is None:
        return None
    return {
        "conversation_id": str(thread.id),
        "count": thread.visible_message_count,
        "last_at": moment(thread.visible_last_message_at),
    }


def _process_conversations(messages: Sequence[Message]) -> dict[UUID, UUID]:
    """Where each message's inner work is visible: that of a person's target, else that of the speaker or, where a
    role has none, of the actor above it. At most one statement, and none for messages between people."""
    wanted = {message.id: list(_inner_actors(message)) for message in messages}
    keys = {key for actors in wanted.values() for _, key in actors}
    if not keys:
        return {}
    scopes = Scope.objects.filter(
        parent_scope_id__in={message.scope_id for message in messages},
        type=ScopeType.CONVERSATION,
        actor_key__in=keys,
    )
    known = {
        (parent_id, kind, key): scope_id
        for scope_id, parent_id, kind, key in scopes.values_list("id", "parent_scope_id", "actor_kind", "actor_key")
    }
    found = {}
    for message in messages:
        for kind, key in wanted[message.id]:
            if scope_id := known.get((message.scope_id, kind, key)):
                found[message.id] = scope_id
                break
    return found


def _inner_actors(message: Message) -> Iterator[tuple[str, str]]:
    """The actor itself, then the ones above it, nearest first."""
    person = message.actor_kind == "user"
    kind, key = (message.target_kind, message.target_key) if person else (message.actor_kind, message.actor_key)
    while kind and key:
        yield kind, key
        key = key.rpartition("/")[0]
