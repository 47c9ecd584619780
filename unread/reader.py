"""What answers of `conversations` show of unread: from memory, without a statement."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

from .core.runtime import UnreadRuntime
from .core.states import CountState, Shown
from .shapes import shown_json

_QUIET = {"hydrating": CountState.HYDRATING, "unavailable": CountState.UNAVAILABLE}


class MemoryReader:
    """Implements `conversations.unread_port.UnreadReader`."""

    def __init__(self, runtime: UnreadRuntime, wake: Callable[[UUID, UUID], None]) -> None:
        """`wake` sees to it that a workspace which this process may own gets loaded for the member; returns at once."""
        self._runtime, self._wake = runtime, wake

    def has_unread(self, workspace_id: UUID, member_id: UUID) -> bool:
        self._wake(workspace_id, member_id)
        return bool(self._runtime.has_unread(workspace_id.int, member_id.int))

    def scope_unread(self, workspace_id: UUID, member_id: UUID, scope_id: UUID) -> dict[str, Any]:
        self._wake(workspace_id, member_id)
        view = self._runtime.member_unread(workspace_id.int, member_id.int, [scope_id.int])
        if view.state in _QUIET:
            return shown_json(_nothing(_QUIET[view.state]))
        shown = self._runtime.shown(workspace_id.int, member_id.int, scope_id.int)
        return shown_json(shown or _nothing(CountState.HYDRATING))

    def overloaded(self, workspace_id: UUID) -> bool:
        return bool(self._runtime.overloaded(workspace_id.int))


def _nothing(state: CountState) -> Shown:
    return Shown(state, messages=0, activities=0, manual=False, mentions=0)
