"""Turns committed facts into frames for those who may see them.

Facts queue up in the committing thread (nothing is done where nobody is connected); a thread of its own takes what has
come, reads each kind of thing once for all of it, asks who may see which scope, and hands rendered frames to the hub.
Access is read after the commit, so whoever lost it hears nothing any more, whatever was queued before.
"""

from __future__ import annotations

import logging
import threading
from collections import defaultdict, deque
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, cast
from uuid import UUID

from conversations import events as facts
from conversations.connections import database_unit
from conversations.queries import news
from conversations.queries.audience import Audience, audiences

from . import frames
from .admission import NO_ACCESS
from .hub import Hub

logger = logging.getLogger(__name__)

MAX_WAITING_FACTS = 10_000
FACTS_PER_TURN = 200

Fact = facts.Fact


class Publisher:
    """A worker; `heard` is its listener for `conversations.publish`."""

    name = "realtime-publisher"

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._waiting: deque[Fact] = deque()
        self._lock = threading.Condition()
        self._ending = False
        self._thread: threading.Thread | None = None

    def heard(self, batch: Sequence[Fact]) -> None:
        """In the committing thread: O(facts), no database. Over the bound pages are told to read anew instead."""
        connected = self._hub.sockets.is_connected
        wanted = [fact for fact in batch if type(fact) in _KINDS and connected(fact.workspace_id) and _is_news(fact)]
        if not wanted:
            return
        with self._lock:
            if len(self._waiting) + len(wanted) <= MAX_WAITING_FACTS:
                self._waiting.extend(wanted)
                self._lock.notify()
                return
        self._hub.leave_out(wanted[0].workspace_id)

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    def start(self) -> None:
        self._thread = threading.Thread(target=self._run, name=self.name, daemon=True)
        self._thread.start()

    def stop(self, deadline_s: float) -> None:
        with self._lock:
            self._ending = True
            self._lock.notify()
        if self._thread is not None:
            self._thread.join(max(0.0, deadline_s))

    def healthy(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def _run(self) -> None:
        while True:
            with self._lock:
                self._lock.wait_for(lambda: self._waiting or self._ending)
                if not self._waiting:
                    return
                taken = [self._waiting.popleft() for _ in range(min(len(self._waiting), FACTS_PER_TURN))]
            by_workspace: defaultdict[UUID, list[Fact]] = defaultdict(list)
            for fact in taken:
                by_workspace[fact.workspace_id].append(fact)
            for workspace_id, some in by_workspace.items():
                try:
                    with database_unit():
                        self.publish(workspace_id, some)
                except Exception:
                    logger.exception("frames of %d facts were lost; pages are told to read anew", len(some))
                    self._hub.leave_out(workspace_id)

    def publish(self, workspace_id: UUID, some: Sequence[Fact]) -> None:
        """Render and post one workspace's facts, in their order."""
        people = self._hub.sockets.members(workspace_id)
        if not people:
            return
        told = _Told(workspace_id, some, people)
        for fact in some:
            for audience, frame in _KINDS[type(fact)](told, fact):
                if audience is None or audience:
                    self._hub.post(workspace_id, audience, frame)
        for member_id in told.deactivated:
            self._hub.call(lambda gone=member_id: self._close(workspace_id, gone))  # type: ignore[misc]

    def _close(self, workspace_id: UUID, member_id: UUID) -> None:
        self._hub.close(self._hub.sockets.of(workspace_id, member_id), NO_ACCESS)


def _is_news(fact: Fact) -> bool:
    return not (isinstance(fact, facts.MessageStored) and fact.replayed)


class _Told:
    """Everything that the frames of a turn need, read at once: at most fourteen statements, whatever its size."""

    def __init__(self, workspace_id: UUID, some: Sequence[Fact], people: Collection[UUID]) -> None:
        scopes = {fact.scope_id for fact in some if isinstance(fact, _SCOPED)}
        self.audience: dict[UUID, Audience] = audiences(workspace_id, scopes, people) if scopes else {}
        self.messages = news.messages_now(
            {f.message_id for f in some if isinstance(f, (facts.MessageStored, facts.MessageUpdated))}
            | {c.message_id for f in some if isinstance(f, facts.MessageVisibilityChanged) for c in f.changes}
        )
        self.reactions = news.reactions_now({f.message_id for f in some if isinstance(f, facts.ReactionChanged)})
        self.activities = news.activities_now(
            {f.activity_id for f in some if isinstance(f, facts.NonMessageActivityStored)}
        )
        self.conversations = news.conversations_now(
            {f.scope_id for f in some if isinstance(f, facts.ConversationUpdated)}
        )
        self.members = news.members_now({f.member_id for f in some if isinstance(f, facts.MemberUpdated)})
        self.deactivated = [member_id for member_id, item in self.members.items() if item["status"] != "active"]

    def of(self, scope_id: UUID) -> Audience:
        """Nobody where the scope is gone."""
        return self.audience.get(scope_id, frozenset())


Frames = Iterator[tuple[Audience, str]]


def _created(told: _Told, fact: facts.MessageStored) -> Frames:
    if rendered := told.messages.get(fact.message_id):
        yield told.of(fact.scope_id), frames.message("message.created", rendered)


def _updated(told: _Told, fact: facts.MessageUpdated) -> Frames:
    if rendered := told.messages.get(fact.message_id):
        yield told.of(fact.scope_id), frames.message("message.updated", rendered)


def _shown_or_hidden(told: _Told, fact: facts.MessageVisibilityChanged) -> Frames:
    for change in fact.changes:
        if rendered := told.messages.get(change.message_id):
            yield told.of(fact.scope_id), frames.message("message.updated", rendered)
        else:
            yield told.of(fact.scope_id), frames.message_deleted(change.message_id, fact.scope_id)


def _deleted(told: _Told, fact: facts.MessageRewound) -> Frames:
    for change in fact.changes:
        yield told.of(fact.scope_id), frames.message_deleted(change.message_id, fact.scope_id)


def _active(told: _Told, fact: facts.NonMessageActivityStored) -> Frames:
    if rendered := told.activities.get(fact.activity_id):
        yield told.of(fact.scope_id), frames.activity_created(rendered)


def _reacted(told: _Told, fact: facts.ReactionChanged) -> Frames:
    reactions = told.reactions.get(fact.message_id, {})
    yield told.of(fact.scope_id), frames.reaction_updated(fact.message_id, fact.scope_id, reactions)


def _changed(told: _Told, fact: facts.ConversationUpdated) -> Frames:
    shared = told.conversations.get(fact.scope_id)
    audience = told.of(fact.scope_id)
    if shared is not None:
        yield audience, frames.conversation_updated(shared, fact.members_changed)
    if audience is not None:
        gone = frozenset(fact.members_changed) - audience
        yield gone, frames.conversation_lost(fact.scope_id, fact.members_changed)


def _member(told: _Told, fact: facts.MemberUpdated) -> Frames:
    if rendered := told.members.get(fact.member_id):
        yield None, frames.member_updated(rendered)


def _read(told: _Told, fact: facts.CursorFact) -> Frames:
    yield (
        frozenset([fact.member_id]),
        frames.read_updated(fact.scope_id, fact.last_read_seq, fact.last_activity_read_seq),
    )


_KINDS = cast(
    "dict[type[Fact], Callable[[_Told, Any], Frames]]",
    {
        facts.MessageStored: _created,
        facts.MessageUpdated: _updated,
        facts.MessageVisibilityChanged: _shown_or_hidden,
        facts.MessageRewound: _deleted,
        facts.NonMessageActivityStored: _active,
        facts.ReactionChanged: _reacted,
        facts.ConversationUpdated: _changed,
        facts.MemberUpdated: _member,
        facts.ReadCursorAdvanced: _read,
        facts.ActivityReadCursorAdvanced: _read,
    },
)
_SCOPED = (facts.ScopeFact, facts.MessageUpdated, facts.ReactionChanged, facts.ConversationUpdated)
