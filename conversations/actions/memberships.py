"""The rows behind "who is in a scope": begun and ended under the scope's lock, one fact for each change.

Every change advances the membership's generation and the scope's `roster_generation` by exactly one; what would
change nothing writes nothing and returns no fact. The verbs that people call are in `joining`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import F
from django.db.models.functions import Greatest
from django.utils import timezone

from ..events import Level, MembershipChanged
from ..ids import new_id
from ..locking import hold
from ..models import Member, Membership, MemberState, NotificationSetting, Scope
from ..models.membership import MembershipStatus
from ..models.scope import ScopeType
from ..models.workspace import MemberStatus
from .inbox import leave_inbox, settle_inbox


def begin_membership(
    scope: Scope, member: Member, *, effective_from_seq: int | None = None
) -> MembershipChanged | None:
    """See `begin_memberships`."""
    facts = begin_memberships(scope, [member], effective_from_seq=effective_from_seq)
    return facts[0] if facts else None


def begin_memberships(
    scope: Scope, members: Iterable[Member], *, effective_from_seq: int | None = None
) -> list[MembershipChanged]:
    """Make members part of a locked scope's roster: both cursors at the ends, markers cleared, levels kept.

    Messages count from `effective_from_seq` on (default: the next one). Members who are in already, and those who
    were deactivated meanwhile, are passed over. Seven statements at most, for any number of members.
    """
    wanted = list(dict.fromkeys(member.id for member in members))
    if not wanted:
        return []
    rows = {row.member_id: row for row in Membership.objects.filter(scope=scope, member_id__in=wanted)}
    wanted = [m for m in wanted if m not in rows or not rows[m].active or not rows[m].visible]
    wanted = _still_active(wanted)
    if not wanted:
        return []
    since = scope.latest_seq + 1 if effective_from_seq is None else effective_from_seq
    again = [rows[member_id] for member_id in wanted if member_id in rows]
    fresh = [_fresh(scope, member_id, since) for member_id in wanted if member_id not in rows]
    if again:
        _revive(scope, again, since)
    Membership.objects.bulk_create(fresh)
    rows |= {row.member_id: row for row in fresh}
    policies = _policies(scope, wanted, clear_markers=bool(again))
    return _changed(scope, [rows[member_id] for member_id in wanted], policies, begins=True)


def end_membership(scope: Scope, member: Member) -> MembershipChanged | None:
    """Take a member off a locked scope's roster. Its rows stay, so that coming back keeps the level."""
    facts = end_memberships([scope], member)
    return facts[0] if facts else None


def end_memberships(scopes: Sequence[Scope], member: Member) -> list[MembershipChanged]:
    """The same for several locked scopes, in their order."""
    rows = {
        row.scope_id: row
        for row in Membership.objects.filter(member=member, scope__in=scopes, status=MembershipStatus.ACTIVE)
    }
    if not rows:
        return []
    now = timezone.now()
    Membership.objects.filter(pk__in=[row.pk for row in rows.values()]).update(
        status=MembershipStatus.LEFT, membership_generation=F("membership_generation") + 1, updated_at=now
    )
    facts = []
    for scope in scopes:
        if row := rows.get(scope.id):
            row.status, row.membership_generation = MembershipStatus.LEFT, row.membership_generation + 1
            policies = _policies(scope, [member.id], clear_markers=False)
            if scope.type == ScopeType.TASK:
                settle_inbox(scope.id, member.id)
            elif policies[member.id].marker_seq:
                leave_inbox(scope.id, member.id)
            facts += _changed(scope, [row], policies, begins=False)
    return facts


def join_thread_members(thread: Scope, members: Iterable[Member], from_seq: int) -> list[MembershipChanged]:
    """Let members join a locked thread with the message of `from_seq`, as far as they are active in its parent.

    Their places in the parent are held until the commit, so that leaving the parent waits and then ends these too.
    """
    candidates = list({member.id: member for member in members}.values())
    if not candidates:
        return []
    there = set(
        Membership.objects.filter(
            scope=thread, member__in=candidates, status=MembershipStatus.ACTIVE, visible=True
        ).values_list("member_id", flat=True)
    )
    missing = [member for member in candidates if member.id not in there]
    if not missing:
        return []
    above = hold(
        Membership.objects.filter(
            scope=thread.parent_scope_id, member__in=missing, status=MembershipStatus.ACTIVE, visible=True
        ).order_by("id")
    )
    welcome = {row.member_id for row in above}
    joining = [member for member in missing if member.id in welcome]
    return list(begin_memberships(thread, joining, effective_from_seq=from_seq))


@dataclass(frozen=True, slots=True)
class _Policy:
    """Generation 0: there is no such row."""

    level: Level = Level.ALL
    policy_generation: int = 0
    marker_seq: int = 0
    marker_generation: int = 0


def _still_active(member_ids: list[UUID]) -> list[UUID]:
    """Held, so that a deactivation waits for us and then finds the memberships begun here."""
    held = hold(Member.objects.filter(id__in=member_ids, status=MemberStatus.ACTIVE).order_by("id"))
    active = {member.id for member in held}
    return [member_id for member_id in member_ids if member_id in active]


def _fresh(scope: Scope, member_id: UUID, since: int) -> Membership:
    return Membership(
        id=new_id(),
        scope=scope,
        member_id=member_id,
        effective_from_seq=since,
        last_read_seq=since - 1,
        last_activity_read_seq=scope.latest_activity_seq,
        read_generation=1,
        membership_generation=1,
    )


def _revive(scope: Scope, rows: list[Membership], since: int) -> None:
    Membership.objects.filter(pk__in=[row.pk for row in rows]).update(
        status=MembershipStatus.ACTIVE,
        visible=True,
        effective_from_seq=since,
        last_read_seq=Greatest(F("last_read_seq"), since - 1),
        last_activity_read_seq=scope.latest_activity_seq,
        read_generation=F("read_generation") + 1,
        membership_generation=F("membership_generation") + 1,
        updated_at=timezone.now(),
    )
    for row in rows:
        row.status, row.visible, row.effective_from_seq = MembershipStatus.ACTIVE, True, since
        row.last_read_seq = max(row.last_read_seq, since - 1)
        row.last_activity_read_seq = scope.latest_activity_seq
        row.read_generation += 1
        row.membership_generation += 1


def _policies(scope: Scope, member_ids: list[UUID], *, clear_markers: bool) -> dict[UUID, _Policy]:
    settings = {row.member_id: row for row in NotificationSetting.objects.filter(scope=scope, member_id__in=member_ids)}
    states = {row.member_id: row for row in MemberState.objects.filter(scope=scope, member_id__in=member_ids)}
    marked = [row for row in states.values() if row.manual_unread]
    if clear_markers and marked:
        MemberState.objects.filter(pk__in=[row.pk for row in marked]).update(
            manual_unread=False, manual_unread_seq=0, generation=F("generation") + 1, updated_at=timezone.now()
        )
        for row in marked:
            row.manual_unread, row.manual_unread_seq, row.generation = False, 0, row.generation + 1
            leave_inbox(scope.id, row.member_id)
    return {member_id: _policy(settings.get(member_id), states.get(member_id)) for member_id in member_ids}


def _policy(setting: NotificationSetting | None, state: MemberState | None) -> _Policy:
    return _Policy(
        level=Level[setting.level.upper()] if setting else Level.ALL,
        policy_generation=setting.generation if setting else 0,
        marker_seq=state.manual_unread_seq if state and state.manual_unread else 0,
        marker_generation=state.generation if state else 0,
    )


def _changed(
    scope: Scope, rows: list[Membership], policies: dict[UUID, _Policy], *, begins: bool
) -> list[MembershipChanged]:
    before = scope.roster_generation
    scope.roster_generation += len(rows)
    Scope.objects.filter(pk=scope.pk).update(roster_generation=scope.roster_generation)
    return [
        MembershipChanged(
            workspace_id=scope.workspace_id,
            scope_id=scope.id,
            parent_id=scope.parent_scope_id,
            member_id=row.member_id,
            active=row.active,
            visible=row.visible,
            begins=begins,
            effective_from_seq=row.effective_from_seq,
            last_read_seq=row.last_read_seq,
            last_activity_read_seq=row.last_activity_read_seq,
            membership_generation=row.membership_generation,
            read_generation=row.read_generation,
            level=policies[row.member_id].level,
            policy_generation=policies[row.member_id].policy_generation,
            marker_seq=policies[row.member_id].marker_seq,
            marker_generation=policies[row.member_id].marker_generation,
            roster_generation=before + nth,
        )
        for nth, row in enumerate(rows, 1)
    ]
