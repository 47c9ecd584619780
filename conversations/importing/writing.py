"""Entries appended to one scope in bulk, in the caller's transaction and under the scope's lock.

The same order and the same counters as a send gives, a few statements for a whole batch. Everything is silent: it is
visible and never unread. Whoever had read a scope to its end has read it to its new end; nobody else's cursor moves.
No fact is published: the process that imports holds the workspace's lease, so no memory of the workspace lives
anywhere, and whoever owns it next starts from what is written here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import F
from django.utils import timezone

from ..content.bulk import create_contents
from ..ids import id_ms, new_id
from ..models import Activity, Membership, Message, MessageMention, MessageReaction, Scope
from ..models.membership import MembershipStatus
from .entries import REF_TYPE, Entry

ROWS = 500
"""Rows of one INSERT statement, as far as the database takes them."""


@dataclass(frozen=True, slots=True)
class Written:
    ids: dict[str, UUID]
    """Message ids by entry key."""
    messages: int
    activities: int
    reactions: int
    late: int
    """Messages older than what was there: they stand behind it."""


def append(scope: Scope, entries: Sequence[Entry]) -> Written:
    """`scope` is locked; `entries` are in order of time."""
    seq, activity_seq = scope.latest_seq, scope.latest_activity_seq
    said = [entry for entry in entries if entry.content is not None]
    happened = [entry for entry in entries if entry.content is None]
    messages, late = _messages(scope, said)
    create_contents(zip(messages, (entry.content or {} for entry in said), strict=True))
    MessageMention.objects.bulk_create(
        (
            MessageMention(message_id=message.id, member_id=member_id)
            for message, entry in zip(messages, said, strict=True)
            for member_id in entry.mentions
        ),
        batch_size=ROWS,
    )
    reactions = MessageReaction.objects.bulk_create(
        (
            MessageReaction(message_id=message.id, emoji=emoji, member_id=member_id)
            for message, entry in zip(messages, said, strict=True)
            for emoji, member_id in entry.reactions
        ),
        batch_size=ROWS,
    )
    Activity.objects.bulk_create(_activities(scope, happened), batch_size=ROWS)
    _save(scope, messages)
    _move_along(scope, seq, activity_seq)
    ids = {entry.key: message.id for entry, message in zip(said, messages, strict=True)}
    return Written(ids, len(messages), len(happened), len(reactions), late)


def _messages(scope: Scope, entries: Sequence[Entry]) -> tuple[list[Message], int]:
    made: list[Message] = []
    late = 0
    for entry in entries:
        if scope.last_message_id is not None and entry.stamp.ms < id_ms(scope.last_message_id):
            late += 1
        scope.latest_seq += 1
        scope.last_message_id = new_id(ms=entry.stamp.ms, after=scope.last_message_id)
        made.append(
            Message(
                id=scope.last_message_id,
                scope_id=scope.id,
                seq=scope.latest_seq,
                author_id=entry.author.member_id,
                notify_principal_id=entry.author.member_id,
                actor_kind=entry.author.actor[0],
                actor_key=entry.author.actor[1],
                silent=True,
                client_message_id=entry.key,
                revision=1 if entry.edited_at else 0,
                created_at=entry.stamp.at,
                updated_at=entry.edited_at or entry.stamp.at,
                edited_at=entry.edited_at,
            )
        )
    return made, late


def _activities(scope: Scope, entries: Sequence[Entry]) -> list[Activity]:
    made = []
    for entry in entries:
        scope.latest_activity_seq += 1
        made.append(
            Activity(
                id=new_id(ms=entry.stamp.ms),
                scope_id=scope.id,
                seq=scope.latest_activity_seq,
                type=entry.activity,
                ref_type=REF_TYPE,
                ref=entry.key,
                actor_id=entry.author.member_id,
                payload=entry.payload or {},
                created_at=entry.stamp.at,
            )
        )
    return made


def _save(scope: Scope, messages: Sequence[Message]) -> None:
    scope.visible_message_count += len(messages)
    last = max((message.created_at for message in messages), default=None)
    if last is not None:
        scope.visible_last_message_at = max(scope.visible_last_message_at or last, last)
    scope.save(
        force_update=True,
        update_fields=[
            "latest_seq",
            "latest_activity_seq",
            "last_message_id",
            "visible_message_count",
            "visible_last_message_at",
            "updated_at",
        ],
    )


def _move_along(scope: Scope, seq: int, activity_seq: int) -> None:
    active = Membership.objects.filter(scope_id=scope.id, status=MembershipStatus.ACTIVE)
    now = timezone.now()
    if scope.latest_seq > seq:
        active.filter(last_read_seq=seq).update(
            last_read_seq=scope.latest_seq, read_generation=F("read_generation") + 1, updated_at=now
        )
    if scope.latest_activity_seq > activity_seq:
        active.filter(last_activity_read_seq=activity_seq).update(
            last_activity_read_seq=scope.latest_activity_seq, read_generation=F("read_generation") + 1, updated_at=now
        )
