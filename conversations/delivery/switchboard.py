"""What is told to which feed: the hub's state and rules, without its threads.

The simple way, a database query for each page and token, costs pages times tokens. Here the tokens come from the
bridge, once for the process, and the database is read in batches and only when something must begin anew.

What makes it exact is an order and a number. The order: the end of a stream's log is asked for before the database is
read, and writers commit before they publish, so whatever the log does not show from there on is in what was read. The
number: every event has its message's `seq`, one after the other. `_Stream.seq` is how far was handed out; a feed was
told at least that far of every message it follows, or it wants a snapshot. So an event can be late, twice or lost, and
each feed still gets every seq once, or a snapshot that contains it.

- A hole in the seqs, an entry without a body, or a log that lost its beginning: the feeds that were not told further
  want a snapshot.
- Facts of the commit say which messages are new, and which ended. An end also comes over the bridge, in a moment; the
  message is looked at only after `SETTLE_S`, and nothing is done where the bridge brought it.
- While the bridge is down the open messages that are watched are looked at whenever the reader fails.
- Access is asked anew when a fact says that it may have changed, before anything that was committed later is told;
  and every `SWEEP_S` for what no fact tells, like a revoked token.

Work that needs the database is kept until it is done, so an outage delays feeds and ends none.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Protocol
from uuid import UUID

import orjson

from .. import events as facts
from ..agentue.events import Op
from ..queries import live
from . import frames
from .admission import barred
from .bridge import ORIGIN, Batch, Bridge, BridgeDown, Cursor, Delivered
from .feeds import Feed, Snapshot
from .rooms import Interest, Room, Rooms

ENTERING_PER_TURN = 100
LOOKS_PER_TURN = 500
SNAPSHOTS_PER_TURN = 50
REMEMBERED_ENDS = 10_000
CHANGED_AT_ONCE = 200
"""Changed messages that a returning subscriber is told one by one."""
OVERLAP_MS = 30_000
"""A transaction's own time lies before its commit: who returns is told so much again."""
SETTLE_S = 1.0
SWEEP_S = 30.0


class Follower(Protocol):
    """Reads the bridge's streams for the switchboard, from given cursors on."""

    def follow(self, cursors: Mapping[UUID, Cursor]) -> None: ...

    def drop(self, streams: Iterable[UUID]) -> None: ...


class _Stream:
    """An open message that somebody watches."""

    __slots__ = ("scope_id", "seq")

    def __init__(self, scope_id: UUID, seq: int) -> None:
        self.scope_id, self.seq = scope_id, seq


class Switchboard:
    """For one thread; only `concerns` may be asked from others. `clock` in seconds."""

    def __init__(self, bridge: Bridge, follower: Follower, interest: Interest, clock: Callable[[], float]) -> None:
        self.snapshots_read = 0
        self._bridge, self._follower, self._interest, self._clock = bridge, follower, interest, clock
        self._rooms = Rooms()
        self._streams: dict[UUID, _Stream] = {}
        self._ended: OrderedDict[UUID, int] = OrderedDict()
        """Complete messages that all feeds of that moment were told of, with their revision."""
        self._looks: dict[UUID, float] = {}
        """Messages to look at, and when."""
        self._entering: dict[Feed, None] = {}
        self._unknown: dict[UUID, UUID] = {}
        """Messages in scopes inside a watched conversation whose kind is not known yet."""
        self._suspects: dict[UUID, None] = {}
        """Workspaces in which access may have changed."""
        self._hungry: dict[Feed, None] = {}
        self._sweep_at = clock() + SWEEP_S

    def has_work(self) -> bool:
        """Whether the database is needed now."""
        now = self._clock()
        waiting = self._entering or self._unknown or self._suspects or self._hungry
        return bool(waiting) or now >= self._sweep_at or any(at <= now for at in self._looks.values())

    def next_at(self) -> float:
        """When it will be, at the latest."""
        return min((self._sweep_at, *self._looks.values()))

    def work(self) -> None:
        """All that needs the database, a bounded piece of each."""
        self._learn_scopes()
        self._let_in()
        self._check_access()
        self._look()
        self._feed_the_hungry()

    def feeds(self) -> list[Feed]:
        return self._rooms.all_feeds()

    # Coming and going

    def enter(self, feed: Feed) -> None:
        if feed.outbox.closed:
            return
        self._rooms.enter(feed)
        self._entering[feed] = None
        # What ended between its admission and now no fact will tell.
        self._suspects[feed.subscriber.workspace_id] = None

    def exit(self, feed: Feed) -> None:
        self._entering.pop(feed, None)
        self._hungry.pop(feed, None)
        if silent := self._rooms.leave(feed):
            gone = [message_id for message_id, stream in self._streams.items() if stream.scope_id in silent]
            for message_id in gone:
                del self._streams[message_id]
            if gone:
                self._follower.drop(gone)

    def end(self, feeds: Iterable[Feed]) -> None:
        """Their connections close."""
        for feed in tuple(feeds):
            feed.outbox.close()
            self.exit(feed)

    def has_room(self, feed: Feed) -> None:
        """The feed's reader has caught up."""
        if feed.hungry:
            self._hungry[feed] = None

    def _let_in(self) -> None:
        """Newcomers begin with every open message, and with what changed since they left. Three statements a room."""
        open_in: dict[Room, list[UUID]] = {}
        for feed in list(self._entering)[:ENTERING_PER_TURN]:
            room = self._rooms.room(feed.subscriber.conversation_id)
            if room is not None:
                if room not in open_in:
                    self._rooms.add_scopes(room, live.scopes_inside(room.conversation_id))
                    open_in[room] = live.open_messages(room.scopes)
                self._want_what_is_new(feed, room, open_in[room])
            del self._entering[feed]

    def _want_what_is_new(self, feed: Feed, room: Room, open_ids: Sequence[UUID]) -> None:
        changed: list[UUID] = []
        if feed.since_ms is not None:
            since = datetime.fromtimestamp(max(0, feed.since_ms - OVERLAP_MS) / 1000, UTC)
            changed = live.changed_messages(room.scopes, since, CHANGED_AT_ONCE + 1)
        feed.begin_with([*changed, *open_ids] if len(changed) <= CHANGED_AT_ONCE else None)
        now = self._clock()
        self._looks.update({each: now for each in open_ids if each not in self._streams})
        if feed.hungry:
            self._hungry[feed] = None

    def _check_access(self) -> None:
        """Three statements for each workspace with suspects; two more with the sweep, which suspects all."""
        sweeping = self._clock() >= self._sweep_at
        if not sweeping and not self._suspects:
            return
        rooms = [room for room in self._rooms if sweeping or room.workspace_id in self._suspects]
        self.end(barred([feed for room in rooms for feed in room.feeds], logins=sweeping))
        self._suspects.clear()
        if sweeping:
            self._sweep_at = self._clock() + SWEEP_S

    # Facts

    def concerns(self, fact: facts.Fact) -> bool:
        """From any thread, in constant time: whether somebody who watches should know."""
        if isinstance(fact, (facts.MessageStored, facts.MessagesChanged)):
            inside = self._interest.in_conversation(fact.parent_id) and not self._rooms.passes_over(fact.scope_id)
            return inside or self._is_heard(fact.scope_id)
        if isinstance(fact, facts.MessageUpdated):
            return self._is_heard(fact.scope_id)
        if isinstance(fact, facts.MembershipChanged) and fact.active and fact.visible:
            return False
        access = (facts.MembershipChanged, facts.ConversationUpdated, facts.MemberUpdated)
        return isinstance(fact, access) and self._interest.in_workspace(fact.workspace_id)

    def _is_heard(self, scope_id: UUID) -> bool:
        return self._interest.in_conversation(scope_id) or self._rooms.knows(scope_id)

    def note(self, batch: Sequence[facts.Fact]) -> None:
        now = self._clock()
        for fact in batch:
            if isinstance(fact, facts.MessageStored):
                if self._rooms.knows(fact.scope_id):
                    self._looks[fact.message_id] = now
                else:
                    self._unknown[fact.message_id] = fact.scope_id
            elif isinstance(fact, facts.MessageUpdated):
                at = now + SETTLE_S if fact.message_id in self._streams else now
                self._looks[fact.message_id] = min(at, self._looks.get(fact.message_id, at))
            elif isinstance(fact, facts.MessagesChanged):
                self._looks.update({change.message_id: now for change in fact.changes})
            else:
                self._suspects[fact.workspace_id] = None

    def bridge_is_down(self) -> None:
        self._looks.update(dict.fromkeys(self._streams, self._clock()))

    def _learn_scopes(self) -> None:
        """A message came in a scope inside a watched conversation: a new process conversation, or some thread."""
        if not self._unknown:
            return
        scope_ids = set(self._unknown.values())
        inner = live.inner_scopes(scope_ids)
        for scope_id, parent_id in inner.items():
            if room := self._rooms.room(parent_id):
                self._rooms.add_scopes(room, [scope_id])
        self._rooms.pass_over(scope_ids - inner.keys())
        now = self._clock()
        self._looks.update({message_id: now for message_id, scope_id in self._unknown.items() if scope_id in inner})
        self._unknown.clear()

    def _look(self) -> None:
        """What due messages are now. One statement, one more where some begin to be followed."""
        now = self._clock()
        due = dict(islice(((message_id, at) for message_id, at in self._looks.items() if at <= now), LOOKS_PER_TURN))
        if not due:
            return
        found = live.states(due.keys())
        begun = self._follow([each for each, state in found.items() if state.open and self._is_new(each, state)])
        found.update(begun)
        for message_id, at in due.items():
            del self._looks[message_id]
            self._seen(message_id, found.get(message_id), begun=message_id in begun, late_s=now - at)

    def _is_new(self, message_id: UUID, state: live.State) -> bool:
        return message_id not in self._streams and self._rooms.knows(state.scope_id)

    def _follow(self, message_ids: Sequence[UUID]) -> dict[UUID, live.State]:
        """Begin to follow open messages: the end of their logs first, then the database once more."""
        if not message_ids:
            return {}
        try:
            cursors = self._bridge.tails(message_ids)
        except BridgeDown:
            cursors = dict.fromkeys(message_ids, ORIGIN)
        again = live.states(message_ids)
        begun = {message_id: state for message_id, state in again.items() if state.open}
        self._streams |= {each: _Stream(state.scope_id, state.revision) for each, state in begun.items()}
        self._follower.follow({message_id: cursors[message_id] for message_id in begun})
        return again

    def _seen(self, message_id: UUID, state: live.State | None, *, begun: bool, late_s: float) -> None:
        stream = self._streams.get(message_id)
        if state is None:
            for feed in self._rooms.all_feeds():
                feed.forget(message_id)
            self._close(message_id)
        elif state.open:
            if stream is not None and not begun:
                stream.seq = max(stream.seq, state.revision)
                self._want_behind(message_id, state.scope_id, state.revision)
            elif stream is not None:
                self._want(message_id, state.scope_id)
        elif stream is not None:
            self._close(message_id)
            self._remember_end(message_id, state.revision)
            self._want_behind(message_id, state.scope_id, state.revision)
        elif self._ended.get(message_id) != state.revision:
            self._remember_end(message_id, state.revision)
            # A fact may also speak of what hangs on a message, like its thread, which leaves the message's time alone.
            if state.changed_since(datetime.now(UTC) - timedelta(milliseconds=OVERLAP_MS, seconds=late_s)):
                self._want(message_id, state.scope_id)

    # Handing out

    def hand_out(self, batch: Batch) -> None:
        """What the bridge brought."""
        now = self._clock()
        self._looks.update({message_id: now for message_id in batch.lost if message_id in self._streams})
        for message_id, entries in batch.delivered.items():
            if (stream := self._streams.get(message_id)) is not None:
                self._hand_out(message_id, stream, entries)

    def _hand_out(self, message_id: UUID, stream: _Stream, entries: Sequence[Delivered]) -> None:
        feeds = list(self._rooms.feeds_of(stream.scope_id))
        for entry in entries:
            if entry.seq <= stream.seq:
                continue
            follows = entry.seq == stream.seq + 1
            stream.seq = entry.seq
            if not follows or entry.body is None:
                self._want_behind(message_id, stream.scope_id, entry.seq)
                self._looks.setdefault(message_id, self._clock() + SETTLE_S)
                continue
            last = _is_end(entry.body)
            frame = frames.event(entry.body)
            for feed in feeds:
                feed.event(message_id, entry.seq, frame, last=last)
            if last:
                self._close(message_id)
                self._remember_end(message_id, entry.seq)
                return

    def _want(self, message_id: UUID, scope_id: UUID) -> None:
        for feed in self._rooms.feeds_of(scope_id):
            feed.want(message_id)
            self._hungry[feed] = None

    def _want_behind(self, message_id: UUID, scope_id: UUID, seq: int) -> None:
        for feed in self._rooms.feeds_of(scope_id):
            if feed.want_from(message_id, seq):
                self._hungry[feed] = None

    def _feed_the_hungry(self) -> None:
        """Snapshots for those with room, each read once for all that want it; the others say when they have room."""
        eaters = [feed for feed in self._hungry if feed.hungry and feed.outbox.await_room()]
        takers: dict[UUID, list[Feed]] = {}
        for feed in eaters:
            if feed.flooded and feed.resync():
                self._want_open(feed)
            for message_id in feed.wanted:
                if message_id in takers or len(takers) < SNAPSHOTS_PER_TURN:
                    takers.setdefault(message_id, []).append(feed)
        made = self._read_snapshots(takers) if takers else {}
        for message_id, feeds in takers.items():
            for feed in feeds:
                if message_id in made:
                    feed.begin(message_id, made[message_id])
                else:
                    feed.forget(message_id)
        self._hungry = {feed: None for feed in eaters if feed.hungry and feed.outbox.await_room()}

    def _read_snapshots(self, message_ids: Iterable[UUID]) -> dict[UUID, Snapshot]:
        made: dict[UUID, Snapshot] = {}
        for rendered in live.snapshots(list(message_ids), frames.MAX_SNAPSHOT_BYTES):
            message_id, is_open = UUID(rendered["id"]), live.is_open(rendered)
            frame = frames.start(rendered)
            if not is_open:
                frame += frames.end(message_id, rendered["revision"], rendered["status"])
                if message_id in self._streams:
                    self._looks.setdefault(message_id, self._clock() + SETTLE_S)
            made[message_id] = Snapshot(frame, rendered["revision"], is_open, live.is_shown(rendered))
        self.snapshots_read += len(made)
        return made

    def _want_open(self, feed: Feed) -> None:
        """After a resync everything complete is in the history; what is open begins anew."""
        room = self._rooms.room(feed.subscriber.conversation_id)
        for message_id, stream in self._streams.items():
            if room is not None and stream.scope_id in room.scopes and not feed.follows(message_id):
                feed.want(message_id)

    def _close(self, message_id: UUID) -> None:
        if self._streams.pop(message_id, None) is not None:
            self._follower.drop([message_id])

    def _remember_end(self, message_id: UUID, revision: int) -> None:
        self._ended[message_id] = revision
        self._ended.move_to_end(message_id)
        if len(self._ended) > REMEMBERED_ENDS:
            self._ended.popitem(last=False)


def _is_end(body: bytes) -> bool:
    return b'"end"' in body and orjson.loads(body)["op"] == Op.END
