"""Who a message mentions: `@username` in its text and the members listed with it.

Only members of the conversation can be mentioned: for a thread or a process conversation those of its parent, for a
task everybody in the workspace. A name counts where it is the longest username that fits, begins outside a word (a
URL is one word), ends at the end of one, and stands outside of code.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from itertools import islice
from uuid import UUID

from django.db.models import QuerySet

from ..errors import InvalidRequest
from ..models import Member, Scope
from ..models.membership import MembershipStatus
from ..models.scope import ScopeType
from ..models.workspace import MemberStatus
from .code_spans import without_code

MAX_MENTIONS = 100
"""Distinct members that one message may mention; further names in its text are plain text."""
MAX_NAME_CHARS = 150
_MAX_CANDIDATES = 900
"""Spellings looked up at once; databases bound the parameters of a statement."""

_MAX_HANDLES = 4 * MAX_MENTIONS
_HANDLE = re.compile(rf"(?<!\w)@(?=([\w.@+-]{{1,{MAX_NAME_CHARS}}}))")
_URL = re.compile(r"\bhttps?://\S+", re.IGNORECASE)


def mentionable(scope: Scope) -> QuerySet[Member]:
    """The members that a message of this scope can mention: those who see it as its members."""
    members = Member.objects.filter(workspace_id=scope.workspace_id, status=MemberStatus.ACTIVE)
    if scope.type == ScopeType.TASK:
        return members
    home = scope.parent_scope_id or scope.id
    return members.filter(
        scope_memberships__scope_id=home,
        scope_memberships__status=MembershipStatus.ACTIVE,
        scope_memberships__visible=True,
    )


def mentioned(scope: Scope, text: str, listed: Collection[UUID] = ()) -> list[Member]:
    """The members that `text` names and those `listed`, each once; one statement for each that is needed.

    `InvalidRequest` where a listed one is no member of the conversation, or more than `MAX_MENTIONS` are listed.
    """
    wanted = set(listed)
    if len(wanted) > MAX_MENTIONS:
        raise InvalidRequest(f"At most {MAX_MENTIONS} members can be mentioned.", mentions=len(wanted))
    found: dict[UUID, Member] = {}
    if wanted:
        found = {member.id: member for member in mentionable(scope).filter(id__in=wanted)}
        if strangers := sorted(map(str, wanted - found.keys())):
            raise InvalidRequest("Only members of this conversation can be mentioned.", mentions=strangers)
    for member in _named(scope, text):
        if len(found) >= MAX_MENTIONS:
            break
        found.setdefault(member.id, member)
    return list(found.values())


def _named(scope: Scope, text: str) -> Iterator[Member]:
    handles = list(_handles(text))
    spellings = list(dict.fromkeys(name for handle in handles for name in handle))[:_MAX_CANDIDATES]
    if not spellings:
        return
    known = {
        member.user.username: member
        for member in mentionable(scope).select_related("user").filter(user__username__in=spellings)
    }
    for handle in handles:
        if name := next((name for name in handle if name in known), None):
            yield known[name]


def _handles(text: str) -> Iterator[list[str]]:
    """For each `@` that can begin a mention the names that could be meant, the longest first.

    Each as it was typed and in lower case, so that a capital at the beginning of a sentence does no harm.
    """
    if "@" not in text:
        return
    prose = _URL.sub(" ", without_code(text))
    for match in islice(_HANDLE.finditer(prose), _MAX_HANDLES):
        run = match[1]
        names: list[str] = []
        for end in range(len(run), 0, -1):
            if end < len(run) and _is_word(run[end - 1]) and _is_word(run[end]):
                continue
            names += dict.fromkeys((run[:end], run[:end].lower()))
        yield names


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"
