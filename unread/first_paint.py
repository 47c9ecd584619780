"""Everything that a page needs at first: what a member has joined, with unread from memory.

The conversations are read for their own sake, and what was read is handed to the runtime as evidence: who is no
member any more is hidden, who has read everything is lowered. It never raises a count.
"""

from __future__ import annotations

from itertools import islice
from typing import Any
from uuid import UUID

from conversations.models import Member
from conversations.queries.conversations import render_conversations
from conversations.queries.members import render_members
from conversations.queries.sidebar import LIMIT, joined_conversations

from .app import runtime
from .core.ports import ScopeEvidence
from .shapes import member_json

FROM_THE_BEGINNING = str(UUID(int=0))
"""A cursor before every id: conversations have another order here than in their list, which begins anew with it."""


def first_paint(member: Member) -> dict[str, Any]:
    """The bootstrap answer: ten statements at most, for any number of conversations; none of them for unread.

    At most 500 conversations, those that show unread first. `next`, where there are more, is a cursor for
    `GET /v1/conversations?workspace_id=…&joined=true`.
    """
    unread_runtime = runtime()
    workspace, me = member.workspace_id.int, member.id.int
    noted = unread_runtime.member_version(workspace, me)
    unread_runtime.request_hydrate(workspace, me)
    lit = [UUID(int=scope) for scope in islice(unread_runtime.member_unread(workspace, me).counts, LIMIT)]
    sidebar = joined_conversations(member, first=lit)
    unread_runtime.observe(
        workspace,
        me,
        noted,
        [
            ScopeEvidence(
                scope=row.scope.id.int,
                membership_generation=row.membership.membership_generation,
                read_generation=row.membership.read_generation,
                last_read_seq=row.membership.last_read_seq,
                last_activity_read_seq=row.membership.last_activity_read_seq,
                latest_seq=row.scope.latest_seq,
                latest_activity_seq=row.scope.latest_activity_seq,
            )
            for row in sidebar.joined
        ],
        complete=sidebar.complete,
    )
    unread = unread_runtime.member_unread(workspace, me)
    [person] = render_members([member])
    return {
        "workspace": {
            "id": str(member.workspace_id),
            "slug": member.workspace.slug,
            "name": member.workspace.name,
            "has_unread": unread.has_unread,
        },
        "me": person,
        "conversations": render_conversations(member, [row.scope for row in sidebar.joined]),
        "next": None if sidebar.complete else FROM_THE_BEGINNING,
        "unread": member_json(unread),
    }
