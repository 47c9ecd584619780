"""Imported threads: made with their members under the parent's lock, then appended to like any scope."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from uuid import UUID

from ..actions.creation import thread_identity
from ..actions.memberships import begin_memberships
from ..ids import new_id
from ..locking import lock_scope, lock_scopes
from ..models import Member, Membership, Scope
from ..models.membership import MembershipStatus
from ..models.scope import ScopeType
from ..transactions import in_transaction
from .entries import Entry
from .writing import Written, append


@in_transaction
def append_replies(
    workspace_id: UUID, parent_id: UUID, replies: Mapping[UUID, Sequence[Entry]], root_authors: Mapping[UUID, UUID]
) -> tuple[list[Written], int, int]:
    """Append the entries of each root message's thread; also how many threads and memberships were made.

    `root_authors`: the member who wrote each root. A thread's members are that author, who wrote in it and who is
    mentioned in it, as far as they are active in the parent.
    """
    parent = lock_scope(workspace_id, parent_id)
    found = _threads(workspace_id, replies)
    missing = [root for root in replies if root not in found]
    _make(parent, missing, root_authors)
    locked = lock_scopes(workspace_id, [*found.values(), *_threads(workspace_id, missing).values()])
    by_root = {scope.root_message_id: scope for scope in locked.values()}
    welcome = _active(parent)
    written, memberships = [], 0
    for root, entries in replies.items():
        thread = by_root[root]
        people = {root_authors[root], *(entry.author.member_id for entry in entries)}
        people |= {member_id for entry in entries for member_id in entry.mentions}
        memberships += _join(thread, people & welcome)
        written.append(append(thread, entries))
    return written, len(missing), memberships


def _threads(workspace_id: UUID, roots: Collection[UUID]) -> dict[UUID, UUID]:
    """Root message id to thread id."""
    keys = {thread_identity(root): root for root in roots}
    rows = Scope.objects.filter(workspace_id=workspace_id, identity_key__in=keys).values_list("identity_key", "id")
    return {keys[key]: scope_id for key, scope_id in rows if key is not None}


def _make(parent: Scope, roots: Sequence[UUID], root_authors: Mapping[UUID, UUID]) -> None:
    Scope.objects.bulk_create(
        Scope(
            id=new_id(),
            workspace_id=parent.workspace_id,
            type=ScopeType.THREAD,
            created_by_id=root_authors[root],
            parent_scope=parent,
            root_message_id=root,
            identity_key=thread_identity(root),
            visibility=parent.visibility,
        )
        for root in roots
    )


def _active(parent: Scope) -> set[UUID]:
    rows = Membership.objects.filter(scope=parent, status=MembershipStatus.ACTIVE, visible=True)
    return set(rows.values_list("member_id", flat=True))


def _join(thread: Scope, member_ids: set[UUID]) -> int:
    """Those who have no row here yet; who left stays away."""
    known = Membership.objects.filter(scope=thread, member_id__in=member_ids).values_list("member_id", flat=True)
    strangers = member_ids - set(known)
    if not strangers:
        return 0
    return len(begin_memberships(thread, list(Member.objects.filter(id__in=strangers))))
