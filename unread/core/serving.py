"""The read side: red dots, views, evidence, and the sockets that follow along. All of it from memory."""

from __future__ import annotations

from collections.abc import Sequence

from . import views
from .evidence import observe
from .owner import Owner
from .ports import ScopeEvidence
from .states import MemberDelta, MemberUnread, Shown
from .watching import unwatch, watch


class Serving(Owner):
    """Never reads the database and, but for `observe`, never changes what is counted."""

    def has_unread(self, workspace: int, member: int) -> bool:
        """The red dot. Takes no lock and enqueues nothing; False while the member's pages are not in."""
        owned = self._owned.get(workspace)
        if owned is None:
            return False
        members = owned.members
        number = members.numbers.get(member)
        return number is not None and members.lit_view[number] > 0

    def member_unread(self, workspace: int, member: int, scopes: Sequence[int] | None = None) -> MemberUnread:
        """What a member is shown, from memory; with `scopes` only their counts. Enqueues nothing."""
        owned = self._owned.get(workspace)
        if owned is None:
            return views.UNAVAILABLE
        with owned.lock:
            view = views.UNAVAILABLE if owned.closed else views.member_unread(owned, member, scopes)
        if view.state == "hydrating":
            self._metrics.count("suppressed_responses")
        return view

    def shown(self, workspace: int, member: int, scope: int) -> Shown | None:
        """One entry with its state, also where it shows nothing; None where memory has no such entry."""
        owned = self._owned.get(workspace)
        if owned is None:
            return None
        with owned.lock:
            return views.shown_of(owned, member, scope)

    def member_version(self, workspace: int, member: int) -> int:
        """To be noted before a query whose result goes to `observe`."""
        owned = self._owned.get(workspace)
        return 0 if owned is None else owned.version

    def observe(
        self, workspace: int, member: int, noted_version: int, evidence: Sequence[ScopeEvidence], complete: bool
    ) -> None:
        """What a page read of the member's scopes for its own purpose; it may only lower or hide."""
        owned = self._owned.get(workspace)
        if owned is None:
            return
        with owned.lock:
            number = owned.members.numbers.get(member)
            if owned.closed or number is None:
                return
            observe(owned, number, noted_version, evidence, complete=complete)
            left = owned.leave()
        self._after(owned, *left)

    def watch(self, workspace: int, member: int) -> None:
        """A socket of the member opened; while any is open, changes are collected for it."""
        owned = self._owned.get(workspace)
        if owned is not None:
            with owned.lock:
                watch(owned, member)

    def unwatch(self, workspace: int, member: int) -> None:
        owned = self._owned.get(workspace)
        if owned is not None:
            with owned.lock:
                unwatch(owned, member)

    def take_delta(self, workspace: int, member: int) -> MemberDelta | None:
        """The latest state of what changed since the last delta or snapshot; None if there is nothing to tell.

        Where more changed than fits one delta, the sink is told that there is more.
        """
        owned = self._owned.get(workspace)
        if owned is None:
            return None
        with owned.lock:
            number = owned.members.numbers.get(member)
            watched = None if number is None else owned.watches.get(number)
            if watched is None or owned.closed:
                return None
            delta = views.take_delta(owned, member, watched)
            more = delta is not None and delta.unread.version < owned.version and views.has_more(owned, member, watched)
        if more:
            self._after(owned, [member], [])
        return delta

    def snapshot(self, workspace: int, member: int) -> MemberUnread:
        """The whole view, after which deltas go on from its version."""
        owned = self._owned.get(workspace)
        if owned is None:
            return views.UNAVAILABLE
        with owned.lock:
            if owned.closed:
                return views.UNAVAILABLE
            number = owned.members.numbers.get(member)
            return views.snapshot(owned, member, None if number is None else owned.watches.get(number))
