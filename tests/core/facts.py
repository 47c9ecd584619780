"""Every write action that changes unread, as one transaction over the tables that returns the events of its commit.

What an action would refuse raises `Refused` and changes nothing; what would change nothing returns no events.
"""

from __future__ import annotations

import threading
from dataclasses import replace

from unread.core.events import (
    ActivityReadCursorAdvanced,
    Counted,
    Event,
    Level,
    ManualUnreadCleared,
    ManualUnreadSet,
    MembershipChanged,
    MessageChange,
    MessageMentionsChanged,
    MessageRewound,
    MessagesChanged,
    MessageStored,
    MessageVisibilityChanged,
    NonMessageActivityStored,
    NotificationPolicyChanged,
    ReadCursorAdvanced,
    ScopeStateChanged,
    UnreadFrom,
)

from .tables import Activity, Marker, Membership, Message, Scope, Setting, Tables

WORKSPACE = 0x0192_0000_0000_7000_8000 << 48 | 1
"""Ids are as wide as UUIDs, so that nothing under test may fit them into a machine word by accident."""
MEMBER = 0x0192_1111_0000_7000_8000 << 48
SCOPE = 0x0192_2222_0000_7000_8000 << 48

Batch = tuple[Event, ...]


class Refused(Exception):
    """The action is not allowed in this state (a 4xx of the product)."""


class Facts:
    """The durable state and its actions.

    `rows_limit` is how many rows "mark unread from here" may read; `join_moves_cursor` says whether joining puts the
    message cursor at the end of the scope or leaves it (`effective_from_seq` decides either way).
    """

    def __init__(self, members: int, rows_limit: int = 1024, join_moves_cursor: bool = True) -> None:
        self.tables = Tables(WORKSPACE)
        self.lock = threading.RLock()
        """Held around a transaction or a read where several threads play; the actions do not take it themselves."""
        self.members = tuple(MEMBER + n for n in range(1, members + 1))
        self.rows_limit = rows_limit
        self.join_moves_cursor = join_moves_cursor

    # Scopes

    def create_channel(self, members: tuple[int, ...]) -> tuple[int, Batch]:
        scope = self._new_scope(parent=0, root_seq=0)
        return scope.id, tuple(self._begin(scope, member, effective_from_seq=1) for member in members)

    def create_thread(self, opener: int, channel_id: int, root_seq: int) -> tuple[int, Batch]:
        channel = self._open_scope(opener, channel_id)
        root = self._message(channel, root_seq)
        if channel.parent or any(thread.root_seq == root_seq for thread in self.tables.threads_of(channel_id)):
            raise Refused("a message has at most one thread, and threads have none")
        thread = self._new_scope(parent=channel_id, root_seq=root_seq)
        first = [m for m in dict.fromkeys((root.author, opener)) if channel.membership(m).active]
        return thread.id, tuple(self._begin(thread, member, effective_from_seq=1) for member in first)

    def archive(self, scope_id: int) -> Batch:
        return self._set_archived(self._scope(scope_id), True)

    def restore(self, scope_id: int) -> Batch:
        return self._set_archived(self._scope(scope_id), False)

    # Memberships

    def join(self, member: int, scope_id: int) -> Batch:
        """Also whoever is in it without seeing it may join, and begins anew."""
        scope = self._writable(scope_id)
        if scope.membership(member).active and scope.membership(member).visible:
            return ()
        if scope.parent and not self._scope(scope.parent).membership(member).active:
            raise Refused("join the channel first")
        return (self._begin(scope, member, effective_from_seq=scope.latest_seq + 1),)

    def leave(self, member: int, scope_id: int) -> Batch:
        """Also what removing a member does; takes the member out of the scope's threads in the same transaction."""
        scope = self._scope(scope_id)
        if not scope.membership(member).active:
            return ()
        left = [scope, *(t for t in self.tables.threads_of(scope_id) if t.membership(member).active)]
        return tuple(self._end(each, member) for each in left)

    def set_member_visibility(self, member: int, scope_id: int, visible: bool) -> Batch:
        scope = self._scope(scope_id)
        row = scope.membership(member)
        if not row.active or row.visible == visible:
            return ()
        row.visible = visible
        return (self._membership_changed(scope, member, begins=False),)

    # Messages and activities

    def post(
        self,
        author: int,
        scope_id: int,
        mentions: tuple[int, ...] = (),
        *,
        on_behalf_of: int = 0,
        silent: bool = False,
        hidden: bool = False,
    ) -> Batch:
        scope = self._writable(scope_id)
        parent = self.tables.scopes.get(scope.parent)
        home = parent or scope
        if not home.membership(author).active:
            raise Refused("join first")
        events: list[Event] = []
        seq = scope.latest_seq + 1
        if parent is not None and not silent:
            joining = [m for m in dict.fromkeys((author, *mentions)) if parent.membership(m).active]
            for member in joining:
                if not scope.membership(member).active:
                    events.append(self._begin(scope, member, effective_from_seq=seq))
        scope.latest_seq = seq
        message = Message(seq, author, on_behalf_of or author, not hidden, silent, mentions)
        scope.messages[seq] = message
        scope.versions[seq] = [(0, message)]
        events.append(self._stored(scope, message))
        if not silent and not on_behalf_of:
            events += self._advance(scope, author, seq, scope.membership(author).last_activity_read_seq)
        return tuple(events)

    def replay_post(self, scope_id: int, seq: int) -> Batch:
        """The same send again: nothing is written, the stored message's event is published again."""
        scope = self._scope(scope_id)
        return (self._stored(scope, self._message(scope, seq)),)

    def delete(self, scope_id: int, seq: int) -> Batch:
        scope = self._scope(scope_id)
        return (self._change(MessageRewound, scope, {self._message(scope, seq).seq: None}),)

    def rewind(self, scope_id: int, to_seq: int) -> Batch:
        scope = self._scope(scope_id)
        removed = {seq: None for seq in sorted(scope.messages) if seq > self._message(scope, to_seq).seq}
        if not removed:
            return ()
        events: list[Event] = [self._change(MessageRewound, scope, removed)]
        for thread in self.tables.threads_of(scope_id):
            if thread.root_seq in removed:
                events += self._set_archived(thread, True)
        return tuple(events)

    def edit_mentions(self, scope_id: int, seq: int, mentions: tuple[int, ...]) -> Batch:
        scope = self._scope(scope_id)
        message = self._message(scope, seq)
        if set(message.mentions) == set(mentions):
            return ()
        return (self._change(MessageMentionsChanged, scope, {seq: replace(message, mentions=mentions)}),)

    def set_message_visibility(self, scope_id: int, seq: int, visible: bool) -> Batch:
        scope = self._scope(scope_id)
        message = self._message(scope, seq)
        if message.visible == visible:
            return ()
        return (self._change(MessageVisibilityChanged, scope, {seq: replace(message, visible=visible)}),)

    def add_activity(self, actor: int, scope_id: int, high_signal: bool) -> Batch:
        scope = self._writable(scope_id)
        if not scope.membership(actor).active:
            raise Refused("join first")
        scope.latest_activity_seq += 1
        seq = scope.latest_activity_seq
        scope.activities.append(Activity(seq, actor, high_signal))
        return (
            NonMessageActivityStored(
                WORKSPACE, scope.id, scope.parent, seq, actor, high_signal, scope.roster_generation
            ),
        )

    # Reading, markers, levels

    def read_to(self, member: int, scope_id: int, seq: int) -> Batch:
        scope = self._joined(member, scope_id)
        named = self._message(scope, seq).seq
        row = scope.membership(member)
        return self._advance(scope, member, max(named, row.last_read_seq), row.last_activity_read_seq, named)

    def read_all(self, member: int, scope_ids: tuple[int, ...]) -> Batch:
        """Both cursors of each scope to its end, in one transaction."""
        scopes = [self._joined(member, scope_id) for scope_id in scope_ids]
        events: list[Event] = []
        for scope in scopes:
            events += self._advance(scope, member, scope.latest_seq, scope.latest_activity_seq, everything=True)
        return tuple(events)

    def mark_unread(self, member: int, scope_id: int) -> Batch:
        scope = self._joined(member, scope_id)
        if scope.marker(member).seq:
            return ()
        self._set_marker(scope, member, max(scope.latest_seq, 1))
        marker = scope.marker(member)
        return (ManualUnreadSet(WORKSPACE, scope.id, scope.parent, member, marker.seq, marker.generation),)

    def mark_unread_from(self, member: int, scope_id: int, seq: int) -> Batch:
        scope = self._joined(member, scope_id)
        row = scope.membership(member)
        if self._message(scope, seq).seq < row.effective_from_seq:
            raise Refused("that message is from before you joined")
        rows = tuple((s, _counted(m)) for s, m in sorted(scope.messages.items()) if s >= seq)
        if len(rows) > self.rows_limit:
            raise Refused("too many messages to mark at once")
        if row.last_read_seq == seq - 1 and scope.marker(member).seq == seq:
            return ()
        if row.last_read_seq != seq - 1:
            row.last_read_seq = seq - 1
            row.read_generation += 1
        if scope.marker(member).seq != seq:
            self._set_marker(scope, member, seq)
        marker = scope.marker(member)
        unread_from = UnreadFrom(
            row.last_read_seq,
            row.last_activity_read_seq,
            row.read_generation,
            scope.latest_seq,
            scope.rewind_generation,
            rows,
        )
        return (ManualUnreadSet(WORKSPACE, scope.id, scope.parent, member, seq, marker.generation, unread_from),)

    def clear_unread(self, member: int, scope_id: int) -> Batch:
        return self._clear_marker(self._joined(member, scope_id), member)

    def set_level(self, member: int, scope_id: int, level: str) -> Batch:
        scope = self._joined(member, scope_id)
        if scope.setting(member).level == level:
            return ()
        setting = scope.settings.setdefault(member, Setting())
        setting.level = level
        setting.generation += 1
        return (
            NotificationPolicyChanged(
                WORKSPACE, scope.id, scope.parent, member, Level[level.upper()], setting.generation
            ),
        )

    # Lookups that refuse

    def _scope(self, scope_id: int) -> Scope:
        return self.tables.scopes[scope_id]

    def _writable(self, scope_id: int) -> Scope:
        scope = self._scope(scope_id)
        parent = self.tables.scopes.get(scope.parent)
        if scope.archived or (parent is not None and parent.archived):
            raise Refused("archived")
        return scope

    def _joined(self, member: int, scope_id: int) -> Scope:
        scope = self._scope(scope_id)
        if not scope.membership(member).active:
            raise Refused("not joined")
        return scope

    def _open_scope(self, member: int, scope_id: int) -> Scope:
        self._writable(scope_id)
        return self._joined(member, scope_id)

    def _message(self, scope: Scope, seq: int) -> Message:
        if seq not in scope.messages:
            raise Refused("no such message")
        return scope.messages[seq]

    # Row changes, each with its generation and its event

    def _new_scope(self, parent: int, root_seq: int) -> Scope:
        scope = Scope(SCOPE + len(self.tables.scopes) + 1, parent, root_seq)
        self.tables.scopes[scope.id] = scope
        return scope

    def _set_archived(self, scope: Scope, archived: bool) -> Batch:
        if scope.archived == archived:
            return ()
        scope.archived = archived
        scope.roster_generation += 1
        return (ScopeStateChanged(WORKSPACE, scope.id, scope.parent, not archived, scope.roster_generation),)

    def _begin(self, scope: Scope, member: int, effective_from_seq: int) -> MembershipChanged:
        row = scope.memberships.setdefault(member, Membership())
        row.active, row.visible, row.effective_from_seq = True, True, effective_from_seq
        if self.join_moves_cursor:
            row.last_read_seq = max(row.last_read_seq, effective_from_seq - 1)
        row.last_activity_read_seq = scope.latest_activity_seq
        row.read_generation += 1
        row.begun_generation = row.membership_generation + 1
        if scope.marker(member).seq:
            self._set_marker(scope, member, 0)
        return self._membership_changed(scope, member, begins=True)

    def _end(self, scope: Scope, member: int) -> MembershipChanged:
        scope.membership(member).active = False
        return self._membership_changed(scope, member, begins=False)

    def _membership_changed(self, scope: Scope, member: int, begins: bool) -> MembershipChanged:
        row, setting, marker = scope.membership(member), scope.setting(member), scope.marker(member)
        row.membership_generation += 1
        scope.roster_generation += 1
        return MembershipChanged(
            WORKSPACE,
            scope.id,
            scope.parent,
            member,
            row.active,
            row.visible,
            begins,
            row.effective_from_seq,
            row.last_read_seq,
            row.last_activity_read_seq,
            row.membership_generation,
            row.read_generation,
            Level[setting.level.upper()],
            setting.generation,
            marker.seq,
            marker.generation,
            scope.roster_generation,
        )

    def _stored(self, scope: Scope, message: Message) -> MessageStored:
        return MessageStored(
            WORKSPACE,
            scope.id,
            scope.parent,
            message.seq,
            _counted(message),
            scope.roster_generation,
            scope.rewind_generation,
        )

    def _change(self, kind: type[MessagesChanged], scope: Scope, after: dict[int, Message | None]) -> MessagesChanged:
        scope.rewind_generation += 1
        changes = []
        for seq, message in after.items():
            changes.append(MessageChange(seq, _counted(scope.messages[seq]), message and _counted(message)))
            scope.versions[seq].append((scope.rewind_generation, message))
            if message is None:
                del scope.messages[seq]
            else:
                scope.messages[seq] = message
        return kind(WORKSPACE, scope.id, scope.parent, tuple(changes), scope.rewind_generation, scope.roster_generation)

    def _advance(
        self,
        scope: Scope,
        member: int,
        last_read_seq: int,
        last_activity_read_seq: int,
        named: int | None = None,
        *,
        everything: bool = False,
    ) -> Batch:
        """Move both cursors and clear the marker if the read names a seq (default: the cursor) at or past it."""
        row = scope.membership(member)
        events: list[Event] = []
        kind = ReadCursorAdvanced if last_read_seq != row.last_read_seq else ActivityReadCursorAdvanced
        if (last_read_seq, last_activity_read_seq) != (row.last_read_seq, row.last_activity_read_seq):
            row.last_read_seq, row.last_activity_read_seq = last_read_seq, last_activity_read_seq
            row.read_generation += 1
            events.append(
                kind(
                    WORKSPACE,
                    scope.id,
                    scope.parent,
                    member,
                    last_read_seq,
                    last_activity_read_seq,
                    row.read_generation,
                    scope.latest_seq,
                    scope.latest_activity_seq,
                )
            )
        if everything or (last_read_seq if named is None else named) >= scope.marker(member).seq:
            events += self._clear_marker(scope, member)
        return tuple(events)

    def _set_marker(self, scope: Scope, member: int, seq: int) -> None:
        marker = scope.markers.setdefault(member, Marker())
        marker.seq = seq
        marker.generation += 1

    def _clear_marker(self, scope: Scope, member: int) -> Batch:
        if not scope.marker(member).seq:
            return ()
        self._set_marker(scope, member, 0)
        return (ManualUnreadCleared(WORKSPACE, scope.id, scope.parent, member, scope.marker(member).generation),)


def _counted(message: Message) -> Counted:
    return Counted(message.author, message.principal, message.visible and not message.silent, message.mentions)
