"""Who listens where: a room for each conversation that is watched, with the scopes whose messages it hears."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from uuid import UUID

from .feeds import Feed

MAX_PASSED_OVER = 10_000
"""Scopes inside a watched conversation that are known not to be heard in its room (its threads)."""


class Room:
    __slots__ = ("conversation_id", "feeds", "scopes", "workspace_id")

    def __init__(self, workspace_id: UUID, conversation_id: UUID) -> None:
        self.workspace_id, self.conversation_id = workspace_id, conversation_id
        self.feeds: dict[Feed, None] = {}
        self.scopes: set[UUID] = {conversation_id}
        """The conversation itself and its process conversations."""


class Rooms:
    """Changed by the hub's thread alone; `hears` and `watches` may be asked from any."""

    def __init__(self) -> None:
        self._rooms: dict[UUID, Room] = {}
        self._by_scope: dict[UUID, tuple[Room, ...]] = {}
        self._workspaces: dict[UUID, int] = {}
        self._passed_over: dict[UUID, None] = {}

    def __iter__(self) -> Iterator[Room]:
        return iter(tuple(self._rooms.values()))

    def hears(self, scope_id: UUID, parent_id: UUID | None) -> bool:
        """Whether a message of that scope may concern a room."""
        if scope_id in self._by_scope:
            return True
        return parent_id in self._rooms and scope_id not in self._passed_over

    def watches(self, workspace_id: UUID) -> bool:
        """Whether anybody listens to anything there."""
        return workspace_id in self._workspaces

    def room(self, conversation_id: UUID) -> Room | None:
        return self._rooms.get(conversation_id)

    def knows(self, scope_id: UUID) -> bool:
        return scope_id in self._by_scope

    def enter(self, feed: Feed) -> tuple[Room, bool]:
        """The feed's room, and whether it is new."""
        who = feed.subscriber
        room = self._rooms.get(who.conversation_id)
        new = room is None
        if room is None:
            room = self._rooms[who.conversation_id] = Room(who.workspace_id, who.conversation_id)
            self._workspaces[who.workspace_id] = self._workspaces.get(who.workspace_id, 0) + 1
            self._hear(room, [who.conversation_id])
        room.feeds[feed] = None
        return room, new

    def leave(self, feed: Feed) -> set[UUID]:
        """The scopes that nobody hears any more."""
        room = self._rooms.get(feed.subscriber.conversation_id)
        if room is None or feed not in room.feeds:
            return set()
        del room.feeds[feed]
        if room.feeds:
            return set()
        del self._rooms[room.conversation_id]
        left = self._workspaces[room.workspace_id] - 1
        if left:
            self._workspaces[room.workspace_id] = left
        else:
            del self._workspaces[room.workspace_id]
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
