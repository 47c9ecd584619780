"""What every member must be shown, counted by the database from the durable rows alone: the rules as SQL.

Independent on purpose: it imports nothing of `unread`, nor the predicates of `conversations`, so that a mistake shared
with the product cannot hide. `run(sql, parameters)` runs one statement with `%s` places and returns its rows; any
connection to the tables will do, also one to the database of a server process. Events of tasks count for the members
frozen into them and for nobody else, whether or not they are delivered yet.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
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


_TASK_PLACES = """
    SELECT place.member_id, place.scope_id, place.last_read_seq, place.effective_from_seq, place.last_activity_read_seq,
           setting.level, state.manual_unread
    FROM scope_memberships place
    JOIN scopes scope ON scope.id = place.scope_id AND scope.type = 'task'
    LEFT JOIN scope_notification_settings setting
         ON setting.scope_id = place.scope_id AND setting.member_id = place.member_id
    LEFT JOIN conversation_member_states state
         ON state.scope_id = place.scope_id AND state.member_id = place.member_id
    WHERE scope.workspace_id = %s AND place.status = 'active' AND place.visible = 1 AND scope.status = 'active'
"""
_TASK_EVENTS = "SELECT scope_id, kind, payload, human_recipients FROM task_attention_outbox WHERE workspace_id = %s"
_TASK_MESSAGES = """
    SELECT message.id, message.seq, message.author_id, message.notify_principal_id
    FROM messages message JOIN scopes scope ON scope.id = message.scope_id AND scope.type = 'task'
    WHERE scope.workspace_id = %s AND message.message_type <> 'task_dispatch' AND message.silent = 0
"""
_TASK_MENTIONS = """
    SELECT mention.message_id, mention.member_id
    FROM message_mentions mention JOIN messages message ON message.id = mention.message_id
    JOIN scopes scope ON scope.id = message.scope_id AND scope.type = 'task'
    WHERE scope.workspace_id = %s
"""


def badges(run: Run, workspace_id: UUID) -> Badges:
    """Eight statements for the whole workspace."""
    key = [workspace_id.hex]
    messages = {(m, s): (int(all_), int(named)) for m, s, all_, named in run(_MESSAGES, key)}
    activities = {(m, s): int(all_) for m, s, all_ in run(_ACTIVITIES, key)}
    found: Badges = {_id(member): {} for (member,) in run("SELECT id FROM members WHERE workspace_id = %s", key)}
    for member, scope, level, manual in run(_POLICIES, key):
        unread, mentions = messages.get((member, scope), (0, 0))
        badge = _at_level(level or "all", unread, mentions, activities.get((member, scope), 0), bool(manual))
        found[_id(member)][_id(scope)] = badge
    for member, scope, badge in _in_tasks(run, key):
        found[member][scope] = badge
    return found


def _in_tasks(run: Run, key: list[str]) -> Iterator[tuple[UUID, UUID, Badge]]:
    """What is left of each event for whom it was frozen for, members and messages as they are now."""
    stored = {
        _id(message): (seq, _id(author), _id(principal)) for message, seq, author, principal in run(_TASK_MESSAGES, key)
    }
    named = {(_id(message), _id(member)) for message, member in run(_TASK_MENTIONS, key)}
    events = [
        (_id(scope), kind, _json(said), set(_json(people))) for scope, kind, said, people in run(_TASK_EVENTS, key)
    ]
    for of_member, of_scope, read, begins, activities_read, level, manual in run(_TASK_PLACES, key):
        member, place = _id(of_member), _id(of_scope)
        messages = mentions = activities = 0
        for scope, kind, said, people in events:
            if scope != place or str(member) not in people:
                continue
            if kind == "activity":
                activities += said["activity_seq"] > activities_read and said["author"] != str(member)
            elif kind == "message" and _id(said["message_id"]) in stored:
                message = _id(said["message_id"])
                seq, author, principal = stored[message]
                if seq > read and seq >= begins and member not in (author, principal):
                    messages += 1
                    mentions += (message, member) in named
        yield member, place, _at_level(level or "all", messages, mentions, activities, bool(manual))


def _json(value: Any) -> Any:
    return json.loads(value) if isinstance(value, str | bytes) else value


def _at_level(level: str, messages: int, mentions: int, activities: int, manual: bool) -> Badge:
    if level == "none":
        return Badge(manual=manual)
    if level == "mentions":
        return Badge(messages=mentions, mentions=mentions, manual=manual)
    return Badge(messages, mentions, activities, manual)


def _id(value: object) -> UUID:
    return UUID(str(value))
