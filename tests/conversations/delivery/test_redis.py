"""The bridge over Redis Streams, on a real server that is flushed, trimmed, killed and started again."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator
from uuid import UUID

import pytest

from conversations.delivery.bridge import ORIGIN, BridgeDown, BridgeLimits, Cursor
from conversations.delivery.redis_streams import DOWN_PAUSE_S, RedisBridge, RedisReader, stream_key
from conversations.ids import new_id
from tests.conversations.racing import race

from .contract import LIMITS, PATIENCE_S, BridgeContract, Watcher, entries
from .redis_server import RedisServer

pytestmark = pytest.mark.redis


class ShiftedClock:
    """Real time, moved on by what a test says has passed."""

    def __init__(self) -> None:
        self.passed_s = 0.0

    def __call__(self) -> float:
        return time.monotonic() + self.passed_s


@pytest.fixture
def clock() -> ShiftedClock:
    return ShiftedClock()


@pytest.fixture
def make(redis_server: RedisServer, clock: ShiftedClock) -> Iterator[Callable[[BridgeLimits], RedisBridge]]:
    made: list[RedisBridge] = []

    def bridge(limits: BridgeLimits) -> RedisBridge:
        made.append(RedisBridge(redis_server.url, limits, clock=clock))
        return made[-1]

    yield bridge
    for each in made:
        each.close()


@pytest.fixture
def pass_time(clock: ShiftedClock) -> Callable[[float], None]:
    def shift(seconds: float) -> None:
        clock.passed_s += seconds

    return shift


class TestRedisBridge(BridgeContract):
    @pytest.fixture
    def exists(self, redis_server: RedisServer) -> Callable[[UUID], bool]:
        return lambda stream: bool(redis_server.client.exists(stream_key(stream)))

    @pytest.fixture
    def lose(self, redis_server: RedisServer) -> Callable[[UUID], None]:
        return lambda stream: redis_server.client.delete(stream_key(stream))

    @pytest.fixture
    def expire(self, redis_server: RedisServer) -> Callable[[UUID], None]:
        def now(stream: UUID) -> None:
            key = stream_key(stream)
            assert LIMITS.ttl_s * 900 < redis_server.client.pttl(key) <= LIMITS.ttl_s * 1000
            redis_server.client.pexpire(key, 1)
            deadline = time.monotonic() + PATIENCE_S
            while redis_server.client.exists(key):
                assert time.monotonic() < deadline

        return now


@pytest.fixture
def bridge(make: Callable[[BridgeLimits], RedisBridge]) -> RedisBridge:
    return make(LIMITS)


@pytest.fixture
def stream() -> UUID:
    return new_id()


def test_a_publish_renews_the_age_and_keeps_the_length(
    bridge: RedisBridge, stream: UUID, redis_server: RedisServer
) -> None:
    bridge.publish(stream, entries(*range(60)))
    redis_server.client.pexpire(stream_key(stream), 5000)
    bridge.publish(stream, entries(60))
    assert redis_server.client.pttl(stream_key(stream)) > 5000
    assert redis_server.client.xlen(stream_key(stream)) == LIMITS.stream_entries


def test_trimmed_to_nothing_under_a_reader(
    bridge: RedisBridge, stream: UUID, redis_server: RedisServer, pass_time: Callable[[float], None]
) -> None:
    bridge.publish(stream, entries(1))
    watcher = Watcher(bridge, stream)
    watcher.drain()
    bridge.publish(stream, entries(2, 3))
    redis_server.client.xtrim(stream_key(stream), maxlen=0)
    pass_time(5.0)
    watcher.drain()
    assert (watcher.seen, watcher.lost) == ([], [stream])
    bridge.publish(stream, entries(4))
    assert watcher.drain() == [4]


def test_flushed_under_a_waiting_reader(
    bridge: RedisBridge, stream: UUID, redis_server: RedisServer, pass_time: Callable[[float], None]
) -> None:
    bridge.publish(stream, entries(1))
    watcher = Watcher(bridge, stream)
    watcher.drain()
    redis_server.client.flushall()
    pass_time(5.0)
    watcher.once(block_s=PATIENCE_S)
    assert watcher.lost == [stream]
    bridge.publish(stream, entries(2))
    assert watcher.drain() == [2]


def test_a_server_clock_that_ran_backwards_hides_nothing(
    bridge: RedisBridge, stream: UUID, redis_server: RedisServer, pass_time: Callable[[float], None]
) -> None:
    """The stream begins again with ids below the cursor, which a plain read would never return."""
    watcher = Watcher(bridge, stream)
    watcher.cursors[stream] = Cursor(2**42, 5)
    bridge.publish(stream, entries(6, 7))
    pass_time(5.0)
    watcher.drain()
    assert watcher.lost == [stream]
    bridge.publish(stream, entries(8))
    assert watcher.drain() == [8]


def test_scripts_forgotten_by_the_server(bridge: RedisBridge, stream: UUID, redis_server: RedisServer) -> None:
    bridge.publish(stream, entries(1))
    redis_server.client.script_flush()
    bridge.publish(stream, entries(2))
    redis_server.client.script_flush()
    assert bridge.tails([stream])[stream].number == 2


def test_a_wait_longer_than_a_commands_timeout(redis_server: RedisServer, stream: UUID) -> None:
    """The reading client has a socket timeout of its own, whatever the library's default or the writers' is."""
    bridge = RedisBridge(redis_server.url, LIMITS, command_timeout_s=0.2)
    watcher = Watcher(bridge, stream)
    assert not watcher.once(block_s=1.0)
    bridge.publish(stream, entries(1))
    assert watcher.drain() == [1]
    bridge.close()


@pytest.fixture
def mortal() -> Iterator[RedisServer]:
    server = RedisServer()
    try:
        server.start()
        yield server
    finally:
        server.remove()


def test_killed_and_started_again(mortal: RedisServer, stream: UUID) -> None:
    clock = ShiftedClock()
    bridge = RedisBridge(mortal.url, LIMITS, clock=clock)
    bridge.publish(stream, entries(1))
    watcher = Watcher(bridge, stream)
    watcher.drain()

    def read() -> None:
        watcher.once(block_s=PATIENCE_S)

    waiting, _ = race([read, mortal.kill])
    assert isinstance(waiting, BridgeDown), "a waiting read must not outlive its server"
    for refused in (lambda: bridge.publish(stream, entries(2)), lambda: bridge.tails([stream]), bridge.ping, read):
        with pytest.raises(BridgeDown):
            refused()
    assert bridge.counts.failed == 1

    mortal.start()
    with pytest.raises(BridgeDown, match="a moment ago"):
        bridge.publish(stream, entries(3))
    clock.passed_s += DOWN_PAUSE_S
    bridge.publish(stream, entries(4))
    watcher.drain()
    assert watcher.lost == [stream]
    bridge.publish(stream, entries(5))
    assert watcher.drain() == [5]
    bridge.close()


def test_started_again_with_nobody_writing(mortal: RedisServer, stream: UUID) -> None:
    clock = ShiftedClock()
    bridge = RedisBridge(mortal.url, LIMITS, clock=clock)
    bridge.publish(stream, entries(1))
    watcher = Watcher(bridge, stream)
    watcher.drain()
    mortal.kill()
    with pytest.raises(BridgeDown):
        watcher.once(block_s=PATIENCE_S)
    mortal.start()
    bridge.ping()
    watcher.once()
    assert watcher.lost == [stream]
    assert watcher.cursors == {stream: ORIGIN}
    bridge.close()


def test_a_ping_ends_the_pause(mortal: RedisServer, stream: UUID) -> None:
    bridge = RedisBridge(mortal.url, LIMITS)
    mortal.kill()
    with pytest.raises(BridgeDown):
        bridge.publish(stream, entries(1))
    mortal.start()
    bridge.ping()
    bridge.publish(stream, entries(2))
    bridge.close()


def test_a_server_that_takes_connections_and_never_answers(stream: UUID) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        bridge = RedisBridge(f"redis://127.0.0.1:{silent.getsockname()[1]}/0", LIMITS, command_timeout_s=0.1)
        with pytest.raises(BridgeDown, match=r"[Tt]imeout"):
            bridge.publish(stream, entries(1))
        with pytest.raises(BridgeDown, match="a moment ago"):
            bridge.publish(stream, entries(2))
        bridge.close()


def test_a_full_server_is_a_bridge_that_is_down(mortal: RedisServer, stream: UUID) -> None:
    bridge = RedisBridge(mortal.url, LIMITS)
    mortal.client.config_set("maxmemory", "1")
    with pytest.raises(BridgeDown, match=r"OOM|maxmemory"):
        bridge.publish(stream, entries(1))
    bridge.close()


def test_a_lost_connection_of_the_reader_alone(bridge: RedisBridge, stream: UUID, redis_server: RedisServer) -> None:
    watcher = Watcher(bridge, stream)
    watcher.once()
    reader = watcher.reader
    assert isinstance(reader, RedisReader)
    redis_server.client.client_kill_filter(_id=reader.client_id)
    with pytest.raises(BridgeDown):
        watcher.once(block_s=PATIENCE_S)
    bridge.publish(stream, entries(1))
    assert watcher.drain() == [1]
    assert watcher.lost == []
