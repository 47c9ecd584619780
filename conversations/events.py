"""What actions publish after their commit: frozen facts in the past tense, ids and numbers only.

Facts for the unread runtime mirror `unread.core.events` field by field (ids are UUIDs here); the feed translates them.
`parent_id` is the scope's parent where it has one. Facts for live pages carry ids to fetch by.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from uuid import UUID


class Level(IntEnum):
    ALL = 0
    MENTIONS = 1
    NONE = 2


@dataclass(frozen=True, slots=True)
class Fact:
    """Something that happened in one workspace."""

    workspace_id: UUID


@dataclass(frozen=True, slots=True)
class ScopeFact(Fact):
    """A fact of one scope that unread depends on."""

    scope_id: UUID
    parent_id: UUID | None


@dataclass(frozen=True, slots=True)
class Counted:
    """What decides whether a message counts, and for whom."""

    author_id: UUID
    principal_id: UUID
    counts: bool
    mentions: tuple[UUID, ...] = ()


@dataclass(frozen=True, slots=True)
class MessageStored(ScopeFact):
    message_id: UUID
    seq: int
    facts: Counted
    roster_generation: int
    rewind_generation: int
    recipients: tuple[UUID, ...] | None = None
    replayed: bool = False
    """A retry answered with the first message: repairs a lost hook, and is no news for live pages."""


@dataclass(frozen=True, slots=True)
class NonMessageActivityStored(ScopeFact):
    activity_id: UUID
    type: str
    seq: int
    actor_id: UUID
    counts: bool
    roster_generation: int
    recipients: tuple[UUID, ...] | None = None


@dataclass(frozen=True, slots=True)
class CursorFact(ScopeFact):
    member_id: UUID
    last_read_seq: int
    last_activity_read_seq: int
    read_generation: int
    latest_seq: int
    latest_activity_seq: int


@dataclass(frozen=True, slots=True)
class ReadCursorAdvanced(CursorFact):
    """The message cursor moved (the activity cursor may have moved with it)."""


@dataclass(frozen=True, slots=True)
class ActivityReadCursorAdvanced(CursorFact):
    """Only the activity cursor moved."""


@dataclass(frozen=True, slots=True)
class UnreadFrom:
    last_read_seq: int
    last_activity_read_seq: int
    read_generation: int
    latest_seq: int
    rewind_generation: int
    rows: tuple[tuple[int, Counted], ...]


@dataclass(frozen=True, slots=True)
class ManualUnreadSet(ScopeFact):
    member_id: UUID
    marker_seq: int
    marker_generation: int
    unread_from: UnreadFrom | None = None


@dataclass(frozen=True, slots=True)
class ManualUnreadCleared(ScopeFact):
    member_id: UUID
    marker_generation: int


@dataclass(frozen=True, slots=True)
class NotificationPolicyChanged(ScopeFact):
    member_id: UUID
    level: Level
    policy_generation: int


@dataclass(frozen=True, slots=True)
class MembershipChanged(ScopeFact):
    member_id: UUID
    active: bool
    visible: bool
    begins: bool
    effective_from_seq: int
    last_read_seq: int
    last_activity_read_seq: int
    membership_generation: int
    read_generation: int
    level: Level
    policy_generation: int
    marker_seq: int
    marker_generation: int
    roster_generation: int


@dataclass(frozen=True, slots=True)
class ScopeStateChanged(ScopeFact):
    active: bool
    roster_generation: int


@dataclass(frozen=True, slots=True)
class MessageChange:
    message_id: UUID
    seq: int
    before: Counted | None
    after: Counted | None


@dataclass(frozen=True, slots=True)
class MessagesChanged(ScopeFact):
    changes: tuple[MessageChange, ...]
    rewind_generation: int
    roster_generation: int
    recipients: tuple[UUID, ...] | None = None
    """In a task those frozen with the messages, whose outbox tells of this; None everywhere else."""


@dataclass(frozen=True, slots=True)
class MessageRewound(MessagesChanged):
    """Deleted, one by one or by a rewind."""


@dataclass(frozen=True, slots=True)
class MessageVisibilityChanged(MessagesChanged):
    """Became visible or hidden."""


@dataclass(frozen=True, slots=True)
class MessageMentionsChanged(MessagesChanged):
    """An edit added or removed mentions."""


UNREAD_FACTS = (
    MessageStored,
    NonMessageActivityStored,
    ReadCursorAdvanced,
    ActivityReadCursorAdvanced,
    ManualUnreadSet,
    ManualUnreadCleared,
    NotificationPolicyChanged,
    MembershipChanged,
    ScopeStateChanged,
    MessageRewound,
    MessageVisibilityChanged,
    MessageMentionsChanged,
)


@dataclass(frozen=True, slots=True)
class MessageUpdated(Fact):
    """Content, status or revision of a message changed (edit, end of a stream, card transition, expiry)."""

    scope_id: UUID
    message_id: UUID


@dataclass(frozen=True, slots=True)
class ReactionChanged(Fact):
    scope_id: UUID
    message_id: UUID


@dataclass(frozen=True, slots=True)
class ConversationUpdated(Fact):
    """Name, visibility, status, summary or list of members of a conversation changed."""

    scope_id: UUID
    members_changed: tuple[UUID, ...] = ()
    """Who joined or left: their own pages must add or drop the conversation."""


@dataclass(frozen=True, slots=True)
class MemberUpdated(Fact):
    member_id: UUID


@dataclass(frozen=True, slots=True)
class WorkspaceUpdated(Fact):
    """Name of the workspace changed, or it was created."""
