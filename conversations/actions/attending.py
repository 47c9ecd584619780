"""The steps of one event in the task outbox: claimed, then delivered, deferred, or failed and at last dead.

Each is one conditional update. A claim is the owner's under its epoch: it frees itself when the epoch moves on, or
after a while where the owner stands still.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import F, Q, QuerySet
from django.utils import timezone

from ..ids import new_id
from ..models import ConversationConsumer, Message, TaskAttentionOutbox
from ..models.attention import OutboxStatus
from ..transactions import in_transaction

CLAIM_S = 60
DEFER_S, DEFER_MAX_S = 0.5, 30.0
FAIL_S, FAIL_MAX_S = 1.0, 60.0
MAX_ATTEMPTS = 10
"""Failures after which an event is dead."""
_ERROR_LENGTH = 500


def claim_event(event_id: UUID, epoch: int) -> UUID | None:
    """The claim's token; None where the event is claimed or settled."""
    now, token = timezone.now(), new_id()
    free = Q(claim_token=None) | Q(claim_epoch__lt=epoch) | Q(claim_expires_at__lte=now)
    waiting = TaskAttentionOutbox.objects.filter(free, id=event_id, status=OutboxStatus.PENDING)
    expires = now + timedelta(seconds=CLAIM_S)
    claimed = waiting.update(claim_token=token, claim_epoch=epoch, claim_expires_at=expires)
    return token if claimed else None


def deliver_event(event_id: UUID, token: UUID) -> bool:
    """Everything that had to be done is; False where the claim has gone to somebody else."""
    now = timezone.now()
    return _claimed(event_id, token).update(status=OutboxStatus.DELIVERED, delivered_at=now, claim_token=None) > 0


def defer_event(event: TaskAttentionOutbox, token: UUID, reason: str) -> None:
    """Something is missing that is nobody's failure: try again later, however often."""
    _claimed(event.id, token).update(
        deferrals=F("deferrals") + 1,
        not_before=_after(DEFER_S, DEFER_MAX_S, event.deferrals),
        claim_token=None,
        last_error=reason[:_ERROR_LENGTH],
    )


def fail_event(event: TaskAttentionOutbox, token: UUID, error: str) -> bool:
    """Delivery failed; answers whether that was once too often, and the event is dead."""
    dead = event.attempts + 1 >= MAX_ATTEMPTS
    _claimed(event.id, token).update(
        attempts=F("attempts") + 1,
        status=OutboxStatus.DEAD if dead else OutboxStatus.PENDING,
        not_before=_after(FAIL_S, FAIL_MAX_S, event.attempts),
        claim_token=None,
        last_error=error[:_ERROR_LENGTH],
    )
    return dead


@in_transaction
def advance_feeds(event: TaskAttentionOutbox) -> None:
    """Wake the agents an event is for: where one has a feed of the task, its end moves to the message, which is marked
    for waking. An activity wakes nobody who reads messages. Again changes nothing."""
    message_id = event.payload.get("message_id")
    if message_id is None or not event.agent_recipients:
        return
    meant, end = Q(), UUID(str(message_id))
    for agent in event.agent_recipients:
        meant |= Q(actor_kind=agent["kind"], actor_key=agent["key"])
    behind = Q(end_offset=None) | Q(end_offset__lt=end)
    feeds = ConversationConsumer.objects.filter(meant, behind, scope_id=event.scope_id)
    if feeds.update(end_offset=end):
        Message.objects.filter(id=end, wake_pending=False).update(wake_pending=True)


def _claimed(event_id: UUID, token: UUID) -> QuerySet[TaskAttentionOutbox]:
    return TaskAttentionOutbox.objects.filter(id=event_id, claim_token=token, status=OutboxStatus.PENDING)


def _after(first_s: float, longest_s: float, times: int) -> datetime:
    return timezone.now() + timedelta(seconds=min(first_s * 2 ** min(times, 20), longest_s))
