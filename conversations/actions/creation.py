"""New scopes: the row, its first members and their facts, in the caller's transaction."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

from ..errors import Conflict
from ..events import ConversationUpdated, Fact
from ..ids import new_id
from ..locking import lock_scope
from ..models import Member, Scope
from .memberships import begin_memberships


def channel_identity(name: str) -> str:
    """Under which a public channel's name is taken: case, width and spacing do not make another name."""
    folded = " ".join(unicodedata.normalize("NFKC", name).casefold().split())
    return f"channel:{hashlib.sha256(folded.encode()).hexdigest()}"


def dm_identity(member_ids: Iterable[UUID]) -> str:
    joined = ",".join(str(member_id) for member_id in sorted(set(member_ids)))
    return f"dm:{hashlib.sha256(joined.encode()).hexdigest()}"


def thread_identity(root_message_id: UUID) -> str:
    return f"thread:{root_message_id}"


def create_scope(creator: Member, members: Sequence[Member], **columns: Any) -> tuple[Scope, list[Fact]]:
    """Insert a scope and begin its memberships; the new row is locked like any other, which checks the lease.

    Raises `IntegrityError` where its identity is taken (call inside an `atomic` block of its own then), `Conflict`
    where a member was deactivated meanwhile. `members`: each once.
    """
    made = Scope.objects.create(id=new_id(), workspace_id=creator.workspace_id, created_by=creator, **columns)
    scope = lock_scope(creator.workspace_id, made.id)
    begun = begin_memberships(scope, members)
    if len(begun) < len(members):
        raise Conflict("Somebody of those named was deactivated at this moment; nothing was made.")
    told = ConversationUpdated(scope.workspace_id, scope.id, members_changed=tuple(fact.member_id for fact in begun))
    return scope, [*begun, told]
