"""Readers that are slow, gone or too many: what they cost is bounded, and the others notice nothing."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from conversations.delivery import feeds, hub
from conversations.delivery.memory import InProcessBridge
from conversations.delivery.outbox import Outbox
from conversations.errors import RateLimited, Unavailable
from tests.conversations.streams.answers import begin, emit, end, more, opened
from tests.conversations.streams.answers import stage as cast_of_answers
from tests.verbs import post
from tests.world import World

from .stage import Stage

BYTES = 4000


@pytest.fixture
def world() -> World:
    return cast_of_answers()


@pytest.fixture
def stage(world: World) -> Iterator[Stage]:
    with Stage(world, InProcessBridge()) as made:
        yield made


def test_a_reader_that_stops_is_bounded_and_begins_anew_when_it_reads(stage: Stage, world: World) -> None:
    slow, quick = stage.watch(max_bytes=BYTES), stage.watch("ben")
    answer = opened(world)
    emit(world, answer, begin(1))
    stage.settle()
    slow.reads = False
    for seq in range(2, 102):
        emit(world, answer, more(seq, "x"))
        stage.settle()
        assert slow.outbox.waiting_bytes <= BYTES
    assert len(quick.text(answer)) == 100
    assert quick.events == 100
    read = stage.hub.snapshots_read
    for seq in range(102, 110):
        emit(world, answer, more(seq, "x"))
        stage.settle()
    assert stage.hub.snapshots_read == read, "nothing is read for who does not read"
    slow.reads = True
    stage.settle()
    assert len(slow.text(answer)) == 108
    assert slow.starts[str(answer.id)] == 2
    emit(world, answer, end(110))
    stage.settle()
    assert slow.ended == quick.ended == {str(answer.id): "completed"}


def test_an_end_is_not_lost_on_a_slow_reader(stage: Stage, world: World) -> None:
    slow = stage.watch(max_bytes=BYTES)
    slow.reads = False
    answers = [opened(world) for _ in range(6)]
    for answer in answers:
        emit(world, answer, begin(1, text="x" * 1000))
        emit(world, answer, end(2))
    stage.settle()
    assert slow.outbox.waiting_bytes <= BYTES
    slow.reads = True
    stage.settle()
    assert slow.ended == {str(answer.id): "completed" for answer in answers}
    assert all(slow.text(answer) == "x" * 1000 for answer in answers)


def test_a_slow_reader_that_misses_too_much_reads_the_history(
    stage: Stage, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feeds, "MAX_WANTED", 5)
    slow = stage.watch(max_bytes=BYTES)
    growing = opened(world)
    stage.settle()
    slow.reads = False
    for _ in range(30):
        post(world, "ben", "x", "x" * 500)
    emit(world, growing, begin(1, text="so far"))
    stage.settle()
    assert len(slow.feed_.wanted) <= 5
    slow.reads = True
    stage.settle()
    assert (slow.resyncs, slow.text(growing)) == (1, "so far")
    said = post(world, "ben", "x", "after")
    emit(world, growing, more(2, "!"))
    stage.settle()
    assert (slow.text(said), slow.text(growing)) == ("after", "so far!")


def test_many_large_answers_reach_a_small_outbox_one_after_the_other(stage: Stage, world: World) -> None:
    answers = []
    for _ in range(8):
        answers.append(opened(world))
        emit(world, answers[-1], begin(1, text="x" * 3000))
    page = stage.watch(max_bytes=BYTES)
    assert [len(page.text(answer)) for answer in answers] == [3000] * 8


def test_pages_that_left_cost_nothing(stage: Stage, world: World) -> None:
    page, other = stage.watch(), stage.watch("ben")
    answer = opened(world)
    stage.settle()
    page.leave()
    stage.settle()
    emit(world, answer, begin(1))
    stage.settle()
    assert (page.events, other.events) == (0, 1)
    other.leave()
    stage.settle()
    before = stage.hub.snapshots_read
    post(world, "ben", "x")
    emit(world, answer, more(2, "x"))
    stage.settle()
    assert (stage.hub.snapshots_read, stage.hub.open_feeds) == (before, 0)
    assert stage.hub.follower._cursors == {}


def test_one_member_and_one_process_have_so_many(stage: Stage, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub, "MAX_FEEDS_PER_MEMBER", 2)
    monkeypatch.setattr(hub, "MAX_FEEDS", 4)
    first = stage.watch()
    stage.watch()
    with pytest.raises(RateLimited):
        stage.watch()
    first.leave()
    stage.watch()
    stage.watch("ben"), stage.watch("bot")
    with pytest.raises(Unavailable):
        stage.watch("cat")


def test_observers_make_no_stream(stage: Stage, world: World) -> None:
    page = stage.watch()
    answer = opened(world)
    stage.settle()
    assert isinstance(stage.bridge, InProcessBridge)
    assert (page.starts[str(answer.id)], len(stage.bridge._logs)) == (1, 0)


def test_a_failure_of_the_hub_ends_the_feeds_so_that_they_come_back(
    stage: Stage, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = stage.watch()
    answer = opened(world)
    stage.settle()
    monkeypatch.setattr("conversations.queries.live.states", lambda ids: 1 / 0)
    post(world, "ben", "x")
    stage.settle()
    assert page.closed
    monkeypatch.undo()
    page.leave()
    back = stage.watch(since=page.last_id)
    emit(world, answer, begin(1, text="on"))
    stage.settle()
    assert back.text(answer) == "on"


def test_an_outage_of_the_database_delays_and_ends_nothing(
    stage: Stage, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    from django.db import OperationalError

    def gone(*_: object, **__: object) -> object:
        raise OperationalError(2006, "gone")

    page = stage.watch()
    answer = opened(world)
    stage.settle()
    for name in ("states", "snapshots", "open_messages"):
        monkeypatch.setattr(f"conversations.queries.live.{name}", gone)
    said = post(world, "ben", "x", "meanwhile")
    late = stage.watch("ben")
    emit(world, answer, begin(1, text="tokens go on"))
    stage.settle()
    assert (page.text(answer), page.closed, late.closed) == ("tokens go on", False, False)
    monkeypatch.undo()
    stage.later(60)
    assert page.text(said) == "meanwhile"
    assert late.text(answer) == "tokens go on"


def test_a_flood_of_facts_starts_over(stage: Stage, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    page = stage.watch()
    monkeypatch.setattr(hub, "MAX_COMMANDS", 10)
    for _ in range(12):
        post(world, "ben", "x")
    stage.settle()
    assert page.closed
    monkeypatch.undo()
    page.leave()
    assert len(stage.watch(since=page.last_id or "1").models) + stage.watchers[-1].resyncs > 0


class TestOutbox:
    def test_it_hands_over_in_order_with_the_ids(self) -> None:
        box = Outbox()
        assert box.put(b"data: a\n\n", 5)
        assert box.put(b"data: b\n\n", 0)
        assert box.take() == b"id: 5\ndata: a\n\ndata: b\n\n"
        assert box.take() == b""

    def test_it_wakes_once_until_it_is_emptied(self) -> None:
        woken: list[int] = []
        box = Outbox(lambda: woken.append(1))
        for _ in range(3):
            box.put(b"x", 0)
        assert len(woken) == 1
        box.take()
        box.put(b"x", 0)
        assert len(woken) == 2

    def test_a_full_one_refuses_and_says_when_there_is_room(self) -> None:
        box = Outbox(max_bytes=100)
        assert box.put(b"x" * 300, 0), "an empty one takes anything"
        assert not box.put(b"x", 0)
        assert not box.has_room_again()
        box.take()
        assert box.has_room_again()
        assert not box.has_room_again()

    def test_a_closed_one_holds_nothing(self) -> None:
        box = Outbox()
        box.put(b"x", 0)
        box.close()
        assert (box.take(), box.put(b"x", 0), box.waiting_bytes) == (b"", False, 0)

    def test_chunks_are_bounded(self) -> None:
        box = Outbox()
        for _ in range(5):
            box.put(b"x" * 30_000, 0)
        assert [len(box.take()) for _ in range(4)] == [60_000, 60_000, 30_000, 0]
