"""The durable tables as far as unread needs them, held in memory; plain rows without a rule in them.

Imports nothing: `facts` writes these rows, `oracle` counts them, and neither may lean on the code under test here.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Message:
    seq: int
    author: int
    principal: int
    visible: bool
    silent: bool
    mentions: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Activity:
    seq: int
    actor: int
    high_signal: bool


@dataclass(slots=True)
class Membership:
    active: bool = False
    visible: bool = True
    effective_from_seq: int = 1
    last_read_seq: int = 0
    last_activity_read_seq: int = 0
    membership_generation: int = 0
    read_generation: int = 0
    begun_generation: int = 0
    """The membership generation at which the member last became one of the roster. No real column, like `versions`."""


@dataclass(slots=True)
class Setting:
    level: str = "all"
    generation: int = 0


@dataclass(slots=True)
class Marker:
    seq: int = 0
    """0 when no marker is set."""
    generation: int = 0


@dataclass(slots=True)
class Scope:
    id: int
    parent: int = 0
    root_seq: int = 0
    """The seq, in the parent, of the message a thread hangs on."""
    archived: bool = False
    latest_seq: int = 0
    latest_activity_seq: int = 0
    roster_generation: int = 0
    rewind_generation: int = 0
    messages: dict[int, Message] = field(default_factory=dict)
    """Present messages by seq; a removed one is gone."""
    activities: list[Activity] = field(default_factory=list)
    memberships: dict[int, Membership] = field(default_factory=dict)
    settings: dict[int, Setting] = field(default_factory=dict)
    markers: dict[int, Marker] = field(default_factory=dict)
    versions: dict[int, list[tuple[int, Message | None]]] = field(default_factory=dict)
    """By seq: what the message was from which rewind generation on. No real table; it lets a test look back."""

    def membership(self, member: int) -> Membership:
        return self.memberships.get(member) or Membership()

    def setting(self, member: int) -> Setting:
        return self.settings.get(member) or Setting()

    def marker(self, member: int) -> Marker:
        return self.markers.get(member) or Marker()

    def messages_at(self, rewind_generation: int) -> list[Message]:
        """The messages as they were once that generation, and none later, had happened."""
        found = []
        for versions in self.versions.values():
            message = None
            for generation, version in versions:
                if generation <= rewind_generation:
                    message = version
            if message is not None:
                found.append(message)
        return found


@dataclass(slots=True)
class Tables:
    workspace: int
    scopes: dict[int, Scope] = field(default_factory=dict)

    def threads_of(self, parent: int) -> list[Scope]:
        return [scope for scope in self.scopes.values() if scope.parent == parent]
