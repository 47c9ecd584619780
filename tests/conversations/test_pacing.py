"""The token bucket of senders, by a clock of the test's own."""

from __future__ import annotations

import pytest

from conversations import pacing
from conversations.errors import RateLimited
from conversations.ids import new_id
from conversations.pacing import Pace
from tests.world import World


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def _takes(pace: Pace, who: object) -> int:
    taken = 0
    try:
        while taken < 1000:
            pace.take(who)  # type: ignore[arg-type]
            taken += 1
    except RateLimited:
        pass
    return taken


def test_a_second_holds_so_many_and_a_wait_gives_more() -> None:
    clock = Clock()
    pace, ann = Pace(5, clock), new_id()
    assert _takes(pace, ann) == 5
    clock.now += 0.4
    assert _takes(pace, ann) == 2
    clock.now += 3600
    assert _takes(pace, ann) == 5


def test_each_member_has_a_bucket() -> None:
    pace = Pace(2, Clock())
    assert _takes(pace, new_id()) == _takes(pace, new_id()) == 2


def test_the_refusal_says_how_long_to_wait() -> None:
    clock = Clock()
    pace, ann = Pace(4, clock), new_id()
    _takes(pace, ann)
    with pytest.raises(RateLimited) as refused:
        pace.take(ann)
    clock.now += refused.value.fields["retry_after_s"]
    assert _takes(pace, ann) == 1


def test_only_so_many_buckets_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pacing, "MAX_BUCKETS", 3)
    pace = Pace(1, Clock())
    for _ in range(10):
        pace.take(new_id())
    assert len(pace._buckets) == 3


def test_too_fast_a_sender_is_answered_with_429_and_a_header(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pacing, "_pace", Pace(2, Clock()))
    world = World("ann", "ben")
    scope = world.channel("x", "ann", "ben")
    path = f"/conversations/{scope.id}/messages"
    assert [world.call("ann", "POST", path, {"text": "a"}).status for _ in range(3)] == [201, 201, 429]
    refused = world.call("ann", "POST", path, {"text": "a"})
    assert refused.error["type"] == "rate_limited"
    assert int(refused.response["Retry-After"]) >= 1
    assert world.call("ben", "POST", path, {"text": "a"}).status == 201
    scope.refresh_from_db()
    assert scope.latest_seq == 3
