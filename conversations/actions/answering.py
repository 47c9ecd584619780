"""Answering a card: the reply and the question's end are one transaction, under the lock of their conversation.

Whoever comes first answers. The same answer again by the same person is answered the same; every other one is told
how the card ended, and so is one that comes at the deadline or after it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.utils import timezone

from ..access import NO_MESSAGE, ScopeAccess, member_scope, require_posting, see_scope
from ..agentue import cards
from ..agentue.cards import CardStatus
from ..agentue.fingerprint import content_fingerprint
from ..agentue.values import JsonObject
from ..backpressure import require_capacity
from ..content.reading import read_content
from ..errors import Conflict, Forbidden, InvalidRequest, NotFound
from ..locking import lock_scope
from ..models import Member, Message, Scope
from ..models.message import Purpose
from ..pacing import send_pace
from ..publish import publish_on_commit
from ..transactions import in_transaction
from .append import Utterance
from .card_ends import end_card, has_run_out, lock_question
from .speaking import speak

MAX_TEXT_CHARS = 4000
"""Of an answer in one's own words."""


@dataclass(frozen=True, slots=True)
class Answered:
    question: Message
    reply: Message


@dataclass(frozen=True, slots=True)
class _Answer:
    question_id: UUID
    outcome: CardStatus
    value: str | None


def answer(*, user: Any, scope_id: UUID, question_id: UUID, outcome: str, value: str | None = None) -> Answered:
    """Answer a pending card with one of its values (`success`), or say that one will not (`dismissed`).

    400 for what the card does not ask, 403 for agents and for others than its target, 404, 409 once the card has ended
    (its `status`, `value` and `deadline` are in the fields) and like `send_message`.
    """
    access = see_scope(user, scope_id)
    require_capacity(access.scope.workspace_id)
    send_pace().take(access.member.id)
    given = _Answer(question_id, _outcome(outcome, value), value)
    done = _answer(access, given)
    if isinstance(done, Conflict):  # only now: a card that had run out was ended in that transaction
        raise done
    return done


@in_transaction
def _answer(seen: ScopeAccess, given: _Answer) -> Answered | Conflict:
    scope = lock_scope(seen.scope.workspace_id, seen.scope.id)
    access = member_scope(seen.member, scope)
    question = lock_question(scope, given.question_id)
    if question is None:
        raise NotFound(NO_MESSAGE)
    if question.purpose != Purpose.HUMAN_REQUEST:
        raise InvalidRequest("This message asks nothing.", reply_to_id=str(question.id))
    model = read_content(question)
    card = cards.card_of(model)
    _require_asked(access.member, card)
    if has_run_out(question, timezone.now()):
        publish_on_commit([end_card(scope, question, model, CardStatus.TIMEOUT)])
        return _over(cards.card_of(read_content(question)))
    if card["status"] != CardStatus.PENDING:
        return _again(scope, access.member, question, card, given)
    require_posting(access)
    _require_asked_for(card, given)
    said = Utterance(
        author=access.member,
        actor=(access.member.actor_kind, access.member.actor_key),
        content=cards.reply_model(card, given.outcome, given.value),
        target=(question.actor_kind, question.actor_key),
        reply_to_id=question.id,
        purpose=Purpose.HUMAN_REPLY,
        output_key=reply_key(question.id),
    )
    reply, facts = speak(access, said)
    chosen = {} if given.value is None else {"value": given.value}
    facts.append(end_card(scope, question, model, given.outcome, **chosen, answered_by=str(access.member.id)))
    publish_on_commit(facts)
    return Answered(question, reply)


def reply_key(question_id: UUID) -> str:
    """Unique, as a question has one reply at most."""
    return content_fingerprint([cards.REPLY, str(question_id)])


def _again(scope: Scope, member: Member, question: Message, card: JsonObject, given: _Answer) -> Answered | Conflict:
    same = (card["status"], card.get("value"), card.get("answered_by")) == (
        given.outcome,
        given.value,
        str(member.id),
    )
    if same:
        reply = Message.objects.defer("content").filter(scope=scope, output_key=reply_key(question.id)).first()
        if reply is not None:
            return Answered(question, reply)
    return _over(card)


def _over(card: JsonObject) -> Conflict:
    said = {name: card[name] for name in ("status", "value", "reason", "deadline") if name in card}
    return Conflict(f"This question is not open any more ({card['status']}).", **said)


def _outcome(outcome: str, value: str | None) -> CardStatus:
    if outcome not in cards.ANSWERS:
        raise InvalidRequest(f"outcome must be one of {', '.join(cards.ANSWERS)}.", outcome=outcome[:40])
    if (outcome == CardStatus.SUCCESS) != (value is not None):
        raise InvalidRequest("An answer has a value, and a dismissal has none.", outcome=outcome)
    if value is not None and len(value) > MAX_TEXT_CHARS:
        raise InvalidRequest(f"value may have at most {MAX_TEXT_CHARS} characters.")
    return CardStatus(outcome)


def _require_asked(member: Member, card: JsonObject) -> None:
    if not member.is_person:
        raise Forbidden("Only people answer questions.")
    target = card["target"]
    if target is not None and (target["kind"], target["key"]) != (member.actor_kind, member.actor_key):
        raise Forbidden("This question is asked of somebody else.")


def _require_asked_for(card: JsonObject, given: _Answer) -> None:
    if given.value is None or cards.label_of(card, given.value) is not None:
        return
    if not card["allow_other"]:
        raise InvalidRequest("value must be one of those that the question offers.", value=given.value[:80])
    if not given.value.strip():
        raise InvalidRequest("value must say something.")
