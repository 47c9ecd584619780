"""Which logins still stand: for connections that outlive the request that admitted them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable
from typing import Any, TypeVar
from uuid import UUID

from django.contrib.sessions.models import Session
from django.utils import timezone

from ..models import ApiToken, Member
from ..models.workspace import MemberStatus

_CHUNK = 500
Key = TypeVar("Key", bound=Hashable)


def live_tokens(token_ids: Collection[UUID]) -> set[UUID]:
    """Not revoked, of a user who may log in. One statement for 500."""
    return _in_chunks(
        token_ids,
        lambda some: ApiToken.objects.filter(id__in=some, revoked_at=None, user__is_active=True).values_list("id"),
    )


def live_sessions(session_keys: Collection[str]) -> set[str]:
    """Neither logged out nor run out. One statement for 500."""
    return _in_chunks(
        session_keys,
        lambda some: Session.objects.filter(session_key__in=some, expire_date__gt=timezone.now()).values_list("pk"),
    )


def live_members(member_ids: Collection[UUID]) -> set[UUID]:
    """Active, of a user who may log in. One statement for 500."""
    return _in_chunks(
        member_ids,
        lambda some: Member.objects.filter(id__in=some, status=MemberStatus.ACTIVE, user__is_active=True).values_list(
            "id"
        ),
    )


def _in_chunks(keys: Collection[Key], found: Callable[[list[Key]], Any]) -> set[Key]:
    listed = list(keys)
    live: set[Key] = set()
    for start in range(0, len(listed), _CHUNK):
        live |= {row[0] for row in found(listed[start : start + _CHUNK])}
    return live
