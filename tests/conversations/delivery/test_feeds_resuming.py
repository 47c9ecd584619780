"""Coming back with the id of the last event: what changed since is told again, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from conversations.actions.sweeping import sweep
from conversations.delivery import switchboard
from conversations.delivery.memory import InProcessBridge
from conversations.models import Message, Scope
from conversations.models.scope import ScopeType
from conversations.ownership import current_owner
from conversations.queries.live import changed_messages
from tests.conversations.content.rows import Statements
from tests.conversations.streams.answers import begin, emit, end, more, opened, untouched_for
from tests.conversations.streams.answers import stage as cast_of_answers
from tests.verbs import edit, post
from tests.world import World

from .stage import Stage, Watcher


@pytest.fixture
def world() -> World:
    return cast_of_answers()


@pytest.fixture
def stage(world: World) -> Iterator[Stage]:
    with Stage(world, InProcessBridge()) as made:
        yield made


def long_ago(*messages: Message, minutes: float = 10) -> None:
    """They were last changed so long ago, beyond what is told again to be sure."""
    Message.objects.filter(id__in=[m.id for m in messages]).update(
        updated_at=timezone.now() - timedelta(minutes=minutes)
    )


def left_minutes_ago(minutes: float) -> str:
    return str(int((timezone.now() - timedelta(minutes=minutes)).timestamp() * 1000))


def test_every_event_brings_an_id_to_come_back_with(stage: Stage, world: World) -> None:
    page = stage.watch()
    post(world, "ben", "x")
    stage.settle()
    first = page.last_id
    assert first.isdigit()
    answer = opened(world)
    emit(world, answer, begin(1))
    stage.settle()
    assert int(page.last_id) >= int(first)


def test_what_changed_meanwhile_is_told(stage: Stage, world: World) -> None:
    old, edited, ended = post(world, "ben", "x", "old"), post(world, "ben", "x", "before"), opened(world)
    page = stage.watch()
    where = left_minutes_ago(5)
    page.leave()
    long_ago(old)
    edit(world, "ben", edited, "after")
    emit(world, ended, begin(1, text="done"))
    emit(world, ended, end(2))
    new, growing = post(world, "ann", "x", "new"), opened(world)
    emit(world, growing, begin(1, text="so far"))
    back = stage.watch(since=where)
    assert {key: back.text(key) for key in back.models} == {
        str(edited.id): "after",
        str(ended.id): "done",
        str(new.id): "new",
        str(growing.id): "so far",
    }
    assert back.ended.keys() == {str(edited.id), str(ended.id), str(new.id)}
    assert back.order[-1] == (str(growing.id), "start")
    emit(world, growing, more(2, "!"))
    stage.settle()
    assert back.text(growing) == "so far!"


def test_nothing_is_missed_by_the_clock(stage: Stage, world: World) -> None:
    """A transaction takes its time before it commits; who left in between is told of it."""
    page = stage.watch()
    said = post(world, "ben", "x", "slow")
    stage.settle()
    Message.objects.filter(id=said.id).update(updated_at=timezone.now() - timedelta(seconds=20))
    assert stage.watch(since=page.leave()).text(said) == "slow"


def test_an_expiry_meanwhile_is_told_though_it_leaves_no_time(stage: Stage, world: World) -> None:
    answer, before = opened(world), opened(world)
    untouched_for(before, 30)
    sweep(current_owner())
    stage.watch().leave()
    untouched_for(answer, 24.01)
    sweep(current_owner())
    back = stage.watch(since=left_minutes_ago(5))
    assert back.ended == {str(answer.id): "expired"}


def test_too_much_is_told_as_such(stage: Stage, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(switchboard, "CHANGED_AT_ONCE", 3)
    growing = opened(world)
    for _ in range(4):
        post(world, "ben", "x")
    back = stage.watch(since=left_minutes_ago(5))
    assert (back.resyncs, list(back.models)) == (1, [str(growing.id)])
    exactly = [stage.watch(since=left_minutes_ago(0.01))]
    Message.objects.filter(scope=world.scope["x"]).exclude(id=growing.id).order_by("id")[0].delete()
    exactly.append(stage.watch(since=left_minutes_ago(5)))
    assert [page.resyncs for page in exactly] == [1, 0]


def test_no_id_is_given_while_something_older_is_missing(stage: Stage, world: World) -> None:
    """A page that loses its connection in the middle of what it is told must come back to its beginning."""
    messages = [post(world, "ben", "x", "x" * 600) for _ in range(5)]
    where = left_minutes_ago(5)
    back = Watcher(stage.hub, world, "ann", world.scope["x"], where, max_bytes=3000)
    stage.hub.step(0)
    for _ in range(3):
        stage.hub.step(0)
    chunk = back.outbox.take()
    assert b"start" in chunk
    assert b"id:" not in chunk
    back.feed(chunk)
    assert back.last_id == where
    stage.watchers.append(back)
    if back.outbox.has_room_again():
        stage.hub.has_room(back.feed_)
    stage.settle()
    assert len(back.models) == len(messages)
    assert int(back.last_id) > int(where)


def test_process_conversations_are_part_of_the_feed(stage: Stage, world: World) -> None:
    main = world.conversation("main", "ann", "bot")
    inner = _inner(world, main, "one")
    answer = opened(world, scope="one")
    page = stage.watch(scope="main")
    assert page.starts[str(answer.id)] == 1
    emit(world, answer, begin(1, text="thinking"))
    stage.settle()
    assert page.text(answer) == "thinking"
    _inner(world, main, "two")
    later = post(world, "bot", "two", "in a new one")
    stage.settle()
    assert page.text(later) == "in a new one"
    assert page.meta[str(later.id)]["conversation_id"] == str(world.scope["two"].id)
    again = post(world, "bot", "two", "and again")
    said = post(world, "ann", "main", "around")
    stage.settle()
    assert (page.text(again), page.text(said)) == ("and again", "around")
    alone = stage.watch(scope="one")
    emit(world, answer, more(2, "!"))
    stage.settle()
    assert (alone.text(answer), page.text(answer)) == ("thinking!", "thinking!")
    assert inner.parent_scope_id == main.id


def _inner(world: World, main: Scope, name: str) -> Scope:
    world.scope[name] = Scope.objects.create(
        workspace=world.workspace,
        type=ScopeType.CONVERSATION,
        parent_scope=main,
        actor_kind="operator",
        actor_key=name,
    )
    return world.scope[name]


def test_resuming_seeks(world: World) -> None:
    """By scope and time, however long the conversation is."""
    if connection.vendor != "sqlite":
        pytest.skip("plans are read from SQLite here")
    scopes = [world.scope["x"].id]
    with Statements() as done:
        changed_messages(scopes, timezone.now(), 10)
    plans = []
    for sql in done.sql:
        with connection.cursor() as cursor:
            cursor.execute("EXPLAIN QUERY PLAN " + sql.replace("%s", "1"))
            plans.append(" ".join(str(each[-1]) for each in cursor.fetchall()))
    assert "messages_changed_idx" in plans[0]
    assert not any("SCAN" in plan for plan in plans)
