"""A desk where a bot asks people, over HTTP."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.utils import timezone

from conversations.content.reading import read_content
from conversations.models import Message
from tests.world import Answer, World

CHOICES = [{"value": "a", "label": "Ale"}, {"value": "b", "label": "Beer", "description": "Brown."}]
CONFIRM = {"kind": "confirm", "choices": None}


def stage() -> World:
    """A user conversation, with an outsider in the workspace and a stranger."""
    world = World("ann", "ben", "cat", agents=("bot", "rob"), strangers=("sue",))
    world.conversation("c", "ann", "ben", "bot", "rob")
    return world


def actor(world: World, who: str, role: str = "") -> dict[str, str]:
    return {"kind": world.member[who].actor_kind, "key": world.member[who].actor_key + role}


def asking(world: World, who: str = "bot", scope: str = "c", **body: Any) -> Answer:
    """One call. The question is an ask of two choices, unless `body` says otherwise; None leaves a member out."""
    whole = {
        "actor": actor(world, who),
        "effect_key": "e",
        "kind": "ask",
        "title": "What to drink?",
        "prompt": "It is hot.",
        "timeout_s": 60,
        "choices": CHOICES,
        **body,
    }
    sent = {name: value for name, value in whole.items() if value is not None}
    return world.call(who, "POST", f"/conversations/{world.scope[scope].id}/human", sent)


def asked(world: World, **body: Any) -> str:
    """The id of a new question."""
    answer = asking(world, **body)
    assert answer.status == 201, answer
    return str(answer["id"])


def answering(world: World, who: str, question: str, *, scope: str = "c", **body: Any) -> Answer:
    whole = {"reply_to_id": question, "outcome": "success", **body}
    return world.call(who, "POST", f"/conversations/{world.scope[scope].id}/replies", whole)


def state(world: World, question: str, who: str = "bot") -> dict[str, Any]:
    found: dict[str, Any] = world.call(who, "GET", f"/human/{question}").ok().body
    return found


def row(message_id: str) -> Message:
    return Message.objects.get(id=message_id)


def card(message_id: str) -> dict[str, Any]:
    [block] = read_content(row(message_id))["blocks"]
    return block


def replies(question: str) -> list[Message]:
    return list(Message.objects.filter(reply_to_id=question, purpose="human_reply"))


def run_out(question: str, seconds: float = 0.0) -> None:
    """Its deadline was so long ago."""
    Message.objects.filter(id=question).update(human_due_at=timezone.now() - timedelta(seconds=seconds))
