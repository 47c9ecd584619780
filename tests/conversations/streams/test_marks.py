"""What is told to watchers after the commit, and told again where that may have been lost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

import orjson
import pytest
from django.db import connection
from django.utils import timezone

from conversations.actions.marks import GRACE_S
from conversations.actions.sweeping import sweep
from conversations.delivery import announcing
from conversations.delivery.announcing import Announcer, announcer, install_announcer
from conversations.delivery.bridge import ORIGIN, BridgeDown, Entry
from conversations.delivery.memory import InProcessBridge
from conversations.errors import Refusal
from conversations.models import Message
from conversations.ownership import current_owner
from tests.world import World

from .answers import begin, emit, end, more, opened, row, stage, untouched_for


class Line(InProcessBridge):
    """The bridge in process; it can be cut, and it minds being used inside a transaction."""

    cut = False

    def publish(self, stream: UUID, entries: Sequence[Entry]) -> None:
        assert not connection.in_atomic_block
        if self.cut:
            raise BridgeDown("cut by the test")
        super().publish(stream, entries)

    def told(self, message: Message) -> list[Any]:
        """The events that went out; a bare seq where the message is to be fetched."""
        found = self.reader().read({message.id: ORIGIN}, block_s=0).delivered.get(message.id, [])
        return [each.seq if each.body is None else orjson.loads(each.body) for each in found]


@pytest.fixture
def line() -> Iterator[Line]:
    before = announcing.announcer()
    made = Line()
    install_announcer(Announcer(made))
    yield made
    install_announcer(before)


@pytest.fixture
def world(line: Line) -> World:
    return stage()


def crash() -> Announcer:
    """A new process: it remembers nothing of what was told."""
    install_announcer(Announcer(announcer().bridge))
    return announcer()


def age(message: Message) -> None:
    """Written a while ago, so nobody is about to tell it."""
    Message.objects.filter(id=message.id).update(updated_at=timezone.now() - timedelta(seconds=GRACE_S + 1))


def test_events_go_out_in_order_after_their_commit(world: World, line: Line) -> None:
    answer = opened(world)
    emit(world, answer, begin(1) | {"stream_id": "mine", "ts": 5, "event_type": "t"})
    emit(world, answer, more(2, "x"))
    emit(world, answer, {"op": "ping", "seq": 2})
    emit(world, answer, end(3))
    ours = {"stream_id": str(answer.id)}
    assert line.told(answer) == [
        begin(1) | ours | {"ts": 5, "event_type": "t"},
        more(2, "x") | ours,
        end(3) | ours | {"status": "completed"},
    ]


def test_a_retry_is_told_again(world: World, line: Line) -> None:
    answer = opened(world)
    line.cut = True
    emit(world, answer, begin(1))
    line.cut = False
    emit(world, answer, begin(1))
    assert [each["seq"] for each in line.told(answer)] == [1]


def test_what_is_refused_is_not_told(world: World, line: Line) -> None:
    answer = opened(world)
    for event in (begin(2), more(1, "x")):
        with pytest.raises(Refusal):
            emit(world, answer, event)
    assert line.told(answer) == []


def test_a_stream_is_marked_from_its_opening_to_its_told_end(world: World) -> None:
    answer = opened(world)
    assert row(answer).dispatch_pending
    emit(world, answer, begin(1))
    assert row(answer).dispatch_pending
    emit(world, answer, end(2))
    assert not row(answer).dispatch_pending


def test_a_write_succeeds_while_the_bridge_is_down(world: World, line: Line) -> None:
    answer = opened(world)
    line.cut = True
    assert emit(world, answer, begin(1)).revision == 1
    assert emit(world, answer, end(2)).revision == 2
    assert (row(answer).status, row(answer).dispatch_pending) == ("completed", True)
    age(answer)
    sweep(current_owner())
    assert row(answer).dispatch_pending
    line.cut = False
    sweep(current_owner())
    assert (line.told(answer), row(answer).dispatch_pending) == ([2], False)
    sweep(current_owner())
    assert line.told(answer) == [2]


def test_after_a_crash_each_open_stream_is_told_once(world: World, line: Line) -> None:
    answer, empty, done = opened(world), opened(world), opened(world)
    emit(world, answer, begin(1))
    emit(world, done, end(1))
    for each in (answer, empty, done):
        age(each)
    before = len(line.told(answer))
    crash()
    for _ in range(3):
        sweep(current_owner())
    assert line.told(answer)[before:] == [1]
    assert line.told(empty) == [], "there is nothing to tell of it"
    assert len(line.told(done)) == 1


def test_what_was_lost_between_commit_and_announcement_is_told(
    world: World, line: Line, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = opened(world)
    emit(world, answer, begin(1))
    monkeypatch.setattr(Announcer, "event", lambda *_: (_ for _ in ()).throw(SystemExit))
    with pytest.raises(SystemExit):
        emit(world, answer, end(2))
    monkeypatch.undo()
    assert row(answer).revision == 2
    crash()
    age(answer)
    sweep(current_owner())
    assert (line.told(answer)[1:], row(answer).dispatch_pending) == ([2], False)


def test_whoever_is_about_to_tell_is_left_alone(world: World, line: Line) -> None:
    answer = opened(world)
    emit(world, answer, begin(1))
    crash()
    sweep(current_owner())
    assert len(line.told(answer)) == 1


def test_expiry_is_told_as_an_end(world: World, line: Line) -> None:
    answer = opened(world)
    untouched_for(answer, 25)
    sweep(current_owner())
    told = {"op": "end", "seq": 1, "stream_id": str(answer.id), "status": "expired"}
    assert (line.told(answer), row(answer).dispatch_pending) == ([told], False)


def test_expiry_while_the_bridge_is_down_is_told_later(world: World, line: Line) -> None:
    answer = opened(world)
    untouched_for(answer, 25)
    line.cut = True
    sweep(current_owner())
    assert (row(answer).status, row(answer).dispatch_pending) == ("expired", True)
    line.cut = False
    sweep(current_owner())
    assert (line.told(answer), row(answer).dispatch_pending) == ([1], False)


def test_memory_of_what_was_told_is_bounded() -> None:
    made = Announcer(InProcessBridge(), max_remembered=2)
    ids = [UUID(int=n) for n in range(3)]
    for each in ids:
        made.changed(each, 7)
    assert [made.has_told(each, 7) for each in ids] == [False, True, True]
    assert not made.has_told(ids[2], 8)
    made.changed(ids[2], 3)
    assert made.has_told(ids[2], 7), "what came late does not take back what was told"
