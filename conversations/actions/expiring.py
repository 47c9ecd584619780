"""Open messages whose writer was not heard of for `LOOPD_MESSAGE_TTL`: they become `expired`.

Only status and revision change; the body and the time of the last output stay as they were left.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.utils import timezone

from ..delivery.announcing import announcer
from ..errors import Refusal
from ..events import MessageUpdated
from ..locking import lock_message_alone
from ..models import Message
from ..models.message import MessageStatus
from ..publish import publish_on_commit
from ..transactions import in_transaction
from .marks import unmark

logger = logging.getLogger(__name__)

SETTLED_PER_READ = 20
"""A read settles no more than these; the sweeper does the rest soon."""


def stale_before() -> datetime:
    """Streams that were last written before this have run out."""
    return timezone.now() - timedelta(seconds=settings.LOOPD_MESSAGE_TTL_S)


def settle_expired(messages: Iterable[Message]) -> None:
    """On read: expire those among the loaded messages that have run out, and refresh their `status` and `revision`.

    No statement where none has. A busy database leaves them as they are, for the next read or the sweeper.
    """
    bound = stale_before()
    stale = [each for each in messages if each.status == MessageStatus.STREAMING and each.updated_at < bound]
    for message in stale[:SETTLED_PER_READ]:
        try:
            fresh = expire_message(message.scope.workspace_id, message.id)
        except Refusal as refused:
            logger.info("message %s is not settled now: %s", message.id, refused)
            continue
        if fresh is not None:
            message.status, message.revision, message.updated_at = fresh.status, fresh.revision, fresh.updated_at


def expire_stale(workspace_ids: Collection[UUID], limit: int) -> int:
    """At most `limit` of those workspaces, those idle for longest first; how many there were."""
    rows = Message.objects.filter(
        status=MessageStatus.STREAMING, updated_at__lt=stale_before(), scope__workspace_id__in=workspace_ids
    )
    found = list(rows.order_by("updated_at").values_list("scope__workspace_id", "id")[:limit])
    for workspace_id, message_id in found:
        try:
            expire_message(workspace_id, message_id)
        except Refusal as refused:
            logger.info("message %s is not expired now: %s", message_id, refused)
    return len(found)


def expire_message(workspace_id: UUID, message_id: UUID) -> Message | None:
    """The message as it is afterwards: expired, unless somebody wrote into it meanwhile. None where it is gone."""
    message = _expire(workspace_id, message_id)
    if (
        message is not None
        and message.status == MessageStatus.EXPIRED
        and message.dispatch_pending
        and announcer().ended(message.id, message.revision, message.status)
    ):
        unmark(message_id)
    return message


@in_transaction
def _expire(workspace_id: UUID, message_id: UUID) -> Message | None:
    message = lock_message_alone(workspace_id, message_id)
    if message is None or message.status != MessageStatus.STREAMING or message.updated_at >= stale_before():
        return message
    message.status = MessageStatus.EXPIRED
    message.revision += 1
    message.save(update_fields=["status", "revision"])
    publish_on_commit([MessageUpdated(workspace_id, message.scope_id, message.id)])
    return message
