"""Conversations as one member sees them: listed, and rendered in a constant number of statements."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, QuerySet

from ..models import Member, Membership, MemberState, NotificationSetting, Scope
from ..models.membership import MembershipStatus, NotificationLevel
from ..models.scope import ScopeStatus, ScopeType, Visibility
from .last_messages import last_messages
from .members import render_members


def render_conversations(member: Member, scopes: Sequence[Scope]) -> list[dict[str, Any]]:
    """The API's conversations, in the order given; cursors, level and marker are null for who has not joined.

    Ten statements at most, for any number of scopes; parents that are loaded already save one.
    """
    if not scopes:
        return []
    ids = [scope.id for scope in scopes]
    places = {row.scope_id: row for row in Membership.objects.filter(member=member, scope_id__in=ids)}
    joined = [scope_id for scope_id, row in places.items() if row.active and row.visible]
    settings = {s.scope_id: s for s in NotificationSetting.objects.filter(member=member, scope_id__in=joined)}
    marked = set(
        MemberState.objects.filter(member=member, scope_id__in=joined, manual_unread=True).values_list(
            "scope_id", flat=True
        )
    )
    parents = _parents(scopes)
    last = last_messages(ids)
    people = _dm_members([scope.id for scope in scopes if scope.type == ScopeType.DM])
    return [
        {
            **topology(scope, parents.get(scope.parent_scope_id) if scope.parent_scope_id else None),
            **_own(places.get(scope.id), settings.get(scope.id), scope.id in marked),
            "members": people[scope.id] if scope.type == ScopeType.DM else None,
            "last_message": last.get(scope.id),
        }
        for scope in scopes
    ]


def render_conversation(member: Member, scope: Scope) -> dict[str, Any]:
    return render_conversations(member, [scope])[0]


def visible_scopes(member: Member) -> QuerySet[Scope]:
    """Main conversations (no threads, no process conversations) that the member may see. One statement."""
    open_to_all = Q(type=ScopeType.TASK) | Q(type=ScopeType.CHANNEL, visibility=Visibility.PUBLIC)
    return Scope.objects.filter(open_to_all | Q(_joined_by(member)), workspace=member.workspace_id, parent_scope=None)


def listed_scopes(
    member: Member,
    *,
    parent: Scope | None = None,
    scope_type: ScopeType | None = None,
    joined: bool | None = None,
    archived: bool = False,
) -> QuerySet[Scope]:
    """One statement. `parent`: one that the member sees; its threads and process conversations are listed then.

    Without a parent threads are listed only as the member's own: `scope_type` thread and `joined`.
    """
    if parent is not None:
        scopes = Scope.objects.filter(parent_scope=parent)
    elif scope_type == ScopeType.THREAD and joined:
        scopes = Scope.objects.filter(workspace=member.workspace_id)
    else:
        scopes = visible_scopes(member)
    if scope_type is not None:
        scopes = scopes.filter(type=scope_type)
    if joined is not None:
        scopes = scopes.filter(Q(_joined_by(member)) if joined else ~Q(_joined_by(member)))
    return scopes.filter(_is_archived() if archived else ~_is_archived()).select_related("parent_scope")


def _is_archived() -> Q:
    """By itself or with its parent."""
    return Q(status=ScopeStatus.ARCHIVED) | Q(parent_scope__isnull=False, parent_scope__status=ScopeStatus.ARCHIVED)


def _joined_by(member: Member) -> Exists:
    return Exists(
        Membership.objects.filter(scope=OuterRef("pk"), member=member, status=MembershipStatus.ACTIVE, visible=True)
    )


def _parents(scopes: Iterable[Scope]) -> dict[UUID, Scope]:
    loaded = Scope.parent_scope.is_cached
    found = {s.parent_scope_id: s.parent_scope for s in scopes if s.parent_scope_id and loaded(s) and s.parent_scope}
    missing = {s.parent_scope_id for s in scopes if s.parent_scope_id} - found.keys()
    if missing:
        found |= {parent.id: parent for parent in Scope.objects.filter(id__in=missing)}
    return found


def _dm_members(scope_ids: list[UUID]) -> dict[UUID, list[dict[str, Any]]]:
    """Everybody of a DM, also who was deactivated: it is called after them."""
    people: defaultdict[UUID, list[Member]] = defaultdict(list)
    if scope_ids:
        rows = Membership.objects.select_related("member", "member__user").filter(scope_id__in=scope_ids)
        for row in rows.order_by("scope_id", "member_id"):
            people[row.scope_id].append(row.member)
    return {scope_id: render_members(people[scope_id]) for scope_id in scope_ids}


def topology(scope: Scope, parent: Scope | None) -> dict[str, Any]:
    """What everybody who sees the scope sees. A thread is as visible, and as archived, as what it hangs on."""
    return {
        "id": str(scope.id),
        "workspace_id": str(scope.workspace_id),
        "type": scope.type,
        "name": scope.name,
        "visibility": parent.visibility if parent else scope.visibility,
        "parent_id": _text(scope.parent_scope_id),
        "root_message_id": _text(scope.root_message_id),
        "actor": None if scope.actor_kind is None else {"kind": scope.actor_kind, "key": scope.actor_key},
        "status": scope.status,
        "archived_at": moment(scope.archived_at),
        "archived": not scope.active or (parent is not None and not parent.active),
        "created_by": _text(scope.created_by_id),
        "created_at": moment(scope.created_at),
        "latest_seq": scope.latest_seq,
        "latest_activity_seq": scope.latest_activity_seq,
        "visible_message_count": scope.visible_message_count,
        "visible_last_message_at": moment(scope.visible_last_message_at),
    }


def _own(place: Membership | None, setting: NotificationSetting | None, manual: bool) -> dict[str, Any]:
    if place is None or not place.active or not place.visible:
        return {
            "joined": False,
            "level": None,
            "watch": None,
            "last_read_seq": None,
            "last_activity_read_seq": None,
            "effective_from_seq": None,
            "manual": False,
        }
    return {
        "joined": True,
        "level": setting.level if setting else NotificationLevel.ALL.value,
        "watch": setting.watch if setting else None,
        "last_read_seq": place.last_read_seq,
        "last_activity_read_seq": place.last_activity_read_seq,
        "effective_from_seq": place.effective_from_seq,
        "manual": manual,
    }


def moment(value: datetime | None) -> str | None:
    """RFC 3339 in UTC."""
    return None if value is None else value.isoformat().replace("+00:00", "Z")


def _text(value: UUID | None) -> str | None:
    return None if value is None else str(value)
