"""Channels, DMs and user conversations: opened, renamed, shown to more or fewer people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction

from .. import activity_types
from ..access import ScopeAccess, require_managing, see_scope, workspace_member
from ..backpressure import require_capacity
from ..errors import Conflict, Forbidden, InvalidRequest, NotFound
from ..events import ConversationUpdated, Fact, ScopeStateChanged
from ..locking import lock_scope
from ..models import Member, Scope
from ..models.scope import ScopeType, Visibility
from ..publish import publish_on_commit
from ..transactions import in_transaction
from .activity import append_activity
from .archiving import set_archived
from .creation import channel_identity, create_scope, dm_identity
from .memberships import begin_memberships

MAX_FIRST_MEMBERS = 1000
"""How many members a channel or conversation may be created with; more join or are added one by one."""
MAX_DM_MEMBERS = 20
"""The caller included."""


def create_channel(
    *,
    user: Any,
    workspace_id: UUID,
    name: str,
    visibility: Visibility = Visibility.PUBLIC,
    member_ids: Sequence[UUID] = (),
) -> Scope:
    """`Conflict` where a public channel has the name; `NotFound` for a member that is not one of the workspace."""
    caller = workspace_member(user, workspace_id)
    require_capacity(workspace_id)
    members = first_members(caller, member_ids, at_most=MAX_FIRST_MEMBERS)
    key = channel_identity(name) if visibility == Visibility.PUBLIC else None
    _require_free(workspace_id, key, name)
    try:
        return _create(caller, members, type=ScopeType.CHANNEL, name=name, visibility=visibility, identity_key=key)
    except IntegrityError:  # somebody else took it at this moment
        raise _name_taken(name) from None


def create_conversation(*, user: Any, workspace_id: UUID, name: str = "", member_ids: Sequence[UUID] = ()) -> Scope:
    """A user conversation, owned by the person who opens it."""
    caller = workspace_member(user, workspace_id)
    require_capacity(workspace_id)
    if not caller.is_person:
        raise Forbidden("A conversation is owned by a person; agents are added to it.")
    members = first_members(caller, member_ids, at_most=MAX_FIRST_MEMBERS)
    own = {"actor_kind": caller.actor_kind, "actor_key": caller.actor_key}
    return _create(caller, members, type=ScopeType.CONVERSATION, name=name, **own)


def open_dm(*, user: Any, workspace_id: UUID, member_ids: Sequence[UUID] = ()) -> tuple[Scope, bool]:
    """The one DM of the caller and these members, and whether it is new; an archived one is restored."""
    caller = workspace_member(user, workspace_id)
    require_capacity(workspace_id)
    everybody = _listed(caller, member_ids, at_most=MAX_DM_MEMBERS)
    key = dm_identity(member.id for member in everybody)
    found = Scope.objects.filter(workspace_id=workspace_id, identity_key=key).first()
    if found is None:
        _require_active(everybody)
        try:
            return _create(caller, everybody, type=ScopeType.DM, identity_key=key), True
        except IntegrityError:  # somebody else opened it at this moment
            found = Scope.objects.get(workspace_id=workspace_id, identity_key=key)
    return _reopen_dm(caller, found, everybody), False


def rename(*, user: Any, scope_id: UUID, name: str | None = None, visibility: Visibility | None = None) -> Scope:
    """Another name, another visibility, or both in one transaction; what is so already is left alone."""
    access = see_scope(user, scope_id)
    require_managing(access)
    require_capacity(access.scope.workspace_id)
    if visibility is not None and access.scope.type != ScopeType.CHANNEL:
        raise InvalidRequest("Only a channel is public or private.")
    return _change(access, name, visibility)


def first_members(caller: Member, member_ids: Sequence[UUID], *, at_most: int) -> list[Member]:
    """The caller and the active members named, each once."""
    members = _listed(caller, member_ids, at_most=at_most)
    _require_active(members)
    return members


def _listed(caller: Member, member_ids: Sequence[UUID], *, at_most: int) -> list[Member]:
    wanted = [member_id for member_id in dict.fromkeys(member_ids) if member_id != caller.id]
    if len(wanted) + 1 > at_most:
        raise InvalidRequest(f"At most {at_most} members, you included.", member_ids=f"{len(wanted) + 1} members")
    found = {m.id: m for m in Member.objects.filter(workspace_id=caller.workspace_id, id__in=wanted)}
    if unknown := [str(member_id) for member_id in wanted if member_id not in found]:
        raise NotFound("Not members of this workspace.", member_ids=unknown[:20])
    return [caller, *(found[member_id] for member_id in wanted)]


def _require_active(members: list[Member]) -> None:
    if gone := [str(member.id) for member in members if not member.active]:
        raise Conflict("Deactivated members cannot be added.", member_ids=gone[:20])


def _require_free(workspace_id: UUID, key: str | None, name: str, besides: UUID | None = None) -> None:
    if key is None:
        return
    holder = Scope.objects.filter(workspace_id=workspace_id, identity_key=key).values_list("id", flat=True).first()
    if holder not in (None, besides):
        raise _name_taken(name)


def _name_taken(name: str) -> Conflict:
    return Conflict(f"A public channel is named {name!r} already (it may be archived).", name=name)


@in_transaction
def _create(caller: Member, members: Sequence[Member], **columns: Any) -> Scope:
    scope, facts = create_scope(caller, members, **columns)
    publish_on_commit(facts)
    return scope


@in_transaction
def _reopen_dm(caller: Member, found: Scope, everybody: list[Member]) -> Scope:
    """Restored if archived; members who were deactivated and came back are in it again."""
    scope = lock_scope(found.workspace_id, found.id)
    facts: list[Fact] = list(set_archived(scope, caller, archived=False))
    begun = begin_memberships(scope, [member for member in everybody if member.active])
    facts += begun
    if facts:
        changed = tuple(fact.member_id for fact in begun)
        publish_on_commit([*facts, ConversationUpdated(scope.workspace_id, scope.id, members_changed=changed)])
    return scope


@in_transaction
def _change(access: ScopeAccess, name: str | None, visibility: Visibility | None) -> Scope:
    scope = lock_scope(access.scope.workspace_id, access.scope.id)
    facts: list[Fact] = []
    if name is not None and name != scope.name:
        facts += _rename(access, scope, name)
    if visibility is not None and visibility != scope.visibility:
        facts += _change_visibility(access, scope, visibility)
    if facts:
        _save_names(scope)
        publish_on_commit([*facts, ConversationUpdated(scope.workspace_id, scope.id)])
    return scope


def _rename(access: ScopeAccess, scope: Scope, name: str) -> list[Fact]:
    if scope.type == ScopeType.DM:
        raise InvalidRequest("A direct conversation has no name; it is called after its members.")
    if scope.type == ScopeType.TASK:
        raise InvalidRequest("Change the title of the task instead.")
    if scope.type == ScopeType.CHANNEL and not name:
        raise InvalidRequest("A channel needs a name.")
    before, scope.name = scope.name, name
    return [append_activity(scope, access.member, activity_types.RENAME, payload={"from": before, "to": name})]


def _change_visibility(access: ScopeAccess, scope: Scope, visibility: Visibility) -> list[Fact]:
    before, scope.visibility = scope.visibility, visibility
    told = append_activity(
        scope, access.member, activity_types.VISIBILITY, payload={"from": before, "to": str(visibility)}
    )
    scope.roster_generation += 1
    return [
        ScopeStateChanged(scope.workspace_id, scope.id, scope.parent_scope_id, scope.active, scope.roster_generation),
        told,
    ]


def _save_names(scope: Scope) -> None:
    """A public channel holds its name in `identity_key`; a private one hides it."""
    if scope.type == ScopeType.CHANNEL:
        public = scope.visibility == Visibility.PUBLIC
        scope.identity_key = channel_identity(scope.name) if public else None
        _require_free(scope.workspace_id, scope.identity_key, scope.name, besides=scope.id)
    try:
        with transaction.atomic():
            scope.save(update_fields=["name", "visibility", "identity_key", "roster_generation", "updated_at"])
    except IntegrityError:
        raise _name_taken(scope.name) from None
