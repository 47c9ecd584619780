"""An agent's answer, opened and written event by event."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

from django.utils import timezone

from conversations.actions.streams import Emitted, emit_event
from conversations.content.reading import read_content
from conversations.models import Message
from tests.verbs import post
from tests.world import World


def stage() -> World:
    """A channel with two people and an agent; an outsider in the workspace, and a stranger."""
    world = World("ann", "ben", "cat", agents=("bot",), strangers=("sue",))
    world.channel("x", "ann", "ben", "bot")
    return world


def opened(world: World, who: str = "bot", scope: str = "x", **said: Any) -> Message:
    """An open message without content."""
    empty = {"version": "1.1", "biz": "chat", "meta": {}, "blocks": []}
    return post(world, who, scope, content=empty, stream=True, **said)


def begin(seq: int, block_id: str = "a", text: str = "") -> dict[str, Any]:
    return {"op": "set", "seq": seq, "block": {"id": block_id, "type": "text", "content": text}}


def more(seq: int, text: str, block_id: str = "a") -> dict[str, Any]:
    return {"op": "append", "seq": seq, "mask": "block.content", "block": {"id": block_id, "content": text}}


def error(seq: int) -> dict[str, Any]:
    return {
        "op": "error",
        "seq": seq,
        "mask": "meta.error",
        "meta": {"error": {"code": "oops", "message": "It broke."}},
    }


def end(seq: int) -> dict[str, Any]:
    return {"op": "end", "seq": seq}


def emit(
    world: World, message: Message, event: dict[str, Any], *, by: str = "bot", status: str | None = None
) -> Emitted:
    return emit_event(user=world.user[by], message_id=message.id, event=event, status=status)


def row(message: Message | UUID) -> Message:
    return Message.objects.get(id=message if isinstance(message, UUID) else message.id)


def said(message: Message) -> str:
    """The texts of its blocks, one after the other."""
    return "".join(block["content"] for block in read_content(row(message))["blocks"])


def untouched_for(message: Message, hours: float) -> None:
    """Its last output was so long ago."""
    Message.objects.filter(id=message.id).update(updated_at=timezone.now() - timedelta(hours=hours))
