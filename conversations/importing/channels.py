"""The channels of an export as scopes with their members, found again by ids derived from Slack's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.utils import timezone

from ..actions.creation import channel_identity, dm_identity
from ..actions.memberships import begin_memberships
from ..ids import derived_id, id_ms
from ..locking import lock_scope
from ..models import Member, Membership, Scope, Workspace
from ..models.scope import ScopeStatus, ScopeType, Visibility
from ..transactions import in_transaction
from .inspection import Place
from .people import Person
from .report import Report

MEMBERS_BATCH = 500
MAX_NAME_CHARS = 120
_TYPES = {"channel": ScopeType.CHANNEL, "group": ScopeType.CHANNEL, "dm": ScopeType.DM, "mpim": ScopeType.DM}


def import_channel(workspace: Workspace, place: Place, people: dict[str, Person], report: Report) -> UUID:
    """The scope's id; the scope and its memberships are made where they are missing. What is there stays as it is.

    Members begin before the history, with both cursors at the ends of an empty scope: the whole history is theirs to
    mark and to read, and what the import appends afterwards moves their cursors along.
    """
    scope_id = _find(workspace, place, people)
    if scope_id is None:
        scope_id, name = _create(workspace, place, people)
        report.channels += 1
        if place.channel.kind == "channel" and name != place.channel.name:
            report.notes[f"the channel name {place.channel.name[:120]} is taken or too long; now {name}"] += 1
    wanted = [people[user] for user in place.channel.members if user in people and people[user].active]
    for start in range(0, len(wanted), MEMBERS_BATCH):
        report.memberships += _join(
            workspace.id, scope_id, [p.member_id for p in wanted[start : start + MEMBERS_BATCH]]
        )
    return scope_id


def scope_id_of(workspace: Workspace, slack_id: str) -> UUID:
    return derived_id(id_ms(workspace.id), "slack channel", str(workspace.id), slack_id)


def _find(workspace: Workspace, place: Place, people: dict[str, Person]) -> UUID | None:
    own = scope_id_of(workspace, place.channel.id)
    if Scope.objects.filter(id=own, workspace=workspace).exists():
        return own
    if _TYPES[place.channel.kind] == ScopeType.DM and (key := _dm_key(place, people)):
        return Scope.objects.filter(workspace=workspace, identity_key=key).values_list("id", flat=True).first()
    return None


@in_transaction
def _create(workspace: Workspace, place: Place, people: dict[str, Person]) -> tuple[UUID, str]:
    channel = place.channel
    creator = people.get(channel.creator)
    columns: dict[str, Any] = {"type": _TYPES[channel.kind], "visibility": Visibility.PRIVATE}
    if columns["type"] == ScopeType.DM:
        columns["identity_key"] = _dm_key(place, people)
    elif channel.kind == "channel":
        name = _free_name(workspace, channel.name)
        columns |= {"name": name, "visibility": Visibility.PUBLIC, "identity_key": channel_identity(name)}
    else:
        columns["name"] = channel.name[:MAX_NAME_CHARS]
    if channel.archived:
        ended = datetime.fromtimestamp(place.last_us / 1e6, UTC) if place.last_us else timezone.now()
        columns |= {"status": ScopeStatus.ARCHIVED, "archived_at": ended}
    scope = Scope.objects.create(
        id=scope_id_of(workspace, channel.id),
        workspace=workspace,
        created_by_id=creator.member_id if creator else None,
        **columns,
    )
    lock_scope(workspace.id, scope.id)  # checks in this transaction that the workspace is still ours
    return scope.id, scope.name


@in_transaction
def _join(workspace_id: UUID, scope_id: UUID, member_ids: Sequence[UUID]) -> int:
    """Members who have no row here yet; those who left stay away. Returns how many."""
    scope = lock_scope(workspace_id, scope_id)
    known = set(Membership.objects.filter(scope=scope, member_id__in=member_ids).values_list("member_id", flat=True))
    strangers = [member_id for member_id in member_ids if member_id not in known]
    return len(begin_memberships(scope, list(Member.objects.filter(id__in=strangers)))) if strangers else 0


def _dm_key(place: Place, people: dict[str, Person]) -> str | None:
    members = [people[user].member_id for user in place.channel.members if user in people]
    return dm_identity(members) if members else None


def _free_name(workspace: Workspace, wanted: str) -> str:
    return next(
        name
        for name in _candidates(wanted)
        if not Scope.objects.filter(workspace=workspace, identity_key=channel_identity(name)).exists()
    )


def _candidates(wanted: str) -> Iterator[str]:
    yield wanted[:MAX_NAME_CHARS]
    number = 1
    while True:
        mark = " (Slack)" if number == 1 else f" (Slack {number})"
        yield wanted[: MAX_NAME_CHARS - len(mark)] + mark
        number += 1
