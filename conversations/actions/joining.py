"""Joining, adding, leaving and removing: the verbs behind a scope's list of members."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.db import transaction

from .. import activity_types
from ..access import ScopeAccess, require_managing, require_open, require_posting, see_scope
from ..backpressure import require_capacity
from ..errors import Conflict, InvalidRequest, NotFound
from ..events import ConversationUpdated, Fact, MembershipChanged
from ..locking import lock_scope, lock_scopes
from ..models import Member, Membership, Scope
from ..models.membership import MembershipStatus
from ..models.scope import ScopeType
from ..publish import publish_on_commit
from ..transactions import in_transaction
from .activity import append_activity
from .memberships import begin_membership, end_memberships, join_thread_members

MAX_ATTEMPTS = 5
NO_MEMBER = "This workspace has no such member."


def add_to_scope(*, user: Any, scope_id: UUID, member_id: UUID | None = None) -> tuple[Scope, bool]:
    """Join oneself (the default) or add a member of the workspace; the flag says whether that changed anything."""
    access = see_scope(user, scope_id)
    require_capacity(access.scope.workspace_id)
    target = access.member if member_id is None else _member(access, member_id)
    _require_roster(access.scope)
    _require_may_add(access, target)
    return _add(access, target)


def remove_from_scope(*, user: Any, scope_id: UUID, member_id: UUID) -> bool:
    """Leave, or take somebody out, with their places in its threads. False where they were not in it."""
    access = see_scope(user, scope_id)
    require_capacity(access.scope.workspace_id)
    target = _member(access, member_id)
    _require_roster(access.scope)
    if target.id != access.member.id:
        require_managing(access)
    for _ in range(MAX_ATTEMPTS):
        ended = _end(access.scope, access.member, target)
        if ended is not None:
            return ended
    raise Conflict("This member keeps joining threads here; try again.")


def _member(access: ScopeAccess, member_id: UUID) -> Member:
    found = Member.objects.filter(workspace_id=access.scope.workspace_id, id=member_id).first()
    if found is None:
        raise NotFound(NO_MEMBER)
    return found


def _require_roster(scope: Scope) -> None:
    if scope.type == ScopeType.DM:
        raise InvalidRequest("The members of a direct conversation never change.")
    if scope.type == ScopeType.CONVERSATION and scope.parent_scope_id is not None:
        raise InvalidRequest("A process conversation has no members; whoever sees its parent sees it.")


def _require_may_add(access: ScopeAccess, target: Member) -> None:
    """One joins a public channel by oneself; everything else takes somebody who may write there."""
    if not target.active:
        raise Conflict("This member is deactivated.")
    itself = target.id == access.member.id
    if itself and access.parent is None:
        require_open(access)
    else:
        require_posting(access)


@in_transaction
def _add(access: ScopeAccess, target: Member) -> tuple[Scope, bool]:
    scope = lock_scope(access.scope.workspace_id, access.scope.id)
    if not scope.active:
        raise Conflict("This conversation is archived.")
    facts = _begin(scope, access.member, target)
    publish_on_commit(facts)
    return scope, bool(facts)


def _begin(scope: Scope, actor: Member, target: Member) -> list[Fact]:
    """The notice comes first, so that the newcomer's activity cursor is past it."""
    if Membership.objects.filter(scope=scope, member=target, status=MembershipStatus.ACTIVE, visible=True).exists():
        return []
    noticed = _notice(scope, actor, target, activity_types.MEMBER_JOINED)
    begun: MembershipChanged | None
    if scope.type == ScopeType.THREAD:
        begun = next(iter(join_thread_members(scope, [target], scope.latest_seq + 1)), None)
        if begun is None:
            raise Conflict("Only members of the conversation around this thread can be in it.")
    else:
        begun = begin_membership(scope, target)
        if begun is None:
            raise Conflict("This member is deactivated.")
    return [begun, noticed, ConversationUpdated(scope.workspace_id, scope.id, members_changed=(target.id,))]


@in_transaction
def _end(scope: Scope, actor: Member, target: Member) -> bool | None:
    """None: a thread was joined while the locks were taken. Roll nothing forward and look again."""
    threads = _threads_with(scope, target)
    locked = lock_scopes(scope.workspace_id, [scope.id, *threads])
    above = locked.pop(scope.id)
    ended = end_memberships([above], target)
    if _threads_with(scope, target) - threads:
        # Nobody can join another one now that the place above is changed, but one was joined before.
        transaction.set_rollback(True)
        return None
    ended += end_memberships(list(locked.values()), target)
    if not ended:
        return False
    facts: list[Fact] = list(ended)
    if ended[0].scope_id == above.id:
        facts.append(_notice(above, actor, target, activity_types.MEMBER_LEFT))
    for fact in ended:
        facts.append(ConversationUpdated(scope.workspace_id, fact.scope_id, members_changed=(target.id,)))
    publish_on_commit(facts)
    return True


def _threads_with(scope: Scope, member: Member) -> set[UUID]:
    return set(
        Membership.objects.filter(
            member=member,
            status=MembershipStatus.ACTIVE,
            scope__parent_scope_id=scope.id,
            scope__type=ScopeType.THREAD,
        ).values_list("scope_id", flat=True)
    )


def _notice(scope: Scope, actor: Member, target: Member, activity_type: str) -> Fact:
    return append_activity(
        scope, actor, activity_type, ref_type="member", ref=str(target.id), payload={"member_id": str(target.id)}
    )
