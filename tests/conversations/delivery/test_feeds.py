"""What a page is told of a conversation, whatever happens on the way: nothing lost, nothing doubled.

Every page here fails at once on an event that is not the next one (`pages.Page`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from conversations.content.reading import read_content
from conversations.delivery.bridge import Bridge, BridgeDown, BridgeLimits, Entry
from conversations.delivery.frames import MAX_SNAPSHOT_BYTES
from conversations.delivery.memory import InProcessBridge
from conversations.delivery.redis_streams import RedisBridge
from conversations.models import Message
from tests.conversations.content.rows import Statements
from tests.conversations.streams.answers import begin, emit, end, error, more, opened, row, untouched_for
from tests.conversations.streams.answers import stage as cast_of_answers
from tests.verbs import delete, edit, post, react, thread
from tests.world import World

from .redis_server import RedisServer
from .stage import Clock, Stage, Watcher

LIMITS = BridgeLimits(stream_entries=50, entry_bytes=2000)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=["in process", pytest.param("redis", marks=pytest.mark.redis)])
def bridge(request: Any, clock: Clock) -> Iterator[Bridge]:
    if request.param == "in process":
        yield InProcessBridge(LIMITS)
        return
    server: RedisServer = request.getfixturevalue("redis_server")
    made = RedisBridge(server.url, LIMITS, clock=clock)
    yield made
    made.close()


@pytest.fixture
def lose(bridge: Bridge) -> Callable[[Message], None]:
    """The bridge forgets a message's stream."""
    return lambda message: bridge.drop([message.id])


@pytest.fixture
def world() -> World:
    return cast_of_answers()


@pytest.fixture
def stage(world: World, bridge: Bridge, clock: Clock) -> Iterator[Stage]:
    with Stage(world, bridge, clock) as made:
        yield made


def write(world: World, message: Message, text: str, first: int | None = None) -> int:
    """One event for each letter; returns the last seq."""
    seq = row(message).revision + 1 if first is None else first
    for letter in text:
        emit(world, message, more(seq, letter) if seq > 1 else begin(1, text=letter))
        seq += 1
    return seq - 1


def test_a_page_follows_a_message_from_its_creation(stage: Stage, world: World) -> None:
    page = stage.watch()
    answer = opened(world)
    stage.settle()
    assert (page.text(answer), page.seq[str(answer.id)]) == ("", 0)
    write(world, answer, "Hello")
    stage.settle()
    assert (page.text(answer), page.events) == ("Hello", 5)
    emit(world, answer, end(6))
    stage.settle()
    stage.later(5)
    assert page.ended == {str(answer.id): "completed"}
    assert page.starts == {str(answer.id): 1}
    assert (page.meta[str(answer.id)]["author_id"], page.meta[str(answer.id)]["status"]) == (
        str(world.member["bot"].id),
        "streaming",
    )


def test_a_page_that_comes_in_mid_answer_begins_with_the_snapshot(stage: Stage, world: World) -> None:
    answer = opened(world)
    write(world, answer, "Hel")
    page = stage.watch()
    assert (page.text(answer), page.events) == ("Hel", 0)
    write(world, answer, "lo")
    stage.settle()
    assert (page.text(answer), page.events) == ("Hello", 2)


def test_many_pages_share_what_the_hub_reads(stage: Stage, world: World) -> None:
    first = stage.watch()
    answer = opened(world)
    stage.settle()
    write(world, answer, "He")
    stage.settle()
    others = [stage.watch(who) for who in ("ann", "ben", "bot", "cat")]
    write(world, answer, "llo")
    emit(world, answer, end(6))
    stage.settle()
    assert [page.text(answer) for page in (first, *others)] == ["Hello"] * 5
    assert [page.events for page in (first, *others)] == [5, 3, 3, 3, 3]


def test_tokens_cost_no_statement(stage: Stage, world: World) -> None:
    pages = [stage.watch() for _ in range(3)]
    answer = opened(world)
    emit(world, answer, begin(1))
    stage.settle()
    for seq in range(2, 42):
        emit(world, answer, more(seq, "x"))
    with Statements() as done:
        stage.settle()
    assert done.sql == []
    assert [page.text(answer) for page in pages] == ["x" * 40] * 3


def test_a_new_message_costs_the_same_for_one_page_and_for_many(stage: Stage, world: World) -> None:
    def cost() -> int:
        post(world, "ben", "x")
        with Statements() as done:
            stage.settle()
        return len(done.sql)

    stage.watch()
    one = cost()
    for _ in range(20):
        stage.watch()
    assert cost() == one <= 12


def test_a_message_complete_at_once_is_start_and_end(stage: Stage, world: World) -> None:
    page = stage.watch()
    said = post(world, "ben", "x", "all of it")
    stage.settle()
    assert page.order == [(str(said.id), "start"), (str(said.id), "end")]
    assert (page.text(said), page.ended[str(said.id)]) == ("all of it", "completed")
    failed = post(world, "bot", "x", "no", status="failed")
    stage.settle()
    assert page.ended[str(failed.id)] == "failed"


def test_a_feed_hears_from_the_moment_it_was_accepted(stage: Stage, world: World) -> None:
    """Also where the hub has not got to it yet, and where the room it comes into is just being closed."""
    first = stage.watch("ben")
    page = Watcher(stage.hub, world, "ann", world.scope["x"])
    first.leave()
    said = post(world, "ben", "x", "at once")
    stage.watchers.append(page)
    stage.settle()
    assert page.text(said) == "at once"


def test_history_is_not_repeated_to_who_comes_first(stage: Stage, world: World) -> None:
    post(world, "ben", "x", "long ago")
    assert stage.watch().order == []


def test_an_edit_begins_the_message_anew_and_other_changes_do_not(stage: Stage, world: World) -> None:
    page = stage.watch()
    said = post(world, "ben", "x", "one")
    stage.settle()
    edit(world, "ben", said, "two")
    stage.settle()
    assert (page.text(said), page.starts[str(said.id)]) == ("two", 2)
    react(world, "ann", said)
    thread(world, "ann", said, "t")
    post(world, "ann", "t", "a reply")
    stage.settle()
    stage.later(5)
    assert page.starts[str(said.id)] == 2


def test_threads_are_no_part_of_their_channel_and_have_feeds_of_their_own(stage: Stage, world: World) -> None:
    root = post(world, "ben", "x")
    untouched_for(root, 1)
    thread(world, "ann", root, "t")
    around, inside = stage.watch(), stage.watch(scope="t")
    said = post(world, "ann", "t", "inside")
    stage.settle()
    assert (around.order, inside.text(said)) == ([], "inside")
    again = post(world, "ann", "t", "more")
    stage.settle()
    assert (around.order, inside.text(again)) == ([], "more")


def test_hidden_messages_are_told_to_agents_alone(stage: Stage, world: World) -> None:
    person, agent = stage.watch("ann"), stage.watch("bot")
    post(world, "ann", "x", "do this", message_type="task_dispatch")
    stage.settle()
    assert (len(person.order), len(agent.order)) == (0, 2)


def test_a_deleted_message_is_not_told(stage: Stage, world: World) -> None:
    page = stage.watch()
    gone = post(world, "ben", "x")
    delete(world, "ben", gone)
    kept = post(world, "ben", "x", "kept")
    stage.settle()
    assert list(page.models) == [str(kept.id)]


def test_errors_and_terminal_states_arrive(stage: Stage, world: World) -> None:
    page = stage.watch()
    answer = opened(world)
    emit(world, answer, error(1))
    emit(world, answer, end(2))
    cancelled = opened(world)
    emit(world, cancelled, end(1), status="cancelled")
    stage.settle()
    assert page.models[str(answer.id)]["meta"]["error"]["code"] == "oops"
    assert page.ended == {str(answer.id): "failed", str(cancelled.id): "cancelled"}


def test_an_expiry_ends_an_open_page(stage: Stage, world: World) -> None:
    from conversations.actions.sweeping import sweep
    from conversations.ownership import current_owner

    page = stage.watch()
    answer = opened(world)
    write(world, answer, "half")
    untouched_for(answer, 25)
    sweep(current_owner())
    stage.settle()
    assert (page.text(answer), page.ended) == ("half", {str(answer.id): "expired"})


# What goes wrong on the way


def test_a_lost_stream_is_repaired_from_the_database(
    stage: Stage, world: World, lose: Callable[[Message], None]
) -> None:
    page = stage.watch()
    answer = opened(world)
    write(world, answer, "He")
    stage.settle()
    write(world, answer, "ll")
    lose(answer)
    write(world, answer, "o")
    stage.settle()
    assert (page.text(answer), page.starts[str(answer.id)]) == ("Hello", 2)
    write(world, answer, "!")
    stage.settle()
    assert (page.text(answer), page.starts[str(answer.id)]) == ("Hello!", 2)


def test_a_loss_of_what_was_told_begins_nothing_anew(
    stage: Stage, world: World, lose: Callable[[Message], None]
) -> None:
    page = stage.watch()
    answer = opened(world)
    write(world, answer, "He")
    stage.settle()
    lose(answer)
    stage.settle()
    stage.later(3)
    write(world, answer, "llo")
    stage.settle()
    assert (page.text(answer), page.starts[str(answer.id)]) == ("Hello", 1)


def test_a_trimmed_stream_is_repaired(stage: Stage, world: World) -> None:
    page = stage.watch()
    answer = opened(world)
    stage.settle()
    write(world, answer, "x" * (LIMITS.stream_entries + 20))
    stage.settle()
    assert (len(page.text(answer)), page.starts[str(answer.id)]) == (LIMITS.stream_entries + 20, 2)
    write(world, answer, "y")
    stage.settle()
    assert page.text(answer).endswith("xy")


def test_an_oversized_event_is_fetched(stage: Stage, world: World) -> None:
    page = stage.watch()
    answer = opened(world)
    stage.settle()
    emit(world, answer, begin(1, text="x" * LIMITS.entry_bytes))
    emit(world, answer, more(2, "y"))
    stage.settle()
    assert page.text(answer) == "x" * LIMITS.entry_bytes + "y"
    assert page.starts[str(answer.id)] == 2


def test_a_snapshot_that_is_too_large_is_named_and_events_go_on(stage: Stage, world: World) -> None:
    answer = opened(world)
    emit(world, answer, begin(1, text="x" * MAX_SNAPSHOT_BYTES))
    page = stage.watch()
    assert page.to_fetch == {str(answer.id): 1}
    emit(world, answer, more(2, "y"))
    emit(world, answer, end(3))
    stage.settle()
    assert (page.events, page.ended) == (1, {str(answer.id): "completed"})
    assert page.meta[str(answer.id)]["conversation_id"] == str(world.scope["x"].id)


def test_a_huge_message_is_not_read_to_be_left_out(stage: Stage, world: World) -> None:
    """Its parts are over the limit already, which their recorded sizes say."""
    answer = opened(world)
    for seq in range(1, 12):
        emit(world, answer, begin(seq, f"b{seq}", "x" * 100_000))
    with Statements() as done:
        page = stage.watch()
    assert page.to_fetch == {str(answer.id): 11}
    assert not any('"content"' in sql and "message_parts" in sql for sql in done.sql)


def test_entries_out_of_order_and_twice_do_no_harm(stage: Stage, world: World, bridge: Bridge) -> None:
    page = stage.watch()
    answer = opened(world)
    stage.settle()
    write(world, answer, "abcd")
    events = [begin(1, text="a"), more(2, "b"), more(3, "c"), more(4, "d")]
    import orjson

    for at in (3, 0, 2, 1, 3, 3, 0):
        body = orjson.dumps(events[at] | {"stream_id": str(answer.id)})
        bridge.publish(answer.id, [Entry(events[at]["seq"], body)])
    stage.settle()
    assert page.text(answer) == "abcd"
    write(world, answer, "e")
    stage.settle()
    assert page.text(answer) == "abcde"


def test_an_end_that_the_bridge_lost_is_told_by_the_fact(
    stage: Stage, world: World, bridge: Bridge, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = stage.watch()
    answer = opened(world)
    write(world, answer, "done")
    stage.settle()

    def down(*_: Any) -> None:
        raise BridgeDown("cut by the test")

    monkeypatch.setattr(bridge, "publish", down)
    emit(world, answer, end(5))
    stage.settle()
    assert page.ended == {}
    stage.later(2)
    assert (page.text(answer), page.ended) == ("done", {str(answer.id): "completed"})


def test_pages_follow_the_database_while_the_bridge_is_down(
    stage: Stage, world: World, bridge: Bridge, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = stage.watch()
    answer = opened(world)
    write(world, answer, "He")
    stage.settle()

    def down(*_: Any, **__: Any) -> Any:
        raise BridgeDown("cut by the test")

    reader = stage.hub.follower._reader
    for target, name in ((bridge, "publish"), (bridge, "tails"), (reader, "read")):
        monkeypatch.setattr(target, name, down)
    write(world, answer, "ll")
    stage.settle()
    assert page.text(answer) == "Hell"
    other = opened(world)
    stage.settle()
    write(world, other, "new")
    stage.settle()
    assert page.text(other) == "new"
    monkeypatch.undo()
    write(world, answer, "o")
    write(world, other, "er")
    emit(world, answer, end(6))
    stage.settle()
    stage.later(3)
    assert (page.text(answer), page.text(other), page.ended) == ("Hello", "newer", {str(answer.id): "completed"})


def test_ten_thousand_events_in_one_burst(stage: Stage, world: World, bridge: Bridge) -> None:
    """Written at once, told by a bridge that keeps fifty: whatever was trimmed comes as a snapshot."""
    from django.db import transaction

    from conversations.actions.streams import write_event
    from conversations.agentue.chat import parse_chat_event
    from conversations.delivery.announcing import announcer
    from conversations.locking import lock_message_alone

    page = stage.watch()
    answer = opened(world)
    emit(world, answer, begin(1))
    stage.settle()
    seq = 1
    for _ in range(10):
        events = [parse_chat_event(more(seq + n, "x")) for n in range(1, 1001)]
        seq += 1000
        with transaction.atomic():
            message = lock_message_alone(world.id, answer.id)
            assert message is not None
            for event in events:
                write_event(message, event)
        for event in events:
            announcer().event(answer.id, event, "streaming")
        stage.hub.follower.step(0)
        stage.hub.step(0)
    emit(world, answer, end(seq + 1))
    stage.settle()
    assert (len(page.text(answer)), page.ended) == (10_000, {str(answer.id): "completed"})
    assert page.models[str(answer.id)] == read_content(row(answer))
    assert page.starts[str(answer.id)] <= 12
