"""Committed facts as the unread runtime takes them: frozen, past tense, plain integers.

Ids are the integer values of UUIDs, 0 means "none". Seqs start at 1, so cursor 0 reads nothing. Every event names its
scope and that scope's parent (0 without one), so that a thread known only from an event can be hidden with its parent.
Generations belong to the row that the fact changed and rise by one with each change; a later one always wins.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum


class Level(IntEnum):
    """Notification level; applied when shown, never when counted."""

    ALL = 0
    MENTIONS = 1
    NONE = 2


@dataclass(frozen=True, slots=True)
class Event:
    """A fact about one scope."""

    workspace: int
    scope: int
    parent: int


@dataclass(frozen=True, slots=True)
class Counted:
    """What decides whether a message counts, and for whom."""

    author: int
    principal: int
    counts: bool
    """Human-visible and not `silent`."""
    mentions: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class MessageStored(Event):
    """A message was committed (or its replay published again, with the message's current facts)."""

    seq: int
    facts: Counted
    roster_generation: int
    """As captured under the scope's lock: the roster that must be complete before this is accounted."""
    rewind_generation: int
    """As read together with `facts`."""
    recipients: tuple[int, ...] | None = None
    """Task scopes: the frozen human recipients; None everywhere else."""


@dataclass(frozen=True, slots=True)
class NonMessageActivityStored(Event):
    """A durable activity was committed."""

    seq: int
    actor: int
    counts: bool
    """Its type is high-signal."""
    roster_generation: int
    recipients: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class CursorEvent(Event):
    """Both cursors of one member after a read, with the ends of the scope as its transaction saw them."""

    member: int
    last_read_seq: int
    last_activity_read_seq: int
    read_generation: int
    latest_seq: int
    latest_activity_seq: int


@dataclass(frozen=True, slots=True)
class ReadCursorAdvanced(CursorEvent):
    """The message cursor moved (the activity cursor may have moved with it)."""


@dataclass(frozen=True, slots=True)
class ActivityReadCursorAdvanced(CursorEvent):
    """Only the activity cursor moved."""


@dataclass(frozen=True, slots=True)
class UnreadFrom:
    """ "Mark unread from this message": the new cursor and every message row past it, as one transaction read them."""

    last_read_seq: int
    last_activity_read_seq: int
    read_generation: int
    latest_seq: int
    rewind_generation: int
    rows: tuple[tuple[int, Counted], ...]
    """`(seq, facts)` for each present message with seq > last_read_seq, at most `scope_log_size` of them."""


@dataclass(frozen=True, slots=True)
class ManualUnreadSet(Event):
    """A member marked a scope unread by hand; `marker_seq` is where a read must reach to clear it."""

    member: int
    marker_seq: int
    marker_generation: int
    unread_from: UnreadFrom | None = None


@dataclass(frozen=True, slots=True)
class ManualUnreadCleared(Event):
    member: int
    marker_generation: int


@dataclass(frozen=True, slots=True)
class NotificationPolicyChanged(Event):
    member: int
    level: Level
    policy_generation: int


@dataclass(frozen=True, slots=True)
class MembershipChanged(Event):
    """A membership began, ended or changed visibility; carries the member's complete rows after the change."""

    member: int
    active: bool
    visible: bool
    begins: bool
    """True where the change makes the member one of the roster anew: counts start at zero from `effective_from_seq`."""
    effective_from_seq: int
    last_read_seq: int
    last_activity_read_seq: int
    membership_generation: int
    read_generation: int
    level: Level
    policy_generation: int
    marker_seq: int
    """0 when no marker is set."""
    marker_generation: int
    roster_generation: int


@dataclass(frozen=True, slots=True)
class ScopeStateChanged(Event):
    """The scope was archived, restored or changed in another way that is ordered by its roster generation."""

    active: bool
    roster_generation: int


@dataclass(frozen=True, slots=True)
class MessageChange:
    """One message before and after; None where it does not exist (any more)."""

    seq: int
    before: Counted | None
    after: Counted | None


@dataclass(frozen=True, slots=True)
class MessagesChanged(Event):
    """Messages were removed or changed what they count; applied in `rewind_generation` order."""

    changes: tuple[MessageChange, ...]
    rewind_generation: int
    """The scope's generation after this change."""
    roster_generation: int
    recipients: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class MessageRewound(MessagesChanged):
    """Messages were deleted, one by one or by a rewind."""


@dataclass(frozen=True, slots=True)
class MessageVisibilityChanged(MessagesChanged):
    """Messages became visible or hidden."""


@dataclass(frozen=True, slots=True)
class MessageMentionsChanged(MessagesChanged):
    """An edit added or removed mentions."""


@dataclass(frozen=True, slots=True)
class TaskAttention(Event):
    """One row of a task's outbox: what happened, and the human recipients that were frozen with it."""

    recipients: tuple[int, ...]
    message_seq: int = 0
    facts: Counted | None = None
    activity_seq: int = 0
    actor: int = 0
    activity_counts: bool = False
    """False for the activity that goes with a message: it never counts a second time."""
    changes: tuple[MessageChange, ...] = ()
    changed_for: tuple[frozenset[int] | None, ...] = ()
    """For each change whom its message was frozen for; None: for all recipients of this event."""
    rewind_generation: int = 0
    """Of the facts, or after the changes."""
