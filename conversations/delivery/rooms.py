"""Who listens where: a room for each conversation that is watched, with the scopes whose messages it hears."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from uuid import UUID

from .feeds import Feed, Subscriber

MAX_PASSED_OVER = 10_000
"""Scopes inside a watched conversation that are known not to be heard in its room (its threads)."""


class Interest:
    """What somebody listens to, from the moment a feed is accepted, before it has entered its room. For any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._conversations: Counter[UUID] = Counter()
        self._workspaces: Counter[UUID] = Counter()

    def add(self, who: Subscriber) -> None:
        with self._lock:
            self._conversations[who.conversation_id] += 1
            self._workspaces[who.workspace_id] += 1

    def remove(self, who: Subscriber) -> None:
        with self._lock:
            for counter, key in ((self._conversations, who.conversation_id), (self._workspaces, who.workspace_id)):
                counter[key] -= 1
                if not counter[key]:
                    del counter[key]

    def in_conversation(self, conversation_id: UUID | None) -> bool:
        return conversation_id in self._conversations

    def in_workspace(self, workspace_id: UUID) -> bool:
        return workspace_id in self._workspaces


class Room:
    __slots__ = ("conversation_id", "feeds", "scopes", "workspace_id")

    def __init__(self, workspace_id: UUID, conversation_id: UUID) -> None:
        self.workspace_id, self.conversation_id = workspace_id, conversation_id
        self.feeds: dict[Feed, None] = {}
        self.scopes: set[UUID] = {conversation_id}
        """The conversation itself and its process conversations."""


class Rooms:
    """Changed by the hub's thread alone; `knows` and `passes_over` may be asked from any."""

    def __init__(self) -> None:
        self._rooms: dict[UUID, Room] = {}
        self._by_scope: dict[UUID, tuple[Room, ...]] = {}
        self._passed_over: dict[UUID, None] = {}

    def __iter__(self) -> Iterator[Room]:
        return iter(tuple(self._rooms.values()))

    def room(self, conversation_id: UUID) -> Room | None:
        return self._rooms.get(conversation_id)

    def knows(self, scope_id: UUID) -> bool:
        return scope_id in self._by_scope

    def passes_over(self, scope_id: UUID) -> bool:
        return scope_id in self._passed_over

    def enter(self, feed: Feed) -> None:
        who = feed.subscriber
        room = self._rooms.get(who.conversation_id)
        if room is None:
            room = self._rooms[who.conversation_id] = Room(who.workspace_id, who.conversation_id)
            self._hear(room, [who.conversation_id])
        room.feeds[feed] = None

    def leave(self, feed: Feed) -> set[UUID]:
        """The scopes that nobody hears any more."""
        room = self._rooms.get(feed.subscriber.conversation_id)
        if room is None or feed not in room.feeds:
            return set()
        del room.feeds[feed]
        if room.feeds:
            return set()
        del self._rooms[room.conversation_id]
        silent = set()
        for scope_id in room.scopes:
            others = tuple(other for other in self._by_scope[scope_id] if other is not room)
            if others:
                self._by_scope[scope_id] = others
            else:
                del self._by_scope[scope_id]
                silent.add(scope_id)
        return silent

    def add_scopes(self, room: Room, scope_ids: Iterable[UUID]) -> None:
        """Process conversations that the room hears from now on."""
        new = [scope_id for scope_id in scope_ids if scope_id not in room.scopes]
        room.scopes.update(new)
        self._hear(room, new)

    def pass_over(self, scope_ids: Collection[UUID]) -> None:
        """These are inside a watched conversation, and no part of its feed."""
        if len(self._passed_over) + len(scope_ids) > MAX_PASSED_OVER:
            self._passed_over.clear()
        self._passed_over.update(dict.fromkeys(scope_ids))

    def feeds_of(self, scope_id: UUID) -> Iterator[Feed]:
        """All that hear a scope."""
        for room in self._by_scope.get(scope_id, ()):
            yield from tuple(room.feeds)

    def all_feeds(self) -> list[Feed]:
        return [feed for room in self._rooms.values() for feed in room.feeds]

    def _hear(self, room: Room, scope_ids: Iterable[UUID]) -> None:
        for scope_id in scope_ids:
            self._by_scope[scope_id] = (*self._by_scope.get(scope_id, ()), room)
