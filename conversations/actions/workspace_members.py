"""Members of a workspace: added, changed, deactivated and brought back. Admins only.

A deactivated member keeps its rows and its name on what it wrote; it is out of every scope, and its places there end
with their facts, a bounded batch of scopes per transaction. Brought back, it is in its direct and own conversations
again (nobody could add it there) and joins or is added to everything else.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import Q

from ..access import require_admin, workspace_member
from ..backpressure import require_capacity
from ..errors import Conflict, NotFound
from ..events import ConversationUpdated, Fact, MemberUpdated
from ..ids import new_id
from ..locking import hold, lock_scopes
from ..models import Member, Membership, Workspace
from ..models.membership import MembershipStatus
from ..models.scope import ScopeType
from ..models.workspace import MemberStatus, Role
from ..publish import publish_on_commit
from ..transactions import in_transaction
from .memberships import begin_membership, end_memberships

SCOPES_PER_TRANSACTION = 50
"""How many scopes one transaction locks while a deactivated member's places end."""
SERVICE_KIND = "operator"


def new_member(
    workspace: Workspace,
    user: User,
    *,
    role: Role = Role.MEMBER,
    display_name: str = "",
    actor_kind: str = "",
    actor_key: str = "",
) -> Member:
    """The unsaved row. A person speaks as `user/<username>`, a service account as `operator/<username>`, by default."""
    person = user.has_usable_password()
    return Member(
        id=new_id(),
        workspace=workspace,
        user=user,
        actor_kind=actor_kind or ("user" if person else SERVICE_KIND),
        actor_key=actor_key or user.username[:128],
        display_name=display_name or user.get_full_name()[:120].strip() or user.username[:120],
        role=role,
    )


def add_member(
    *,
    user: Any,
    workspace_id: UUID,
    username: str,
    display_name: str = "",
    actor_kind: str = "",
    actor_key: str = "",
    role: Role = Role.MEMBER,
) -> Member:
    """`NotFound` for an unknown user; `Conflict` where the user is a member already or the actor is taken."""
    caller = workspace_member(user, workspace_id)
    require_admin(caller)
    target = User.objects.filter(username=username, is_active=True).first()
    if target is None:
        raise NotFound(f"There is no user {username!r}.", username=username)
    _require_new(caller, target)
    member = new_member(
        caller.workspace, target, role=role, display_name=display_name, actor_kind=actor_kind, actor_key=actor_key
    )
    try:
        with transaction.atomic():
            member.save(force_insert=True)
            publish_on_commit([MemberUpdated(workspace_id, member.id)])
    except IntegrityError:
        _require_new(caller, target)
        raise Conflict(
            f"Another member speaks as {member.actor_kind}/{member.actor_key}.",
            actor={"kind": member.actor_kind, "key": member.actor_key},
        ) from None
    return member


def update_member(
    *,
    user: Any,
    workspace_id: UUID,
    member_id: UUID,
    role: Role | None = None,
    display_name: str | None = None,
    status: MemberStatus | None = None,
) -> Member:
    """`Conflict` where the workspace would lose its last admin."""
    caller = workspace_member(user, workspace_id)
    require_admin(caller)
    require_capacity(workspace_id)
    member, changed = _update(workspace_id, member_id, role=role, display_name=display_name, status=status)
    if not member.active:
        end_everything(member)
    elif "status" in changed:
        _come_back(member)
    return Member.objects.select_related("user").get(id=member_id)


def deactivate_member(*, user: Any, workspace_id: UUID, member_id: UUID) -> None:
    """Again on a deactivated member: finishes what an interrupted call left."""
    update_member(user=user, workspace_id=workspace_id, member_id=member_id, status=MemberStatus.DEACTIVATED)


def end_everything(member: Member) -> None:
    """End the places of a deactivated member. None can begin meanwhile: beginning one holds the member's row."""
    places = Membership.objects.filter(member=member, status=MembershipStatus.ACTIVE).order_by("scope_id")
    while scope_ids := list(places.values_list("scope_id", flat=True)[:SCOPES_PER_TRANSACTION]):
        if not _end_some(member, scope_ids):
            return


@in_transaction
def _end_some(member: Member, scope_ids: list[UUID]) -> bool:
    """False where somebody has brought the member back meanwhile."""
    scopes = list(lock_scopes(member.workspace_id, scope_ids).values())
    if not hold(Member.objects.filter(id=member.id, status=MemberStatus.DEACTIVATED)):
        return False
    facts: list[Fact] = list(end_memberships(scopes, member))
    facts += [ConversationUpdated(member.workspace_id, s.id, members_changed=(member.id,)) for s in scopes]
    publish_on_commit(facts)
    return True


@in_transaction
def _update(workspace_id: UUID, member_id: UUID, **wanted: Any) -> tuple[Member, dict[str, Any]]:
    # Every admin's row too: of two admins who demote each other, the second sees what the first did.
    admins = Q(role=Role.ADMIN, status=MemberStatus.ACTIVE)
    rows = Member.objects.select_for_update().filter(Q(id=member_id) | admins, workspace_id=workspace_id)
    locked = {row.id: row for row in rows.order_by("id")}
    if (member := locked.get(member_id)) is None:
        raise NotFound("This workspace has no such member.")
    changed = {key: value for key, value in wanted.items() if value not in (None, getattr(member, key))}
    for key, value in changed.items():
        setattr(member, key, value)
    if changed and not any(row.is_admin and row.active for row in locked.values()):
        raise Conflict("The workspace needs an admin; make somebody else one first.")
    if changed:
        member.save(update_fields=list(changed))
        publish_on_commit([MemberUpdated(workspace_id, member_id)])
    return member, changed


def _come_back(member: Member) -> None:
    own = Q(scope__type=ScopeType.DM) | Q(scope__type=ScopeType.CONVERSATION, scope__created_by=member)
    lost = Membership.objects.filter(own, member=member, status=MembershipStatus.LEFT).order_by("scope_id")
    scope_ids = list(lost.values_list("scope_id", flat=True))
    for start in range(0, len(scope_ids), SCOPES_PER_TRANSACTION):
        _begin_some(member, scope_ids[start : start + SCOPES_PER_TRANSACTION])


@in_transaction
def _begin_some(member: Member, scope_ids: list[UUID]) -> None:
    facts: list[Fact] = []
    for scope in lock_scopes(member.workspace_id, scope_ids).values():
        if (begun := begin_membership(scope, member)) is not None:
            facts += [begun, ConversationUpdated(member.workspace_id, scope.id, members_changed=(member.id,))]
    publish_on_commit(facts)


def _require_new(caller: Member, target: User) -> None:
    found = Member.objects.filter(workspace_id=caller.workspace_id, user=target).first()
    if found is None:
        return
    if found.active:
        raise Conflict(f"{target.username} is a member already.", member_id=str(found.id))
    raise Conflict(
        f"{target.username} is a deactivated member; set the status to active to bring them back.",
        member_id=str(found.id),
    )
