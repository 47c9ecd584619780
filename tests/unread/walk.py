"""Every action once or more, each in a workspace where it changes something, and where it changes nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conversations.actions import (
    activities,
    answering,
    archiving,
    asking,
    consuming,
    editing,
    joining,
    marking_unread,
    messages,
    notifications,
    reactions,
    reading,
    registry,
    removing,
    scopes,
    streams,
    tasks,
    threads,
    tokens,
    users,
    workspace_members,
    workspaces,
)
from conversations.models import ApiToken, Message
from conversations.models.scope import Visibility
from conversations.models.workspace import MemberStatus, Role
from tests import verbs as do
from tests.conversations.streams.answers import begin, emit, end, more, opened
from tests.world import World


class Play:
    """A workspace; `history` happens in it, after which every step of the walk has something to change."""

    first: Message
    second: Message
    third: Message
    reply: Message
    stream: Message

    def __init__(self) -> None:
        self.world = World("ann", "ben", "cat", "dan", agents=("bot",))

    def history(self) -> None:
        world = self.world
        world.channel("x", "ann", "ben", "cat", "bot")
        world.channel("p", "ann", "ben", private=True)
        world.channel("q", "ann", "ben", "cat")
        world.dm("d", "ann", "ben")
        world.conversation("c", "ben", "bot", "ann")
        self.first = do.post(world, "ann", "x", client_message_id="first", mentions=["ben"])
        self.second = do.post(world, "ben", "x")
        self.third = do.post(world, "ann", "x", mentions=["cat"])
        do.post(world, "bot", "c", mentions=["ben"])
        do.post(world, "cat", "q")
        do.thread(world, "ben", self.first, "t")
        self.reply = do.post(world, "ben", "t")
        do.thread(world, "ann", self.third, "u")
        do.post(world, "cat", "u", mentions=["ben"])
        do.post(world, "ann", "u")
        do.share(world, "ann", "x")
        do.share(world, "ben", "x", "pin")
        do.react(world, "ben", self.first, "tada")
        do.mark_unread(world, "cat", "x", self.second)
        do.notify(world, "cat", "x", "mentions")
        do.post(world, "ann", "p", mentions=["ben"])
        do.leave(world, "ben", "p")
        do.post(world, "ann", "p")
        do.post(world, "ben", "d")
        do.archive(world, "ann", "d")


Act = Callable[[World, Play], Any]


class Step:
    """`acts`, one after the other, of which one is about `verb`.

    `changes`: whether anything is written that unread depends on, or that pages hear of. `bounds`: whether, after a
    restart, it needs a recount that the log of the new process cannot give.
    """

    def __init__(self, verb: Callable[..., Any], *acts: Act, changes: bool = True, bounds: bool = False) -> None:
        self.verb, self.acts, self.changes, self.bounds = verb, acts, changes, bounds


def _member(w: World, who: str) -> dict[str, Any]:
    return {"user": w.user["ann"], "workspace_id": w.id, "member_id": w.member[who].id}


def _update(w: World, who: str, **change: Any) -> None:
    workspace_members.update_member(**_member(w, who), **change)


def _new_person(w: World) -> None:
    name = f"eve-{w.tag}"
    users.ensure_user(username=name)
    workspace_members.add_member(user=w.user["ann"], workspace_id=w.id, username=name)


def _read_many(w: World, who: str, *names: str) -> None:
    ids = [w.scope[name].id for name in names]
    reading.mark_many_read(user=w.user[who], workspace_id=w.id, scope_ids=ids)


def _poll(w: World) -> Any:
    """The id of a message that the bot has polled, which ann said."""
    said = do.post(w, "ann", "c")
    polled = consuming.poll(user=w.user["bot"], scope_id=w.scope["c"].id, actor=("operator", "bot"))
    assert polled.position == said.id
    return said.id


def _ask(w: World, scope: str, **more: Any) -> Any:
    """The id of the bot's question, which nobody else has asked before."""
    question = asking.Question(kind="confirm", title="Go?", prompt="", timeout_s=600, **more)
    said = {"user": w.user["bot"], "scope_id": w.scope[scope].id, "actor": None, "effect_key": "go"}
    return asking.ask(**said, question=question).message.id


def _answer(w: World, who: str, scope: str, question_id: Any) -> None:
    answering.answer(
        user=w.user[who], scope_id=w.scope[scope].id, question_id=question_id, outcome="success", value="accepted"
    )


def _task(w: World, **change: Any) -> None:
    """Of ann alone: whom a task is for is told by its outbox."""
    made = tasks.create_task(user=w.user["ann"], workspace_id=w.id, title="Paint the door")
    if change:
        tasks.change_task(user=w.user["ann"], task_id=made.id, change=tasks.TaskChange(**change))


def _token(w: World) -> None:
    token = tokens.create_token(user=w.user["ben"])
    assert token
    newest = ApiToken.objects.filter(user=w.user["ben"]).latest("created_at")
    tokens.revoke_token(token_id=newest.id)


send, edit, unread = messages.send_message, editing.edit_message, marking_unread.mark_unread
add, remove, level = joining.add_to_scope, joining.remove_from_scope, notifications.set_notifications

WALK: dict[str, Step] = {
    "send": Step(send, lambda w, p: do.post(w, "ann", "x")),
    "send with mentions": Step(send, lambda w, p: do.post(w, "ann", "x", mentions=["ben", "cat"])),
    "send to a muted member": Step(
        send, lambda w, p: do.notify(w, "ben", "x", "none"), lambda w, p: do.post(w, "ann", "x")
    ),
    "send hidden": Step(send, lambda w, p: do.post(w, "ann", "x", message_type="task_dispatch")),
    "send on a person's behalf": Step(send, lambda w, p: do.post(w, "bot", "x", on_behalf_of="ben")),
    "open a stream": Step(send, lambda w, p: do.post(w, "bot", "x", stream=True)),
    "write a stream to its end": Step(
        streams.emit_event,
        lambda w, p: setattr(p, "stream", opened(w)),
        lambda w, p: emit(w, p.stream, begin(1, text="@ann and @ben")),
        lambda w, p: emit(w, p.stream, more(2, " and @cat")),
        lambda w, p: emit(w, p.stream, end(3)),
    ),
    "send where one has marked unread": Step(send, lambda w, p: do.post(w, "cat", "x")),
    "send after having read little": Step(send, lambda w, p: do.post(w, "ben", "q")),
    "send again": Step(send, lambda w, p: do.post(w, "ann", "x", client_message_id="first", mentions=["ben"])),
    "send again after an edit": Step(
        send,
        lambda w, p: do.edit(w, "ann", p.first, "new", mentions=("cat",)),
        lambda w, p: do.post(w, "ann", "x", client_message_id="first", mentions=["ben"]),
    ),
    "write in a thread": Step(send, lambda w, p: do.post(w, "cat", "t")),
    "mention in a thread": Step(send, lambda w, p: do.post(w, "ben", "t", mentions=["cat", "bot"])),
    "write in a dm that was archived": Step(
        send, lambda w, p: do.restore(w, "ann", "d"), lambda w, p: do.post(w, "ann", "d")
    ),
    "edit": Step(edit, lambda w, p: do.edit(w, "ann", p.first, "new", mentions=("ben",))),
    "edit mentions": Step(edit, lambda w, p: do.edit(w, "ann", p.first, "new", mentions=("cat", "bot"))),
    "edit mentions away": Step(edit, lambda w, p: do.edit(w, "ann", p.third, "new")),
    "edit mentions in a thread": Step(edit, lambda w, p: do.edit(w, "ben", p.reply, "new", mentions=("cat",))),
    "delete": Step(removing.delete_message, lambda w, p: do.delete(w, "ann", p.first)),
    "delete what is last": Step(removing.delete_message, lambda w, p: do.delete(w, "ann", p.third)),
    "delete in a thread": Step(removing.delete_message, lambda w, p: do.delete(w, "ben", p.reply)),
    "rewind": Step(removing.rewind, lambda w, p: do.rewind(w, "ann", "x", p.first)),
    "rewind nothing": Step(removing.rewind, lambda w, p: do.rewind(w, "ann", "x", p.third), changes=False),
    "read everything": Step(reading.mark_read, lambda w, p: do.read(w, "ben", "x")),
    "read a thread": Step(reading.mark_read, lambda w, p: do.read(w, "ben", "u")),
    "read up to a message": Step(reading.mark_read, lambda w, p: do.read(w, "cat", "x", p.second), bounds=True),
    "read what is read": Step(reading.mark_read, lambda w, p: do.read(w, "ann", "x", p.first), changes=False),
    "read many": Step(reading.mark_many_read, lambda w, p: _read_many(w, "ben", "x", "q", "u", "c")),
    "read many that are read": Step(reading.mark_many_read, lambda w, p: _read_many(w, "bot", "c"), changes=False),
    "mark unread": Step(unread, lambda w, p: do.mark_unread(w, "ben", "x")),
    "mark a thread unread": Step(unread, lambda w, p: do.mark_unread(w, "ben", "t")),
    "mark unread again": Step(unread, lambda w, p: do.mark_unread(w, "cat", "x"), changes=False),
    "mark unread from a message": Step(unread, lambda w, p: do.mark_unread(w, "ben", "x", p.first)),
    "mark unread from another message": Step(unread, lambda w, p: do.mark_unread(w, "cat", "x", p.third)),
    "mark unread from the same": Step(unread, lambda w, p: do.mark_unread(w, "cat", "x", p.second), changes=False),
    "clear unread": Step(marking_unread.clear_unread, lambda w, p: do.clear_unread(w, "cat", "x")),
    "clear nothing": Step(marking_unread.clear_unread, lambda w, p: do.clear_unread(w, "ben", "x"), changes=False),
    "mute": Step(level, lambda w, p: do.notify(w, "ben", "x", "none")),
    "mute and unmute": Step(
        level, lambda w, p: do.notify(w, "ben", "x", "none"), lambda w, p: do.notify(w, "ben", "x", "all")
    ),
    "hear of everything": Step(level, lambda w, p: do.notify(w, "cat", "x", "all")),
    "the same level": Step(level, lambda w, p: do.notify(w, "cat", "x", "mentions"), changes=False),
    "react": Step(reactions.react, lambda w, p: do.react(w, "ben", p.second)),
    "react again": Step(reactions.react, lambda w, p: do.react(w, "ben", p.first, "tada"), changes=False),
    "take a reaction back": Step(reactions.unreact, lambda w, p: do.unreact(w, "ben", p.first, "tada")),
    "take none back": Step(reactions.unreact, lambda w, p: do.unreact(w, "cat", p.first, "tada"), changes=False),
    "share": Step(activities.post_activity, lambda w, p: do.share(w, "ben", "x")),
    "set a topic": Step(activities.post_activity, lambda w, p: do.share(w, "ben", "x", "topic")),
    "share in a thread": Step(activities.post_activity, lambda w, p: do.share(w, "ann", "t", "attachment")),
    "join": Step(add, lambda w, p: do.join(w, "dan", "x")),
    "join and hear": Step(
        add, lambda w, p: do.join(w, "dan", "x"), lambda w, p: do.post(w, "ann", "x", mentions=["dan"])
    ),
    "be added": Step(add, lambda w, p: do.join(w, "dan", "x", by="ann")),
    "join again": Step(add, lambda w, p: do.join(w, "ben", "p", by="ann")),
    "join where one is": Step(add, lambda w, p: do.join(w, "ben", "x"), changes=False),
    "leave": Step(remove, lambda w, p: do.leave(w, "ben", "x")),
    "leave and come back": Step(remove, lambda w, p: do.leave(w, "cat", "x"), lambda w, p: do.join(w, "cat", "x")),
    "leave a thread": Step(remove, lambda w, p: do.leave(w, "ben", "t")),
    "be removed": Step(remove, lambda w, p: do.leave(w, "cat", "x", by="ann")),
    "leave where one is not": Step(remove, lambda w, p: do.leave(w, "dan", "x", by="ann"), changes=False),
    "archive": Step(archiving.archive, lambda w, p: do.archive(w, "ann", "x")),
    "archive a thread": Step(archiving.archive, lambda w, p: do.archive(w, "ann", "t")),
    "archive what is archived": Step(archiving.archive, lambda w, p: do.archive(w, "ann", "d"), changes=False),
    "archive and restore": Step(
        archiving.restore, lambda w, p: do.archive(w, "ann", "x"), lambda w, p: do.restore(w, "ann", "x")
    ),
    "restore": Step(archiving.restore, lambda w, p: do.restore(w, "ann", "d")),
    "restore what is open": Step(archiving.restore, lambda w, p: do.restore(w, "ann", "x"), changes=False),
    "rename": Step(scopes.rename, lambda w, p: do.rename(w, "ann", "x", "renamed")),
    "the same name": Step(scopes.rename, lambda w, p: do.rename(w, "ann", "x", "x"), changes=False),
    "make private": Step(scopes.rename, lambda w, p: do.publicise(w, "ann", "x", Visibility.PRIVATE)),
    "make public": Step(scopes.rename, lambda w, p: do.publicise(w, "ann", "p", Visibility.PUBLIC)),
    "open a channel": Step(scopes.create_channel, lambda w, p: w.channel("n", "ben", "cat")),
    "open a dm": Step(scopes.open_dm, lambda w, p: w.dm("e", "ben", "cat")),
    "find an archived dm": Step(scopes.open_dm, lambda w, p: w.dm("d", "ben", "ann")),
    "open a conversation": Step(scopes.create_conversation, lambda w, p: w.conversation("k", "ben", "bot")),
    "open a thread": Step(threads.open_thread, lambda w, p: do.thread(w, "cat", p.second, "v")),
    "open it again": Step(threads.open_thread, lambda w, p: do.thread(w, "ben", p.first, "t"), changes=False),
    "create a task": Step(tasks.create_task, lambda w, p: _task(w)),
    "change a task": Step(tasks.change_task, lambda w, p: _task(w, title="Paint the gate", status="done")),
    "send to an agent": Step(send, lambda w, p: do.post(w, "ann", "c", target=("operator", "bot"))),
    "ask": Step(asking.ask, lambda w, p: _ask(w, "x")),
    "ask one person": Step(asking.ask, lambda w, p: _ask(w, "c", target=("user", "ben"))),
    "ask again": Step(asking.ask, lambda w, p: _ask(w, "c"), lambda w, p: _ask(w, "c")),
    "answer": Step(answering.answer, lambda w, p: _answer(w, "ben", "x", _ask(w, "x"))),
    "answer where one directs agents": Step(answering.answer, lambda w, p: _answer(w, "ann", "c", _ask(w, "c"))),
    "answer again": Step(
        answering.answer,
        lambda w, p: _answer(w, "ben", "c", _ask(w, "c")),
        lambda w, p: _answer(w, "ben", "c", _ask(w, "c")),
    ),
    "poll": Step(consuming.poll, lambda w, p: _poll(w)),
    "commit": Step(
        consuming.commit,
        lambda w, p: consuming.commit(
            user=w.user["bot"], scope_id=w.scope["c"].id, actor=("operator", "bot"), message_id=_poll(w)
        ),
    ),
    "register": Step(
        registry.register,
        lambda w, p: registry.register(user=w.user["ann"], kind="harness", key=f"h-{w.tag}", name="H", lease_s=60),
        changes=False,
    ),
    "add a member": Step(workspace_members.add_member, lambda w, p: _new_person(w)),
    "rename a member": Step(workspace_members.update_member, lambda w, p: _update(w, "ben", display_name="Benno")),
    "change nothing of a member": Step(
        workspace_members.update_member, lambda w, p: _update(w, "ben", role=Role.MEMBER), changes=False
    ),
    "deactivate": Step(
        workspace_members.deactivate_member, lambda w, p: workspace_members.deactivate_member(**_member(w, "ben"))
    ),
    "deactivate and return": Step(
        workspace_members.update_member,
        lambda w, p: workspace_members.deactivate_member(**_member(w, "ben")),
        lambda w, p: _update(w, "ben", status=MemberStatus.ACTIVE),
    ),
    "make another workspace": Step(
        workspaces.create_workspace,
        lambda w, p: workspaces.create_workspace(user=w.user["ben"], slug=f"n-{w.tag}", name="New"),
        changes=False,
    ),
    "rename the workspace": Step(
        workspaces.update_workspace,
        lambda w, p: workspaces.update_workspace(user=w.user["ann"], workspace_id=w.id, name="Other"),
    ),
    "make and revoke a token": Step(tokens.create_token, lambda w, p: _token(w), changes=False),
    "revoke a token again": Step(tokens.revoke_token, lambda w, p: _token(w), changes=False),
    "find or make a user": Step(
        users.ensure_user, lambda w, p: users.ensure_user(username=f"f-{w.tag}"), changes=False
    ),
    "set a password": Step(
        users.set_user_password,
        lambda w, p: users.set_user_password(username=f"ben-{w.tag}", password="a long enough passphrase"),
        changes=False,
    ),
}
