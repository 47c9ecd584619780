"""The one registry of activity types: which of them count as unread, and which a client may post."""

from __future__ import annotations

SHARE, ATTACHMENT, CALL, PIN = "share", "attachment", "call", "pin"
TASK_STATUS, TASK_TITLE, TASK_ASSIGNEE, TASK_COLUMN = "task_status", "task_title", "task_assignee", "task_column"
TOPIC, RENAME, VISIBILITY, ARCHIVED, RESTORED = "topic", "rename", "visibility", "archived", "restored"
MEMBER_JOINED, MEMBER_LEFT, REACTION, REWOUND = "member_joined", "member_left", "reaction", "rewound"
DISCUSSION_ADDED = "discussion_added"

TASK_EVENTS = frozenset({TASK_STATUS, TASK_TITLE, TASK_ASSIGNEE, TASK_COLUMN})

HIGH_SIGNAL = frozenset({SHARE, ATTACHMENT, CALL, PIN}) | TASK_EVENTS

LOW_SIGNAL = frozenset(
    {
        TOPIC,
        RENAME,
        VISIBILITY,
        ARCHIVED,
        RESTORED,
        MEMBER_JOINED,
        MEMBER_LEFT,
        REACTION,
        REWOUND,
        DISCUSSION_ADDED,  # its message counts; the pair must not count twice
    }
)

CLIENT_TYPES = frozenset({SHARE, ATTACHMENT, CALL, PIN, TOPIC})
"""Everything else is written by the action whose fact it is."""


def is_high_signal(activity_type: str) -> bool:
    """Raises `KeyError` for a type that is not registered: no activity is stored without a decision about it."""
    if activity_type in HIGH_SIGNAL:
        return True
    if activity_type in LOW_SIGNAL:
        return False
    raise KeyError(activity_type)
