"""Asking people: a question with a deadline, as a card in a conversation.

A question is one for its conversation, actor and effect key, for ever: asking again finds it, with its first deadline,
whatever became of it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.utils import timezone

from ..access import ScopeAccess, acting_as, member_scope, require_posting, see_scope
from ..agentue import cards
from ..agentue.fingerprint import content_fingerprint
from ..agentue.values import JsonObject
from ..backpressure import require_capacity
from ..errors import Conflict, InvalidRequest, NotFound
from ..locking import lock_scope
from ..models import Member, Message, RemovedMessage, Scope
from ..models.message import Purpose
from ..pacing import send_pace
from ..publish import publish_on_commit
from ..queries.json_values import moment
from ..queries.mentions import mentions_of
from ..transactions import in_transaction
from .append import NO_TARGET, Actor, Utterance
from .card_ends import settle_cards
from .counted import stored_fact
from .messages import Sent
from .speaking import speak

MAX_TIMEOUT_S = 30 * 24 * 3600
MAX_CHOICES = 50
DEFAULT_LABELS = ("Confirm", "Decline")


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked, for how long, and of whom: any person of the conversation, or only `target`."""

    kind: str
    title: str
    prompt: str
    timeout_s: float
    choices: Sequence[JsonObject] | None = None
    """Each `{value, label, description?}`."""
    allow_other: bool = False
    confirm_label: str | None = None
    decline_label: str | None = None
    target: Actor | None = None


@dataclass(frozen=True, slots=True)
class _Request:
    actor: Actor
    effect_key: str
    card: JsonObject
    target: Actor
    timeout: timedelta
    fingerprint: str


def ask(*, user: Any, scope_id: UUID, actor: Actor | None, effect_key: str, question: Question) -> Sent:
    """Ask as `actor`. A retry is answered with the first question, whose deadline stands; its timeout is no content.

    400 for what cannot be asked, 403 for a foreign actor, 404, 409 where the effect key stands for another question or
    one that was removed, and like `send_message`.
    """
    access = see_scope(user, scope_id)
    require_capacity(access.scope.workspace_id)
    send_pace().take(access.member.id)
    speaks_as = acting_as(access.member, actor)
    card = _card(question)
    request = _Request(
        actor=speaks_as,
        effect_key=effect_key,
        card=card,
        target=question.target or NO_TARGET,
        timeout=_timeout(question.timeout_s),
        fingerprint=content_fingerprint({"actor": list(speaks_as), "card": card}),
    )
    asked = _ask(access, request)
    settle_cards([asked.message])
    return asked


def question_key(scope_id: UUID, actor: Actor, effect_key: str) -> str:
    return content_fingerprint([cards.REQUEST, str(scope_id), *actor, effect_key])


@in_transaction
def _ask(seen: ScopeAccess, request: _Request) -> Sent:
    scope = lock_scope(seen.scope.workspace_id, seen.scope.id)
    key = question_key(scope.id, request.actor, request.effect_key)
    earlier = _earlier(key, request.fingerprint)
    if earlier is not None:
        told = mentions_of([earlier.id]).get(earlier.id, ())
        publish_on_commit([stored_fact(scope, earlier, told, replayed=True)])
        return Sent(earlier, created=False)
    access = member_scope(seen.member, scope)
    require_posting(access)
    _require_target(scope, request.target)
    due_at = timezone.now() + request.timeout
    said = Utterance(
        author=access.member,
        actor=request.actor,
        content=cards.question_model(request.card, moment(due_at) or "", request.effect_key, request.fingerprint),
        target=request.target,
        purpose=Purpose.HUMAN_REQUEST,
        output_key=key,
        effect_key=request.effect_key,
        human_due_at=due_at,
        fingerprint=request.fingerprint,
    )
    message, facts = speak(access, said)
    publish_on_commit(facts)
    return Sent(message, created=True)


def _earlier(key: str, fingerprint: str) -> Message | None:
    earlier = Message.objects.defer("content").select_related("scope").filter(output_key=key).first()
    if earlier is None:
        if RemovedMessage.objects.filter(output_key=key).exists():
            raise Conflict(
                "The question of this effect key was removed.", status=cards.CardStatus.FAILURE.value, reason="rewound"
            )
        return None
    if earlier.creation_fingerprint != fingerprint:
        raise Conflict("Another question was already asked under this effect key.", message_id=str(earlier.id))
    return earlier


def _card(question: Question) -> JsonObject:
    confirm = question.kind == cards.CONFIRM
    if not question.title.strip():
        raise InvalidRequest("A question needs a title.", title=question.title[:40])
    confirm_label, decline_label = _labels(question) if confirm else (None, None)
    return {
        "kind": question.kind,
        "title": question.title,
        "prompt": question.prompt,
        "choices": _no_choices(question) if confirm else _choices(question),
        "allow_other": question.allow_other,
        "confirm_label": confirm_label,
        "decline_label": decline_label,
        "target": None if question.target is None else {"kind": question.target[0], "key": question.target[1]},
    }


def _labels(question: Question) -> tuple[str, str]:
    given = (question.confirm_label, question.decline_label)
    labels = tuple(default if label is None else label for label, default in zip(given, DEFAULT_LABELS, strict=True))
    if not all(label.strip() for label in labels):
        raise InvalidRequest("A label needs a visible character.")
    return labels[0], labels[1]


def _no_choices(question: Question) -> list[JsonObject]:
    if question.choices is not None or question.allow_other:
        raise InvalidRequest("A confirm offers no choices; it is accepted or declined.")
    return []


def _choices(question: Question) -> list[JsonObject]:
    """Choices, choices and a text of one's own, or such a text alone: then there are no choices at all."""
    if question.confirm_label is not None or question.decline_label is not None:
        raise InvalidRequest("Only a confirm has labels; an ask has choices.")
    if question.choices is None:
        if not question.allow_other:
            raise InvalidRequest("An ask needs choices, or allow_other for a text.")
        return []
    if not 1 <= len(question.choices) <= MAX_CHOICES:
        raise InvalidRequest(f"choices must list from 1 to {MAX_CHOICES}, or be absent for a text alone.")
    values = [choice["value"] for choice in question.choices]
    if len(set(values)) != len(values):
        raise InvalidRequest("Each choice needs a value of its own.")
    if not all(choice["label"].strip() for choice in question.choices):
        raise InvalidRequest("A label needs a visible character.")
    return [
        {name: choice[name] for name in ("value", "label", "description") if choice.get(name) is not None}
        for choice in question.choices
    ]


def _timeout(timeout_s: float) -> timedelta:
    if not (math.isfinite(timeout_s) and 0 < timeout_s <= MAX_TIMEOUT_S):
        raise InvalidRequest(f"timeout_s must be more than 0 and at most {MAX_TIMEOUT_S}.")
    return timedelta(seconds=timeout_s)


def _require_target(scope: Scope, target: Actor) -> None:
    kind, key = target
    if not kind:
        return
    found = Member.objects.filter(workspace_id=scope.workspace_id, actor_kind=kind, actor_key=key).first()
    if found is None or not found.active or not found.is_person or not _may_write(found, scope):
        raise InvalidRequest("target must be a person who may write in this conversation.", target=f"{kind}/{key}")


def _may_write(member: Member, scope: Scope) -> bool:
    try:
        return member_scope(member, scope).may_post
    except NotFound:
        return False
