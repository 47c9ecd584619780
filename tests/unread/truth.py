"""What every member must be shown, counted by the database from the durable rows alone: the rules as SQL.

Independent on purpose: it imports nothing of `unread`, nor the predicates of `conversations`, so that a mistake shared
with the product cannot hide. `run(sql, parameters)` runs one statement with `%s` places and returns its rows; any
connection to the tables will do, also one to the database of a server process. Tasks are not counted here: their
events count for the members frozen into them and for nobody else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

Run = Callable[[str, Sequence[Any]], Iterable[Sequence[Any]]]


@dataclass(frozen=True, slots=True)
class Badge:
    messages: int = 0
    mentions: int = 0
    activities: int = 0
    manual: bool = False

    @property
    def lit(self) -> bool:
        return self.manual or self.messages > 0 or self.activities > 0


NOTHING = Badge()
Badges = dict[UUID, dict[UUID, Badge]]
"""By member, then by scope: every member of the workspace, and every scope that the member is in and that is open."""

_PLACES = """
    FROM scope_memberships place
    JOIN scopes scope ON scope.id = place.scope_id AND scope.type <> 'task'
    LEFT JOIN scopes parent ON parent.id = scope.parent_scope_id
    LEFT JOIN scope_memberships above ON above.scope_id = parent.id AND above.member_id = place.member_id
"""
_SHOWN = """
    scope.workspace_id = %s AND place.status = 'active' AND place.visible = 1 AND scope.status = 'active'
    AND (parent.id IS NULL OR (parent.status = 'active' AND above.status = 'active' AND above.visible = 1))
"""
_MESSAGES = f"""
    SELECT place.member_id, place.scope_id, COUNT(*), COUNT(mention.member_id)
    {_PLACES}
    JOIN messages message ON message.scope_id = place.scope_id
         AND message.seq > place.last_read_seq AND message.seq >= place.effective_from_seq
    LEFT JOIN message_mentions mention ON mention.message_id = message.id AND mention.member_id = place.member_id
    WHERE {_SHOWN} AND message.message_type <> 'task_dispatch' AND message.silent = 0
          AND message.author_id <> place.member_id AND message.notify_principal_id <> place.member_id
    GROUP BY place.member_id, place.scope_id
"""
_ACTIVITIES = f"""
    SELECT place.member_id, place.scope_id, COUNT(*)
    {_PLACES}
    JOIN scope_activity_events activity ON activity.scope_id = place.scope_id
         AND activity.seq > place.last_activity_read_seq
    WHERE {_SHOWN} AND activity.actor_id <> place.member_id
          AND activity.type IN ('share', 'attachment', 'call', 'pin')
    GROUP BY place.member_id, place.scope_id
"""
_POLICIES = f"""
    SELECT place.member_id, place.scope_id, setting.level, state.manual_unread
    {_PLACES}
    LEFT JOIN scope_notification_settings setting
         ON setting.scope_id = place.scope_id AND setting.member_id = place.member_id
    LEFT JOIN conversation_member_states state
         ON state.scope_id = place.scope_id AND state.member_id = place.member_id
    WHERE {_SHOWN}
"""


def badges(run: Run, workspace_id: UUID) -> Badges:
    """Four statements for the whole workspace."""
    key = [workspace_id.hex]
    messages = {(m, s): (int(all_), int(named)) for m, s, all_, named in run(_MESSAGES, key)}
    activities = {(m, s): int(all_) for m, s, all_ in run(_ACTIVITIES, key)}
    found: Badges = {_id(member): {} for (member,) in run("SELECT id FROM members WHERE workspace_id = %s", key)}
    for member, scope, level, manual in run(_POLICIES, key):
        unread, mentions = messages.get((member, scope), (0, 0))
        badge = _at_level(level or "all", unread, mentions, activities.get((member, scope), 0), bool(manual))
        found[_id(member)][_id(scope)] = badge
    return found


def _at_level(level: str, messages: int, mentions: int, activities: int, manual: bool) -> Badge:
    if level == "none":
        return Badge(manual=manual)
    if level == "mentions":
        return Badge(messages=mentions, mentions=mentions, manual=manual)
    return Badge(messages, mentions, activities, manual)


def _id(value: object) -> UUID:
    return UUID(str(value))
