"""What every member must be shown, counted from the durable rows alone.

Deliberately the slow and obvious way, one rule a line. It must not import anything of `unread`: a shared mistake would
be invisible.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .tables import Activity, Message, Scope, Tables


@dataclass(frozen=True, slots=True)
class Truth:
    messages: int = 0
    mentions: int = 0
    activities: int = 0
    manual: bool = False

    @property
    def lit(self) -> bool:
        return self.manual or self.messages > 0 or self.activities > 0


NOTHING = Truth()


def has_access(tables: Tables, member: int, scope: Scope) -> bool:
    membership = scope.memberships.get(member)
    if membership is None or not membership.active or not membership.visible or scope.archived:
        return False
    parent = tables.scopes.get(scope.parent)
    return parent is None or (not parent.archived and parent.membership(member).active)


def message_counts(message: Message, member: int, effective_from_seq: int, last_read_seq: int) -> bool:
    if not message.visible or message.silent:
        return False
    if member in (message.author, message.principal):
        return False
    return message.seq >= effective_from_seq and message.seq > last_read_seq


def activity_counts(activity: Activity, member: int, last_activity_read_seq: int) -> bool:
    return activity.high_signal and activity.actor != member and activity.seq > last_activity_read_seq


def count(
    member: int,
    messages: Iterable[Message],
    activities: Iterable[Activity],
    effective_from_seq: int,
    last_read_seq: int,
    last_activity_read_seq: int,
) -> tuple[int, int, int]:
    """`(messages, mentions, activities)` whatever the level: what lies unread in a scope for somebody on its roster."""
    unread = [m for m in messages if message_counts(m, member, effective_from_seq, last_read_seq)]
    fresh = [a for a in activities if activity_counts(a, member, last_activity_read_seq)]
    return len(unread), sum(member in m.mentions for m in unread), len(fresh)


def unread_in(scope: Scope, member: int) -> tuple[int, int, int]:
    """The counts of one member underneath access and level."""
    row = scope.membership(member)
    return count(
        member,
        scope.messages.values(),
        scope.activities,
        row.effective_from_seq,
        row.last_read_seq,
        row.last_activity_read_seq,
    )


def truth(tables: Tables, member: int, scope_id: int) -> Truth:
    """What the member must be shown of that scope."""
    scope = tables.scopes[scope_id]
    if not has_access(tables, member, scope):
        return NOTHING
    messages, mentions, activities = unread_in(scope, member)
    manual = scope.marker(member).seq > 0
    level = scope.setting(member).level
    if level == "none":
        return Truth(manual=manual)
    if level == "mentions":
        return Truth(messages=mentions, mentions=mentions, manual=manual)
    return Truth(messages, mentions, activities, manual)


def view(tables: Tables, member: int) -> dict[int, Truth]:
    """Every scope that shows something."""
    shown = {scope_id: truth(tables, member, scope_id) for scope_id in tables.scopes}
    return {scope_id: each for scope_id, each in shown.items() if each.lit}


def has_unread(tables: Tables, member: int) -> bool:
    return bool(view(tables, member))
