"""The mark of streams that may have to be told again (`dispatch_pending`).

It is set with the row of an open message and taken away once its end was told, so it costs one statement a stream. In
between, what this process told is remembered in memory; a process that came after a crash remembers nothing, and tells
the state of every marked stream once.
"""

from __future__ import annotations

import logging
from collections.abc import Collection
from datetime import timedelta
from uuid import UUID

from django.db import OperationalError
from django.utils import timezone

from ..delivery.announcing import announcer
from ..models import Message
from ..models.message import MessageStatus

logger = logging.getLogger(__name__)

GRACE_S = 2.0
"""Whoever wrote so recently is about to tell it himself."""


def unmark(message_id: UUID) -> None:
    """The end of a stream was told: nothing is left to repair. Where the database is busy the sweeper unmarks."""
    try:
        Message.objects.filter(id=message_id).update(dispatch_pending=False)
    except OperationalError as error:
        logger.info("message %s keeps its mark for now: %s", message_id, error)
    else:
        announcer().forget(message_id)


def tell_again(workspace_ids: Collection[UUID], *, after: UUID | None, limit: int) -> UUID | None:
    """Look at `limit` marked messages of these workspaces and tell the state of those that may not have been told.

    One statement, and one more for each stream that has ended. Returns where to go on, None at the end.
    """
    marked = Message.objects.filter(dispatch_pending=True, scope__workspace_id__in=workspace_ids)
    if after is not None:
        marked = marked.filter(id__gt=after)
    rows = list(marked.order_by("id").values_list("id", "revision", "status", "updated_at")[:limit])
    recent = timezone.now() - timedelta(seconds=GRACE_S)
    for message_id, revision, status, updated_at in rows:
        open_still = status == MessageStatus.STREAMING
        if updated_at > recent or (open_still and (revision == 0 or announcer().has_told(message_id, revision))):
            continue
        if announcer().changed(message_id, revision) and not open_still:
            unmark(message_id)
    return rows[-1][0] if len(rows) == limit else None
