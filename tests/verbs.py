"""What the cast does, by name: `join(world, "ben", "x")`. Actions, not HTTP; `world.call` is for HTTP."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from conversations.actions import (
    activities,
    archiving,
    editing,
    joining,
    marking_unread,
    messages,
    notifications,
    reactions,
    reading,
    removing,
    scopes,
    threads,
)
from conversations.models import Activity, Message, Scope
from conversations.models.scope import Visibility

from .world import World


def join(world: World, who: str, scope: str, by: str | None = None) -> bool:
    """`who` joins, or is added by somebody. False where that changed nothing."""
    user = world.user[by or who]
    _, changed = joining.add_to_scope(user=user, scope_id=world.scope[scope].id, member_id=world.member[who].id)
    return changed


def leave(world: World, who: str, scope: str, by: str | None = None) -> bool:
    user = world.user[by or who]
    return joining.remove_from_scope(user=user, scope_id=world.scope[scope].id, member_id=world.member[who].id)


def archive(world: World, who: str, scope: str) -> Scope:
    return archiving.archive(user=world.user[who], scope_id=world.scope[scope].id)


def restore(world: World, who: str, scope: str) -> Scope:
    return archiving.restore(user=world.user[who], scope_id=world.scope[scope].id)


def rename(world: World, who: str, scope: str, name: str) -> Scope:
    return scopes.rename(user=world.user[who], scope_id=world.scope[scope].id, name=name)


def publicise(world: World, who: str, scope: str, visibility: Visibility) -> Scope:
    return scopes.rename(user=world.user[who], scope_id=world.scope[scope].id, visibility=visibility)


def thread(world: World, who: str, root: Message | UUID, name: str) -> Scope:
    """Open the thread of a message and call it `name` from now on."""
    message_id = root if isinstance(root, UUID) else root.id
    world.scope[name], _ = threads.open_thread(user=world.user[who], message_id=message_id)
    return world.scope[name]


def fresh(scope: Scope) -> Scope:
    return Scope.objects.get(id=scope.id)


def post(world: World, who: str, scope: str, text: str = "hello", **said: Any) -> Message:
    """One message; `mentions` takes names of the cast, `reply_to` a message."""
    mentions = [world.member[name].id for name in said.pop("mentions", ())]
    if (reply_to := said.pop("reply_to", None)) is not None:
        said["reply_to_id"] = reply_to.id
    if (principal := said.pop("on_behalf_of", None)) is not None:
        said["notify_principal_id"] = world.member[principal].id
    spoken = {"text": text} if "content" not in said else {}
    return messages.send_message(
        user=world.user[who], scope_id=world.scope[scope].id, mentions=mentions, **spoken, **said
    ).message


def read(world: World, who: str, scope: str, upto: Message | None = None) -> reading.Read:
    """Everything, or up to a message."""
    return reading.mark_read(
        user=world.user[who], scope_id=world.scope[scope].id, message_id=None if upto is None else upto.id
    )


def mark_unread(world: World, who: str, scope: str, since: Message | None = None) -> None:
    marking_unread.mark_unread(
        user=world.user[who], scope_id=world.scope[scope].id, message_id=None if since is None else since.id
    )


def clear_unread(world: World, who: str, scope: str) -> None:
    marking_unread.clear_unread(user=world.user[who], scope_id=world.scope[scope].id)


def notify(world: World, who: str, scope: str, level: str) -> None:
    notifications.set_notifications(user=world.user[who], scope_id=world.scope[scope].id, level=level)


def edit(world: World, who: str, message: Message, text: str, mentions: tuple[str, ...] = ()) -> Message:
    return editing.edit_message(
        user=world.user[who], message_id=message.id, text=text, mentions=[world.member[name].id for name in mentions]
    )


def delete(world: World, who: str, message: Message) -> None:
    removing.delete_message(user=world.user[who], message_id=message.id)


def rewind(world: World, who: str, scope: str, to: Message) -> int:
    return removing.rewind(user=world.user[who], scope_id=world.scope[scope].id, to_message_id=to.id)


def react(world: World, who: str, message: Message, emoji: str = "thumbsup") -> bool:
    return reactions.react(user=world.user[who], message_id=message.id, emoji=emoji)


def unreact(world: World, who: str, message: Message, emoji: str = "thumbsup") -> bool:
    return reactions.unreact(user=world.user[who], message_id=message.id, emoji=emoji)


def share(world: World, who: str, scope: str, kind: str = "share") -> Activity:
    return activities.post_activity(user=world.user[who], scope_id=world.scope[scope].id, kind=kind)
