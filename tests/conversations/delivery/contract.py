"""What every bridge promises; each adapter runs it."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from uuid import UUID

import pytest

from conversations.delivery.bridge import ORIGIN, Batch, Bridge, BridgeDown, BridgeLimits, Cursor, Entry, StreamReader
from conversations.ids import new_id
from tests.conversations.racing import race

PATIENCE_S = 20.0
LIMITS = BridgeLimits(stream_entries=50, entry_bytes=1000, ttl_s=60.0)


def entries(*seqs: int) -> list[Entry]:
    return [Entry(seq, f"event {seq}".encode()) for seq in seqs]


class Watcher:
    """Follows some streams as a hub does, and remembers what it was told."""

    def __init__(self, bridge: Bridge, *streams: UUID) -> None:
        self.bridge = bridge
        self.reader: StreamReader = bridge.reader()
        self.cursors: dict[UUID, Cursor] = bridge.tails(streams)
        self.seen: list[int] = []
        self.lost: list[UUID] = []

    def once(self, block_s: float = 0.0, limit: int = 100) -> Batch:
        batch = self.reader.read(self.cursors, block_s=block_s, limit=limit)
        assert set(batch.delivered) | batch.lost == set(batch.cursors)
        assert not set(batch.delivered) & batch.lost
        self.cursors |= batch.cursors
        self.lost += batch.lost
        for found in batch.delivered.values():
            assert 0 < len(found) <= limit
            self.seen += [each.seq for each in found]
        return batch

    def drain(self, limit: int = 100) -> list[int]:
        """Everything there is; returns all the seqs seen so far."""
        while self.once(limit=limit):
            pass
        return self.seen


class BridgeContract:
    """Subclasses have the fixtures `make` (a bridge with given limits), `lose` and `expire` (a stream)."""

    @pytest.fixture
    def bridge(self, make: Callable[[BridgeLimits], Bridge]) -> Bridge:
        return make(LIMITS)

    @pytest.fixture
    def stream(self) -> UUID:
        return new_id()

    def test_what_is_published_is_read_once_and_in_order(self, bridge: Bridge, stream: UUID) -> None:
        watcher = Watcher(bridge, stream)
        bridge.publish(stream, entries(1, 2))
        bridge.publish(stream, entries(3))
        assert watcher.drain() == [1, 2, 3]
        bridge.publish(stream, entries(4))
        assert watcher.drain() == [1, 2, 3, 4]
        assert watcher.lost == []

    def test_bodies_are_kept_byte_for_byte(self, bridge: Bridge, stream: UUID) -> None:
        body = bytes(range(256)) + "é😀\u2028".encode()
        watcher = Watcher(bridge, stream)
        bridge.publish(stream, [Entry(7, body)])
        (found,) = watcher.once().delivered[stream]
        assert (found.seq, found.body) == (7, body)

    def test_an_entry_without_a_body_says_that_the_message_changed(self, bridge: Bridge, stream: UUID) -> None:
        watcher = Watcher(bridge, stream)
        bridge.publish(stream, [Entry(7, None), Entry(8, b"x")])
        found = watcher.once().delivered[stream]
        assert [(each.seq, each.body) for each in found] == [(7, None), (8, b"x")]
        assert bridge.counts.oversized == 0

    def test_a_watcher_begins_at_the_tail_it_asked_for(self, bridge: Bridge, stream: UUID) -> None:
        bridge.publish(stream, entries(1, 2, 3))
        watcher = Watcher(bridge, stream)
        assert watcher.drain() == []
        bridge.publish(stream, entries(4))
        assert watcher.drain() == [4]

    def test_from_the_origin_everything_is_read(self, bridge: Bridge, stream: UUID) -> None:
        bridge.publish(stream, entries(1, 2))
        watcher = Watcher(bridge, stream)
        watcher.cursors[stream] = ORIGIN
        assert watcher.drain() == [1, 2]

    def test_observers_make_no_stream(self, bridge: Bridge, stream: UUID, exists: Callable[[UUID], bool]) -> None:
        watcher = Watcher(bridge, stream)
        assert bridge.tails([stream]) == {stream: ORIGIN}
        assert not watcher.once()
        assert not exists(stream)
        bridge.publish(stream, [])
        assert not exists(stream)
        bridge.publish(stream, entries(1))
        assert exists(stream)

    def test_streams_do_not_mix(self, bridge: Bridge, stream: UUID) -> None:
        other = new_id()
        watcher, both = Watcher(bridge, stream), Watcher(bridge, stream, other)
        bridge.publish(other, entries(10))
        bridge.publish(stream, entries(1))
        assert watcher.drain() == [1]
        assert sorted(both.drain()) == [1, 10]

    def test_readers_do_not_take_from_each_other(self, bridge: Bridge, stream: UUID) -> None:
        watchers = [Watcher(bridge, stream) for _ in range(3)]
        bridge.publish(stream, entries(1, 2))
        assert [watcher.drain() for watcher in watchers] == [[1, 2]] * 3

    def test_a_read_is_bounded_for_each_stream(self, bridge: Bridge, stream: UUID) -> None:
        watcher = Watcher(bridge, stream)
        bridge.publish(stream, entries(*range(1, 31)))
        batch = watcher.once(limit=7)
        assert [each.seq for each in batch.delivered[stream]] == list(range(1, 8))
        assert watcher.drain(limit=7) == list(range(1, 31))

    def test_ten_thousand_events_in_one_burst(self, make: Callable[[BridgeLimits], Bridge], stream: UUID) -> None:
        bridge = make(BridgeLimits(stream_entries=10_000))
        watcher = Watcher(bridge, stream)
        bridge.publish(stream, entries(*range(1, 10_001)))
        assert watcher.drain(limit=1000) == list(range(1, 10_001))
        assert watcher.lost == []

    def test_every_cursor_is_its_predecessors_next(self, bridge: Bridge, stream: UUID) -> None:
        watcher = Watcher(bridge, stream)
        cursors = [watcher.cursors[stream]]
        for seq in range(1, 21):
            bridge.publish(stream, entries(seq))
        cursors += [each.cursor for each in watcher.once().delivered[stream]]
        assert len(cursors) == 21
        assert all(before.is_followed_by(after) for before, after in itertools.pairwise(cursors))

    def test_a_trimmed_cursor_is_told_and_goes_on(self, bridge: Bridge, stream: UUID) -> None:
        watcher = Watcher(bridge, stream)
        bridge.publish(stream, entries(1))
        watcher.drain()
        bridge.publish(stream, entries(*range(2, 60)))
        assert watcher.drain(limit=1000) == [1]
        assert watcher.lost == [stream]
        bridge.publish(stream, entries(60))
        assert watcher.drain() == [1, 60]
        assert watcher.lost == [stream]

    def test_a_reader_that_keeps_up_loses_nothing_to_trimming(self, bridge: Bridge, stream: UUID) -> None:
        watcher = Watcher(bridge, stream)
        for first in range(1, 501, 50):
            bridge.publish(stream, entries(*range(first, first + 50)))
            watcher.drain()
        assert watcher.seen == list(range(1, 501))
        assert watcher.lost == []

    def test_the_origin_of_a_trimmed_stream_is_lost(self, bridge: Bridge, stream: UUID) -> None:
        watcher = Watcher(bridge, stream)
        bridge.publish(stream, entries(*range(1, 52)))
        watcher.drain()
        assert (watcher.seen, watcher.lost) == ([], [stream])

    def test_a_lost_stream_is_told_once(
        self, bridge: Bridge, stream: UUID, lose: Callable[[UUID], None], pass_time: Callable[[float], None]
    ) -> None:
        bridge.publish(stream, entries(1, 2))
        watcher = Watcher(bridge, stream)
        assert not watcher.once()
        lose(stream)
        pass_time(5.0)
        watcher.drain()
        pass_time(5.0)
        watcher.drain()
        assert watcher.lost == [stream]
        assert watcher.cursors == {stream: ORIGIN}
        bridge.publish(stream, entries(3))
        assert watcher.drain() == [3]

    def test_a_stream_that_was_lost_and_began_again_is_told(
        self, bridge: Bridge, stream: UUID, lose: Callable[[UUID], None]
    ) -> None:
        bridge.publish(stream, entries(1, 2))
        watcher = Watcher(bridge, stream)
        watcher.drain()
        lose(stream)
        bridge.publish(stream, entries(3, 4, 5))
        watcher.drain()
        assert (watcher.seen, watcher.lost) == ([], [stream])
        bridge.publish(stream, entries(6))
        assert watcher.drain() == [6]

    def test_one_lost_stream_leaves_the_others(
        self, bridge: Bridge, stream: UUID, lose: Callable[[UUID], None], pass_time: Callable[[float], None]
    ) -> None:
        other = new_id()
        for each in (stream, other):
            bridge.publish(each, entries(1))
        watcher = Watcher(bridge, stream, other)
        watcher.drain()
        lose(stream)
        bridge.publish(other, entries(2))
        pass_time(5.0)
        watcher.drain()
        assert (watcher.seen, watcher.lost) == ([2], [stream])

    def test_a_stream_expires_some_time_after_its_last_entry(
        self, bridge: Bridge, stream: UUID, expire: Callable[[UUID], None], pass_time: Callable[[float], None]
    ) -> None:
        bridge.publish(stream, entries(1))
        watcher = Watcher(bridge, stream)
        watcher.drain()
        expire(stream)
        pass_time(5.0)
        watcher.drain()
        assert watcher.lost == [stream]
        assert bridge.tails([stream]) == {stream: ORIGIN}

    def test_dropping_a_stream_ends_it(
        self, bridge: Bridge, stream: UUID, exists: Callable[[UUID], bool], pass_time: Callable[[float], None]
    ) -> None:
        bridge.publish(stream, entries(1))
        watcher = Watcher(bridge, stream)
        watcher.drain()
        bridge.drop([stream, new_id()])
        bridge.drop([])
        assert not exists(stream)
        pass_time(5.0)
        watcher.drain()
        assert watcher.lost == [stream]

    def test_an_oversized_event_is_announced_without_its_body(self, bridge: Bridge, stream: UUID) -> None:
        watcher = Watcher(bridge, stream)
        bridge.publish(stream, [Entry(1, b"x" * 1000), Entry(2, b"x" * 1001), Entry(3, b"")])
        bodies = [each.body for each in watcher.once().delivered[stream]]
        assert bodies[:2] == [b"x" * 1000, None]
        assert bridge.counts.oversized == 1
        assert bridge.counts.published == 3

    def test_a_waiting_read_ends_with_the_first_entry(self, bridge: Bridge, stream: UUID) -> None:
        watcher = Watcher(bridge, stream)
        watcher.once()

        def publish() -> None:
            bridge.publish(stream, entries(1))

        for result in race([lambda: watcher.once(block_s=PATIENCE_S), publish]):
            assert not isinstance(result, BaseException), result
        assert watcher.drain() == [1]

    @pytest.mark.parametrize("watching", [True, False])
    def test_a_waiting_read_ends_when_it_is_woken(self, bridge: Bridge, stream: UUID, watching: bool) -> None:
        """Whenever the wake comes, before the wait or in it, the read ends long before its time."""
        reader = bridge.reader()
        cursors = bridge.tails([stream]) if watching else {}
        for _ in range(20):
            ended = threading.Event()

            def read(ended: threading.Event = ended) -> Batch:
                try:
                    return reader.read(cursors, block_s=PATIENCE_S)
                finally:
                    ended.set()

            def wake(ended: threading.Event = ended) -> bool:
                reader.wake()
                return ended.wait(PATIENCE_S / 4)

            batch, in_time = race([read, wake])
            assert batch == Batch()
            assert in_time
            reader.read(bridge.tails([stream]), block_s=0)  # takes a wake that came too late for the read above

    def test_a_wait_ends_by_itself(self, bridge: Bridge, stream: UUID) -> None:
        reader = bridge.reader()
        assert reader.read(bridge.tails([stream]), block_s=0.05) == Batch()
        assert reader.read({}, block_s=0.05) == Batch()

    def test_writers_at_once(self, make: Callable[[BridgeLimits], Bridge], stream: UUID) -> None:
        bridge = make(BridgeLimits(stream_entries=10_000))
        watcher = Watcher(bridge, stream)

        def write(first: int) -> None:
            for seq in range(first, first + 100):
                bridge.publish(stream, entries(seq))

        for result in race([lambda first=first: write(first) for first in range(0, 800, 100)]):
            assert not isinstance(result, BaseException), result
        watcher.drain()
        assert sorted(watcher.seen) == list(range(800))
        assert watcher.lost == []
        for first in range(0, 800, 100):
            of_one = [seq for seq in watcher.seen if first <= seq < first + 100]
            assert of_one == sorted(of_one)

    def test_tails_of_many(self, bridge: Bridge) -> None:
        streams = [new_id() for _ in range(300)]
        bridge.publish(streams[7], entries(1))
        tails = bridge.tails(streams)
        assert [stream for stream in streams if tails[stream] != ORIGIN] == [streams[7]]
        assert bridge.tails([]) == {}

    def test_a_closed_bridge_refuses(self, bridge: Bridge, stream: UUID) -> None:
        bridge.ping()
        reader = bridge.reader()
        reader.close()
        bridge.close()
        for refused in (
            lambda: bridge.publish(stream, entries(1)),
            lambda: bridge.tails([stream]),
            lambda: bridge.drop([stream]),
            bridge.ping,
            lambda: reader.read({stream: ORIGIN}, block_s=PATIENCE_S),
        ):
            with pytest.raises(BridgeDown):
                refused()
