"""Human cards: those that wait for a person, and how one stands."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from ..agentue.cards import card_of
from ..content.reading import read_content
from ..models import Member, Membership, Message, Scope
from ..models.membership import MembershipStatus
from ..models.message import Purpose
from ..models.scope import ScopeStatus, ScopeType

Place = tuple[datetime, UUID]


def cards_to_answer(member: Member, after: Place | None, limit: int) -> list[Message]:
    """At most `limit` pending questions that the member may answer now, the most urgent first; none for an agent.

    They are asked where he may write, of everybody or of him. `after`: deadline and id of the last one of the page
    before. One statement, by the index of deadlines.
    """
    if not member.is_person:
        return []
    here = Exists(_places(member).filter(id=OuterRef("scope_id")))
    questions = Message.objects.defer("content").filter(
        here,
        Q(target_kind="") | Q(target_kind=member.actor_kind, target_key=member.actor_key),
        purpose=Purpose.HUMAN_REQUEST,
        human_due_at__gt=timezone.now(),
    )
    if after is not None:
        at, message_id = after
        later = Q(human_due_at__gt=at) | Q(human_due_at=at, id__gt=message_id)
        questions = questions.filter(later, human_due_at__gte=at)
    return list(questions.order_by("human_due_at", "id")[:limit])


def card_state(question: Message) -> dict[str, Any]:
    """Its state without the question; one statement."""
    card = card_of(read_content(question))
    return {name: card[name] for name in ("status", "value", "reason", "answered_by", "deadline") if name in card}


def _places(member: Member) -> QuerySet[Scope]:
    """The open conversations of the workspace in which a person may write (`ScopeAccess.may_post`)."""
    here, above = _joined(member, "id"), _joined(member, "parent_scope_id")
    inside = Q(type=ScopeType.THREAD) | Q(parent_scope__created_by=member)
    return Scope.objects.filter(
        Q(type=ScopeType.TASK) | Q(here, parent_scope=None) | Q(Q(above), inside),
        Q(parent_scope=None) | Q(parent_scope__status=ScopeStatus.ACTIVE),
        workspace_id=member.workspace_id,
        status=ScopeStatus.ACTIVE,
    )


def _joined(member: Member, scope_id: str) -> Exists:
    return Exists(
        Membership.objects.filter(member=member, scope=OuterRef(scope_id), status=MembershipStatus.ACTIVE, visible=True)
    )
