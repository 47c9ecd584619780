"""Durable rows for store tests: a workspace with its lease, scopes and members, and snapshot rows to write."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.contrib.auth import get_user_model

from conversations.ids import new_id
from conversations.models import Member, Membership, Scope, Workspace
from conversations.ownership import current_owner
from unread.core.events import Level
from unread.core.ports import SnapshotRow
from unread.core.states import CountState


def snapshot(member: UUID, scope: UUID, **changed: Any) -> SnapshotRow:
    """A row in which every number differs from every other, so that swapped columns show."""
    values: dict[str, Any] = {
        "member": member.int,
        "scope": scope.int,
        "message_unread": 3,
        "mention_unread": 2,
        "activity_unread": 1,
        "marker_seq": 17,
        "effective_from_seq": 4,
        "last_read_seq": 11,
        "last_activity_read_seq": 5,
        "message_frontier": 20,
        "activity_frontier": 6,
        "level": Level.MENTIONS,
        "active": True,
        "visible": True,
        "count_state": CountState.READY,
        "roster_generation": 31,
        "rewind_generation": 7,
        "membership_generation": 8,
        "read_generation": 9,
        "policy_generation": 10,
        "marker_generation": 12,
        "row_version": 1,
    }
    return SnapshotRow(**{**values, **changed})


@dataclass
class Place:
    """A workspace that this process owns, with `members` people in `scopes` channels."""

    workspace: Workspace
    epoch: int
    members: list[Member] = field(default_factory=list)
    scopes: list[Scope] = field(default_factory=list)

    @property
    def id(self) -> int:
        return self.workspace.id.int


def place(members: int = 2, scopes: int = 2, joined: bool = True) -> Place:
    tag = new_id().hex[-12:]
    workspace = Workspace.objects.create(slug=f"w-{tag}", name="Store")
    made = Place(workspace, current_owner().require(workspace.id))
    users = get_user_model().objects.bulk_create([get_user_model()(username=f"u{n}-{tag}") for n in range(members)])
    made.members = Member.objects.bulk_create(
        [
            Member(workspace=workspace, user=user, actor_key=user.username, display_name=f"Person {n}")
            for n, user in enumerate(users)
        ]
    )
    made.scopes = Scope.objects.bulk_create(
        [Scope(workspace=workspace, type="channel", name=f"c{n}", visibility="public") for n in range(scopes)]
    )
    if joined:
        Membership.objects.bulk_create(
            [Membership(scope=scope, member=member) for scope in made.scopes for member in made.members]
        )
    return made
