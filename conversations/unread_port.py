"""What conversations ask of unread without knowing it: answers from memory, installed by `loopd.bootstrap`."""

from __future__ import annotations

from typing import Any, Protocol
from uuid import UUID


class UnreadReader(Protocol):
    """All answers come from memory, without a database statement."""

    def has_unread(self, workspace_id: UUID, member_id: UUID) -> bool:
        """False also where this process may not or cannot say."""
        ...

    def scope_unread(self, workspace_id: UUID, member_id: UUID, scope_id: UUID) -> dict[str, Any]:
        """`{state, messages, activities, manual, mentions}` as shown; numbers are numbers, never null."""
        ...

    def overloaded(self, workspace_id: UUID) -> bool:
        """The flush backlog is over its budget: writers are refused with a 503."""
        ...


class NoUnread:
    """Commands and processes without a runtime: nothing is shown, nobody is pushed back."""

    def has_unread(self, workspace_id: UUID, member_id: UUID) -> bool:
        return False

    def scope_unread(self, workspace_id: UUID, member_id: UUID, scope_id: UUID) -> dict[str, Any]:
        return {"state": "unavailable", "messages": 0, "activities": 0, "manual": False, "mentions": 0}

    def overloaded(self, workspace_id: UUID) -> bool:
        return False


_reader: UnreadReader = NoUnread()


def install_unread_reader(reader: UnreadReader) -> None:
    global _reader
    _reader = reader


def unread_reader() -> UnreadReader:
    return _reader
