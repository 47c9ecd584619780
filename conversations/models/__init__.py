"""The durable truth, one concept a file."""

from .activity import Activity
from .attention import InboxRow, TaskAttentionOutbox
from .consumer import ConversationConsumer
from .lease import ResourceLock
from .membership import Membership, MemberState, NotificationSetting
from .message import Message, MessageMention, MessagePart, MessageReaction
from .registry import Harness, Operator
from .removed import RemovedMessage
from .repair import RepairRun
from .run import HarnessRun
from .scope import Scope
from .task import Task
from .token import ApiToken
from .workspace import Member, Workspace

__all__ = [
    "Activity",
    "ApiToken",
    "ConversationConsumer",
    "Harness",
    "HarnessRun",
    "InboxRow",
    "Member",
    "MemberState",
    "Membership",
    "Message",
    "MessageMention",
    "MessagePart",
    "MessageReaction",
    "NotificationSetting",
    "Operator",
    "RemovedMessage",
    "RepairRun",
    "ResourceLock",
    "Scope",
    "Task",
    "TaskAttentionOutbox",
    "Workspace",
]
