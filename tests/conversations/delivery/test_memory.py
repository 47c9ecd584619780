"""The bridge inside one process."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest

from conversations.delivery.bridge import ORIGIN, BridgeLimits, Entry
from conversations.delivery.memory import InProcessBridge
from conversations.ids import new_id

from .contract import LIMITS, BridgeContract, Watcher, entries


class ManualClock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


class TestInProcessBridge(BridgeContract):
    @pytest.fixture
    def made(self) -> list[InProcessBridge]:
        return []

    @pytest.fixture
    def make(self, clock: ManualClock, made: list[InProcessBridge]) -> Callable[[BridgeLimits], InProcessBridge]:
        def bridge(limits: BridgeLimits) -> InProcessBridge:
            made.append(InProcessBridge(limits, clock))
            return made[-1]

        return bridge

    @pytest.fixture
    def exists(self, bridge: InProcessBridge) -> Callable[[UUID], bool]:
        return lambda stream: bridge.tails([stream])[stream] != ORIGIN

    @pytest.fixture
    def lose(self, bridge: InProcessBridge) -> Callable[[UUID], None]:
        return lambda stream: bridge.drop([stream])

    @pytest.fixture
    def expire(self, clock: ManualClock) -> Callable[[UUID], None]:
        def pass_ttl(stream: UUID) -> None:
            clock.now += LIMITS.ttl_s

        return pass_ttl

    @pytest.fixture
    def pass_time(self) -> Callable[[float], None]:
        return lambda seconds: None  # nothing is noticed late here


def test_the_stream_that_was_idle_for_longest_goes_first() -> None:
    bridge = InProcessBridge(BridgeLimits(total_bytes=1000))
    first, second, third = (new_id() for _ in range(3))
    for stream in (first, second, first):
        bridge.publish(stream, [Entry(1, b"x" * 300)])
    watcher = Watcher(bridge, first, second)
    bridge.publish(third, [Entry(1, b"x" * 300)])
    assert watcher.drain() == []
    assert watcher.lost == [second]
    assert bridge.counts.evicted == 1


def test_a_stream_larger_than_everything_allowed_is_lost_and_not_kept() -> None:
    bridge = InProcessBridge(BridgeLimits(total_bytes=1000))
    stream = new_id()
    watcher = Watcher(bridge, stream)
    bridge.publish(stream, [Entry(seq, b"x" * 300) for seq in range(5)])
    assert bridge.tails([stream]) == {stream: ORIGIN}
    assert watcher.drain() == []


def test_bytes_are_given_back() -> None:
    clock = ManualClock()
    bridge = InProcessBridge(BridgeLimits(total_bytes=1000, stream_entries=3), clock)
    for round_of in range(50):
        stream = new_id()
        bridge.publish(stream, [Entry(seq, b"x" * 100) for seq in range(6)])
        if round_of % 2:
            bridge.drop([stream])
        clock.now += 4000
    assert bridge.counts.evicted == 0


def test_a_publish_renews_the_age() -> None:
    clock = ManualClock()
    bridge: Any = InProcessBridge(BridgeLimits(ttl_s=10), clock)
    stream = new_id()
    bridge.publish(stream, entries(1))
    clock.now = 9
    bridge.publish(stream, entries(2))
    clock.now = 18
    assert bridge.tails([stream])[stream].number == 2
    clock.now = 19
    assert bridge.tails([stream]) == {stream: ORIGIN}
