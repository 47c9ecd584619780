"""One message said: its append to a locked scope, with everything that belongs into the same transaction."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from ..access import ScopeAccess
from ..events import ConversationUpdated, Fact
from ..models import Member, Membership, Message, Scope
from ..models.membership import MembershipStatus
from ..models.scope import ScopeType
from .append import Utterance, append_message
from .attention import attend_message, audience, begin_audience
from .counted import stored_fact
from .cursors import advance_cursors
from .directing import direct
from .memberships import join_thread_members
from .summary import summary_facts


def speak(access: ScopeAccess, said: Utterance, people: Sequence[Member] = ()) -> tuple[Message, list[Fact]]:
    """Append `said`, in which `people` are mentioned, to the locked scope of `access`; the caller publishes the facts.

    Whoever writes or is mentioned joins a thread, an event of a task is frozen with its recipients, whom it is directed
    at gets a place to work in, and the author has read it.
    """
    scope, author = access.scope, said.author
    on_behalf = said.principal_id not in (None, author.id)
    facts: list[Fact] = []
    if scope.type == ScopeType.THREAD:
        facts += join_thread(scope, [author, *people], scope.latest_seq + 1)
    mentions = tuple(sorted(member.id for member in people))
    given = None
    if scope.type == ScopeType.TASK:
        given = audience(scope, {author.id, said.principal_id or author.id}, [member.id for member in people])
        facts += begin_audience(scope, given)
    message = append_message(scope, replace(said, mentions=mentions))
    stored = stored_fact(scope, message, mentions)
    if given is not None and (attended := attend_message(scope, message, given, mentions)):
        facts += [replace(stored, recipients=given.ids), *attended]
    else:
        facts.append(stored)
    facts += direct(scope, message)
    if not on_behalf:
        facts += _author_has_read(scope, access, message)
    facts += summary_facts(scope)
    return message, facts


def join_thread(thread: Scope, people: Iterable[Member], from_seq: int) -> list[Fact]:
    """Whoever writes in a thread or is mentioned there belongs to it, from the message of `from_seq` on."""
    begun = join_thread_members(thread, people, from_seq)
    if not begun:
        return []
    joined = tuple(fact.member_id for fact in begun)
    return [*begun, ConversationUpdated(thread.workspace_id, thread.id, members_changed=joined)]


def _author_has_read(scope: Scope, access: ScopeAccess, message: Message) -> list[Fact]:
    """Speaking counts as reading up to one's own message; a task is read as a whole."""
    membership = access.membership
    if scope.type == ScopeType.THREAD and not access.joined:
        membership = Membership.objects.filter(scope=scope, member=access.member).first()
    if membership is None or membership.status != MembershipStatus.ACTIVE:
        return []
    whole = scope.latest_activity_seq if scope.type == ScopeType.TASK else 0
    return advance_cursors(scope, membership, to_seq=message.seq, to_activity_seq=whole, named_seq=message.seq)
