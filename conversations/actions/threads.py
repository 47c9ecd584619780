"""Threads: one for a root message, for ever."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from ..access import NO_MESSAGE, ScopeAccess, require_posting, see_message
from ..backpressure import require_capacity
from ..errors import Conflict, InvalidRequest, NotFound
from ..events import Fact, MessageUpdated
from ..locking import lock_scope
from ..models import Member, Membership, Message, Scope
from ..models.membership import MembershipStatus
from ..models.scope import ScopeType
from ..publish import publish_on_commit
from ..transactions import in_transaction
from .creation import create_scope, thread_identity


def open_thread(*, user: Any, message_id: UUID) -> tuple[Scope, bool]:
    """The thread of a message, and whether it is new. Its first members are the root's author and the opener.

    Looking at an existing thread joins nobody; writing in it does.
    """
    access, root = see_message(user, message_id)
    if access.scope.type == ScopeType.THREAD:
        raise InvalidRequest("There are no threads in threads; reply in this one.")
    if (found := _thread_of(access.scope, message_id)) is not None:
        return found, False
    require_posting(access)
    require_capacity(access.scope.workspace_id)
    return _open(access, root)


@in_transaction
def _open(access: ScopeAccess, root: Message) -> tuple[Scope, bool]:
    """The parent's lock makes the second of two openers find the first one's thread."""
    parent = lock_scope(access.scope.workspace_id, access.scope.id)
    if (found := _thread_of(parent, root.id)) is not None:
        return found, False
    if not parent.active:
        raise Conflict("This conversation is archived.")
    if Message.objects.filter(id=root.id).values_list("id").first() is None:
        raise NotFound(NO_MESSAGE)
    thread, facts = create_scope(
        access.member,
        _first_members(parent, access.member, root.author),
        type=ScopeType.THREAD,
        parent_scope=parent,
        root_message_id=root.id,
        identity_key=thread_identity(root.id),
        visibility=parent.visibility,
    )
    published: list[Fact] = [*facts, MessageUpdated(parent.workspace_id, parent.id, root.id)]
    publish_on_commit(published)
    return thread, True


def _thread_of(parent: Scope, message_id: UUID) -> Scope | None:
    return Scope.objects.filter(workspace_id=parent.workspace_id, identity_key=thread_identity(message_id)).first()


def _first_members(parent: Scope, opener: Member, author: Member) -> list[Member]:
    """As far as they are active in the parent, whose lock keeps that so."""
    people = {member.id: member for member in (author, opener) if member.active}
    active = Membership.objects.filter(
        scope=parent, member_id__in=people, status=MembershipStatus.ACTIVE, visible=True
    ).values_list("member_id", flat=True)
    return [people[member_id] for member_id in people if member_id in set(active)]
