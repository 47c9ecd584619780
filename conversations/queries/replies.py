"""Reply summaries: the threads under a page of messages, read from their own scopes and never from messages."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from typing import Any
from uuid import UUID

from django.db.models import F, Window
from django.db.models.functions import RowNumber

from ..models import Membership, Scope
from ..models.membership import MembershipStatus
from ..models.scope import ScopeStatus, ScopeType
from .json_values import moment

PARTICIPANTS_MAX = 20
"""Faces shown for one thread, in the order of joining."""


def threads_under(parent_ids: Iterable[UUID], root_ids: Collection[UUID]) -> dict[UUID, Scope]:
    """The live thread of each root, by `scopes_parent_root_thread_idx`. One statement."""
    found = Scope.objects.filter(
        parent_scope_id__in=list(parent_ids),
        root_message_id__in=list(root_ids),
        type=ScopeType.THREAD,
        status=ScopeStatus.ACTIVE,
        archived_at=None,
    )
    return {thread.root_message_id: thread for thread in found if thread.root_message_id is not None}


def reply_summaries(scope: Scope, root_ids: Collection[UUID]) -> dict[str, dict[str, Any]]:
    """For each of these messages that has a live thread: its summary and participants. Two statements for any number,
    after the one that found the conversation."""
    threads = threads_under([scope.id], root_ids)
    people = _participants([thread.id for thread in threads.values()])
    return {
        str(root_id): {
            "conversation_id": str(thread.id),
            "visible_message_count": thread.visible_message_count,
            "visible_last_message_at": moment(thread.visible_last_message_at),
            "participants": people.get(thread.id, []),
        }
        for root_id, thread in threads.items()
    }


def _participants(thread_ids: list[UUID]) -> dict[UUID, list[str]]:
    """Each thread's first `PARTICIPANTS_MAX` members, however many there are. One statement."""
    if not thread_ids:
        return {}
    ranked = (
        Membership.objects.filter(scope_id__in=thread_ids, status=MembershipStatus.ACTIVE, visible=True)
        .annotate(nth=Window(RowNumber(), partition_by=F("scope_id"), order_by=F("id").asc()))
        .filter(nth__lte=PARTICIPANTS_MAX)
        .order_by("scope_id", "nth")
    )
    found: dict[UUID, list[str]] = defaultdict(list)
    for scope_id, member_id in ranked.values_list("scope_id", "member_id"):
        found[scope_id].append(str(member_id))
    return found
