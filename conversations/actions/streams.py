"""Streaming into an open message: one event, one transaction, then its announcement.

An event locks its message and nothing else, so writers of one conversation do not wait for each other; that this
process still owns the workspace is proven by the locking statement. Nothing here touches the scope: a message counts
once, when it is created, and events neither mention nor move anybody.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.utils import timezone

from ..access import NO_MESSAGE, ScopeAccess, require_posting, see_message
from ..agentue.chat import parse_chat_event
from ..agentue.errors import AgentUEError
from ..agentue.events import Event, Op
from ..agentue.fingerprint import event_fingerprint
from ..content.refusals import refusal
from ..content.store import apply_event, stored_error
from ..delivery.announcing import announcer
from ..errors import Conflict, Forbidden, InvalidRequest, NotFound
from ..events import MessageUpdated
from ..locking import lock_message_alone
from ..models import HarnessRun, Message
from ..models.message import MessageStatus
from ..publish import publish_on_commit
from ..transactions import in_transaction
from .composing import TERMINAL
from .expiring import settle_expired
from .marks import unmark


@dataclass(frozen=True, slots=True)
class Emitted:
    id: UUID
    revision: int


def emit_event(*, user: Any, message_id: UUID, event: Any, status: str | None = None) -> Emitted:
    """Apply one event to the caller's own open message. The same event again is answered the same, without a write.

    `status` goes with `end` alone: a terminal status, by default completed, or failed where the content holds an
    error. Also in a conversation that was archived meanwhile: what was begun before may be brought to its end.

    409 names `expected_seq` (None after the end) for a gap, for another event under a seq that is taken, and for
    everything after the end. 403 for others than the author, 400 and 413 for what cannot be applied.
    """
    access, message = see_message(user, message_id)
    if message.author_id != access.member.id:
        raise Forbidden("Only its author may write into a message.")
    if not access.may_post:
        require_posting(access)
    if HarnessRun.objects.filter(message_id=message_id).exists():
        raise Conflict("The output of a harness run is written by its run alone.")
    parsed = _parse(event, status)
    settle_expired([message])
    written = _emit(access, message_id, parsed, status)
    if parsed.op is not Op.PING:
        announce(written, parsed)
    return Emitted(written.id, written.revision)


def write_event(message: Message, event: Event, status: str | None = None) -> bool:
    """Apply `event` to a message that this transaction holds; False where it was applied before.

    The caller announces it after the commit. Refuses like `emit_event`.
    """
    fingerprint = event_fingerprint(event, status)
    if event.op is Op.PING:
        _require_ping(message, event)
        return False
    if event.seq == message.revision and fingerprint == message.last_event_fingerprint:
        return False
    _require_next(message, event)
    if event.op is Op.END:
        message.status = status or (MessageStatus.FAILED if stored_error(message) else MessageStatus.COMPLETED)
    message.revision = event.seq
    message.updated_at = timezone.now()
    message.last_event_fingerprint = fingerprint
    apply_event(message, event, save=["revision", "status", "updated_at", "last_event_fingerprint"])
    return True


def announce(message: Message, event: Event) -> None:
    """After the commit, also for a retry: if the first announcement was lost with its answer, this repairs it."""
    told = announcer().event(message.id, event, message.status)
    if told and event.op is Op.END:
        unmark(message.id)


@in_transaction
def _emit(access: ScopeAccess, message_id: UUID, event: Event, status: str | None) -> Message:
    message = lock_message_alone(access.scope.workspace_id, message_id)
    if message is None:
        raise NotFound(NO_MESSAGE)
    if write_event(message, event, status) and event.op is Op.END:
        publish_on_commit([MessageUpdated(access.scope.workspace_id, message.scope_id, message.id)])
    return message


def _parse(event: Any, status: str | None) -> Event:
    try:
        parsed = parse_chat_event(event)
    except AgentUEError as error:
        raise refusal(error) from None
    if status is None:
        return parsed
    if parsed.op is not Op.END:
        raise InvalidRequest("Only the end of a stream carries a status.", status=status[:40])
    if status not in TERMINAL:
        raise InvalidRequest(f"status must be one of {', '.join(TERMINAL)}.", status=status[:40])
    return parsed


def _require_next(message: Message, event: Event) -> None:
    _require_streaming(message)
    expected = message.revision + 1
    if event.seq == expected:
        return
    if event.seq > expected:
        raise Conflict(f"Events are missing: the next one has seq {expected}.", expected_seq=expected)
    raise Conflict(
        f"Another event has seq {event.seq} already: the next one has seq {expected}.", expected_seq=expected
    )


def _require_ping(message: Message, event: Event) -> None:
    _require_streaming(message)
    if event.seq != message.revision:
        raise Conflict(f"A ping repeats the latest seq, which is {message.revision}.", expected_seq=message.revision)


def _require_streaming(message: Message) -> None:
    if message.status != MessageStatus.STREAMING:
        raise Conflict(
            f"This message has ended ({message.status}); nothing more can be written into it.",
            status=message.status,
            expected_seq=None,
        )
