"""Targeted task attention: whom an event of a task is for, frozen with the event in its own transaction.

A message is for the task's watchers, its assignee and whom it mentions; an activity for watchers and assignee; never
for who acted (seed section 8.0). Only explicit watching is stored: being assigned or mentioned is a matter of one
event. What is frozen here is accounted, protected and woken by the outbox's worker alone. The scope is locked.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from .. import activity_types
from ..activity_types import is_high_signal
from ..events import Fact
from ..ids import new_id
from ..models import Member, Membership, Message, NotificationSetting, Scope, Task, TaskAttentionOutbox
from ..models.membership import MembershipStatus
from ..models.workspace import MemberStatus
from ..visibility import is_human_visible
from .activity import append_activity
from .inbox import enter_inboxes
from .memberships import begin_memberships

MAX_WATCHERS = 1000


@dataclass(frozen=True, slots=True)
class Audience:
    people: tuple[Member, ...]
    agents: tuple[Member, ...]

    @property
    def ids(self) -> tuple[UUID, ...]:
        """Of the people, whose counts wait for the outbox's worker."""
        return tuple(member.id for member in self.people)


def audience(task: Scope, besides: Collection[UUID], mentioned: Iterable[UUID] = ()) -> Audience:
    """Whom an event is for: two statements. Who left the task watches it no more; deactivated members are nobody."""
    wanted = set(mentioned)
    wanted.update(Task.objects.filter(scope=task, assignee__isnull=False).values_list("assignee_id", flat=True))
    left = Membership.objects.filter(scope=task, status=MembershipStatus.LEFT).values("member_id")
    watching = NotificationSetting.objects.filter(scope=task, watch=True).exclude(member_id__in=left)
    wanted.update(watching.values_list("member_id", flat=True))
    wanted.difference_update(besides)
    if not wanted:
        return Audience((), ())
    members = list(Member.objects.filter(id__in=wanted, status=MemberStatus.ACTIVE).order_by("id"))
    return Audience(
        tuple(member for member in members if member.is_person),
        tuple(member for member in members if not member.is_person),
    )


def begin_audience(task: Scope, given: Audience) -> list[Fact]:
    """Memberships for the people who have none, from the event on that comes next."""
    return list(begin_memberships(task, given.people))


def attend_message(task: Scope, message: Message, given: Audience, mentions: Sequence[UUID]) -> list[Fact]:
    """Freeze a stored message with its recipients, and show it in their inboxes. Hidden messages are for nobody.

    The activity that goes with it, for the caller to publish, counts for nobody: its message does.
    """
    if not is_human_visible(message.message_type):
        return []
    paired = append_activity(
        task, message.author, activity_types.DISCUSSION_ADDED, ref_type="message", ref=str(message.id)
    )
    payload = {
        "seq": message.seq,
        "message_id": str(message.id),
        "author": str(message.author_id),
        "principal": str(message.notify_principal_id),
        "mentions": [str(member_id) for member_id in mentions],
        "counts": not message.silent,
        "rewind_generation": task.rewind_generation,
        "activity_seq": paired.seq,
    }
    _freeze(task, message.id, "message", payload, given)
    enter_inboxes(task, [(member.id, "mention" if member.id in mentions else "message") for member in given.people])
    return [paired]


def attend_activity(
    task: Scope,
    actor: Member,
    activity_type: str,
    *,
    ref_type: str = "task_event",
    ref: str = "",
    payload: dict[str, Any] | None = None,
) -> list[Fact]:
    """Store an activity and freeze it with its recipients; the caller publishes the returned facts.

    Low signals are stored and are for nobody.
    """
    given = audience(task, [actor.id]) if is_high_signal(activity_type) else Audience((), ())
    facts = begin_audience(task, given)
    stored = append_activity(task, actor, activity_type, ref_type=ref_type, ref=ref, payload=payload)
    if is_high_signal(activity_type):
        frozen = {"activity_seq": stored.seq, "type": activity_type, "author": str(actor.id)}
        _freeze(task, stored.activity_id, "activity", frozen, given)
        enter_inboxes(task, [(member.id, activity_type) for member in given.people])
        stored = replace(stored, recipients=given.ids)
    return [*facts, stored]


def withdraw(task: Scope, changes: Sequence[dict[str, Any]], message_ids: Sequence[UUID]) -> tuple[UUID, ...]:
    """Freeze that messages were removed or mention others now, and answer for whom they had been frozen.

    `task` holds the generation.

    `changes`: `withdrawn` of each message, in the order of `message_ids`.
    """
    rows = TaskAttentionOutbox.objects.filter(event_id__in=message_ids)
    frozen: dict[UUID, list[str]] = dict(rows.values_list("event_id", "human_recipients"))
    each = [
        {**change, "recipients": frozen.get(message_id, [])}
        for change, message_id in zip(changes, message_ids, strict=True)
    ]
    payload = {"changes": each, "rewind_generation": task.rewind_generation}
    everybody = sorted({who for people in frozen.values() for who in people})
    _write(task, new_id(), "removal", payload, everybody, [])
    return tuple(UUID(who) for who in everybody)


def withdrawn(
    message: Message, mentions: Sequence[UUID], mentions_after: Sequence[UUID] | None = None
) -> dict[str, Any]:
    """What a removal says of one message as it counted; after an edit also whom it mentions now."""
    said: dict[str, Any] = {
        "seq": message.seq,
        "author": str(message.author_id),
        "principal": str(message.notify_principal_id),
        "counts": is_human_visible(message.message_type) and not message.silent,
        "mentions": [str(member_id) for member_id in mentions],
    }
    if mentions_after is not None:
        said["mentions_after"] = [str(member_id) for member_id in mentions_after]
    return said


def _freeze(task: Scope, event_id: UUID, kind: str, payload: dict[str, Any], given: Audience) -> None:
    agents = [
        {"kind": member.actor_kind, "key": member.actor_key, "member_id": str(member.id)} for member in given.agents
    ]
    _write(task, event_id, kind, payload, [str(member.id) for member in given.people], agents)


def _write(
    task: Scope, event_id: UUID, kind: str, payload: dict[str, Any], people: list[str], agents: list[dict[str, str]]
) -> None:
    last = TaskAttentionOutbox.objects.filter(scope=task).order_by("-order").values_list("order", flat=True).first()
    TaskAttentionOutbox.objects.create(
        id=new_id(),
        workspace_id=task.workspace_id,
        scope=task,
        event_id=event_id,
        order=(last or 0) + 1,
        kind=kind,
        payload=payload,
        human_recipients=people,
        agent_recipients=agents,
    )
