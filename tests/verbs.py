"""What the cast does, by name: `join(world, "ben", "x")`. Actions, not HTTP; `world.call` is for HTTP."""

from __future__ import annotations

from uuid import UUID

from conversations.actions import archiving, joining, scopes, threads
from conversations.models import Message, Scope
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
