"""The one gate: how anything gets a workspace, scope or message on behalf of a user.

What a member may not see does not exist for them (`NotFound`); what they may see but not do is `Forbidden` or, where
joining would make it possible, `Conflict`. Every function first makes sure that this process owns the workspace
(`Misdirected` before any work). The rules are the table "Who may what" of the domain model.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from .errors import Conflict, Forbidden, NotFound
from .models import Member, Membership, Message, Scope, Workspace
from .models.scope import ScopeType, Visibility
from .models.workspace import KEY_LENGTH, MemberStatus
from .ownership import current_owner

NO_WORKSPACE = "This workspace does not exist."
NO_SCOPE = "This conversation does not exist."
NO_MESSAGE = "This message does not exist."


@dataclass(frozen=True, slots=True)
class ScopeAccess:
    """A scope that `member` may see, with the rows that decided it."""

    member: Member
    scope: Scope
    parent: Scope | None
    membership: Membership | None
    """The member's own row, also where it has ended."""
    parent_membership: Membership | None

    @property
    def joined(self) -> bool:
        return self.membership is not None and self.membership.active and self.membership.visible

    @property
    def archived(self) -> bool:
        return not self.scope.active or (self.parent is not None and not self.parent.active)

    @property
    def manages(self) -> bool:
        """Creator or admin: may rename, archive, restore, rewind, remove others."""
        return self.member.is_admin or self.scope.created_by_id == self.member.id

    @property
    def may_post(self) -> bool:
        return _may_post(self)


def workspace_member(user: Any, workspace_id: UUID, *, needs_owner: bool = True) -> Member:
    """The user's active member of a workspace, `workspace` loaded with it.

    `needs_owner=False` is for management surfaces (workspace list, rename) that any process may serve.
    """
    member = (
        Member.objects.select_related("workspace", "user")
        .filter(workspace_id=workspace_id, user=user, status=MemberStatus.ACTIVE)
        .first()
    )
    if member is None:
        raise NotFound(NO_WORKSPACE)
    if needs_owner:
        current_owner().require(workspace_id)
    return member


def workspaces_of(user: Any) -> Any:
    """Queryset of the workspaces in which the user is an active member, by name."""
    return Workspace.objects.filter(members__user=user, members__status=MemberStatus.ACTIVE).order_by("name", "id")


def require_admin(member: Member) -> None:
    if not member.is_admin:
        raise Forbidden("Only an admin of the workspace may do this.")


def see_scope(user: Any, scope_id: UUID) -> ScopeAccess:
    """The scope for a user who may see and read it: three statements."""
    scope = Scope.objects.select_related("parent_scope").filter(id=scope_id).first()
    if scope is None:
        raise NotFound(NO_SCOPE)
    member = (
        Member.objects.select_related("workspace", "user")
        .filter(workspace_id=scope.workspace_id, user=user, status=MemberStatus.ACTIVE)
        .first()
    )
    if member is None:
        raise NotFound(NO_SCOPE)
    current_owner().require(scope.workspace_id)
    return member_scope(member, scope)


def member_scope(member: Member, scope: Scope) -> ScopeAccess:
    """The same for a member and a scope of its workspace (parent loaded): one statement."""
    parent = scope.parent_scope
    ids = [scope.id] if parent is None else [scope.id, parent.id]
    rows = {row.scope_id: row for row in Membership.objects.filter(member=member, scope_id__in=ids)}
    access = ScopeAccess(member, scope, parent, rows.get(scope.id), rows.get(parent.id) if parent else None)
    if not _may_see(access):
        raise NotFound(NO_SCOPE)
    return access


def see_message(user: Any, message_id: UUID) -> tuple[ScopeAccess, Message]:
    """A message (content deferred) in a scope that the user may see."""
    message = (
        Message.objects.defer("content")
        .select_related("scope", "scope__parent_scope", "author")
        .filter(id=message_id)
        .first()
    )
    if message is None:
        raise NotFound(NO_MESSAGE)
    scope = message.scope
    member = (
        Member.objects.select_related("workspace", "user")
        .filter(workspace_id=scope.workspace_id, user=user, status=MemberStatus.ACTIVE)
        .first()
    )
    if member is None:
        raise NotFound(NO_MESSAGE)
    current_owner().require(scope.workspace_id)
    try:
        return member_scope(member, scope), message
    except NotFound:
        raise NotFound(NO_MESSAGE) from None


def require_posting(access: ScopeAccess) -> None:
    """May write here now; `Conflict` where the scope is archived or must be joined first."""
    require_open(access)
    if access.may_post:
        return
    if access.scope.type == ScopeType.CONVERSATION and access.parent is not None:
        raise Forbidden("Only agents and the owner write in a process conversation.")
    raise Conflict("Join this conversation first.")


def require_open(access: ScopeAccess) -> None:
    if access.archived:
        raise Conflict("This conversation is archived.")


def require_joined(access: ScopeAccess) -> Membership:
    """The caller's live membership: cursors, levels and markers exist for members only."""
    if not access.joined or access.membership is None:
        raise Conflict("Join this conversation first.")
    return access.membership


def require_managing(access: ScopeAccess) -> None:
    if not access.manages:
        raise Forbidden("Only the creator of this conversation or an admin may do this.")


def acting_as(member: Member, actor: tuple[str, str] | None) -> tuple[str, str]:
    """The actor a request speaks as: the member's own (also the default) or a role below it, else `Forbidden`."""
    own = (member.actor_kind, member.actor_key)
    if actor is None or actor == own:
        return own
    kind, key = actor
    below = (
        kind == member.actor_kind and key.startswith(member.actor_key + "/") and len(key) > len(member.actor_key) + 1
    )
    if not below or len(key) > KEY_LENGTH:
        raise Forbidden("You may speak only as your own actor or a role below it.")
    return actor


def _may_see(access: ScopeAccess) -> bool:
    scope, parent = access.scope, access.parent
    if scope.type == ScopeType.TASK:
        return True
    if parent is not None:
        return _may_see(ScopeAccess(access.member, parent, None, access.parent_membership, None))
    if scope.type == ScopeType.CHANNEL and scope.visibility == Visibility.PUBLIC:
        return True
    return access.joined


def _may_post(access: ScopeAccess) -> bool:
    scope, parent = access.scope, access.parent
    if scope.type == ScopeType.TASK:
        return True
    if parent is None:
        return access.joined
    above = ScopeAccess(access.member, parent, None, access.parent_membership, None)
    if scope.type == ScopeType.THREAD:
        return _may_post(above)
    return not access.member.is_person or parent.created_by_id == access.member.id
