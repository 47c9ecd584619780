"""Streams without a writer: swept by the owner, settled by whoever reads them first."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.db import connection

from conversations.actions.expiring import expire_message, expire_stale
from conversations.actions.sweeping import sweep
from conversations.errors import Conflict, Misdirected
from conversations.events import MessageUpdated
from conversations.models import Message, ResourceLock
from conversations.ownership import current_owner
from conversations.ownership.leases import workspace_resource
from tests.conversations.content.rows import Statements
from tests.conversations.racing import race
from tests.verbs import edit, post
from tests.world import World, facts_of

from .answers import begin, emit, end, more, opened, row, said, stage, untouched_for

TTL_HOURS = 24.0


@pytest.fixture
def world() -> World:
    return stage()


def stale(world: World, hours: float = TTL_HOURS + 1) -> Message:
    answer = opened(world)
    emit(world, answer, begin(1, text="half an ans"))
    untouched_for(answer, hours)
    return answer


def test_the_sweeper_expires_what_nobody_writes_any_more(world: World) -> None:
    old, young, done = stale(world), stale(world, TTL_HOURS - 1), stale(world)
    emit_end_long_ago(done)
    before = row(old)
    with facts_of(world) as batches:
        sweep(current_owner())
    after = row(old)
    assert (after.status, after.revision) == ("expired", 2)
    assert (after.updated_at, after.edited_at, after.content) == (before.updated_at, None, before.content)
    assert batches == [(MessageUpdated(world.id, world.scope["x"].id, old.id),)]
    assert (row(young).status, row(done).status) == ("streaming", "completed")


def emit_end_long_ago(message: Message) -> None:
    Message.objects.filter(id=message.id).update(status="completed")


def test_a_second_sweep_changes_nothing(world: World) -> None:
    old = stale(world)
    sweep(current_owner())
    with facts_of(world) as batches:
        sweep(current_owner())
    assert (batches, row(old).revision) == ([], 2)


def test_batches_are_bounded_and_begin_with_the_oldest(world: World) -> None:
    messages = [stale(world, TTL_HOURS + hours) for hours in (1, 3, 2)]
    assert expire_stale([world.id], 2) == 2
    assert [row(each).status for each in messages] == ["streaming", "expired", "expired"]
    assert expire_stale([world.id], 2) == 1


def test_only_workspaces_that_are_owned_are_swept(world: World) -> None:
    elsewhere = stage()
    theirs = stale(elsewhere)
    current_owner().release(elsewhere.id)
    mine = stale(world)
    sweep(current_owner())
    assert (row(mine).status, row(theirs).status) == ("expired", "streaming")
    ResourceLock.objects.filter(resource=workspace_resource(world.id)).update(epoch=10_000)
    again = opened_elsewhere(world)
    with pytest.raises(Misdirected):
        expire_message(world.id, again.id)
    assert row(again).status == "streaming"


def opened_elsewhere(world: World) -> Message:
    """An open message as another process left it."""
    message = Message.objects.filter(scope=world.scope["x"]).latest("id")
    untouched_for(message, TTL_HOURS + 1)
    Message.objects.filter(id=message.id).update(status="streaming")
    return message


READS: dict[str, Callable[[World, Message], object]] = {
    "message": lambda world, m: world.call("ann", "GET", f"/messages/{m.id}").ok().body,
    "meta": lambda world, m: world.call("ann", "GET", f"/messages/{m.id}/meta").ok().body,
    "history": lambda world, m: world.call("ann", "GET", f"/conversations/{world.scope['x'].id}/messages").ok()[
        "items"
    ][-1],
}


@pytest.mark.parametrize("name", READS)
def test_a_read_settles_what_has_run_out(world: World, name: str) -> None:
    old = stale(world)
    with facts_of(world) as batches:
        shown = READS[name](world, old)
    assert (shown["status"], shown["revision"]) == ("expired", 2)  # type: ignore[index]
    assert (row(old).status, len(batches)) == ("expired", 1)
    assert READS[name](world, old)["revision"] == 2  # type: ignore[index]


def test_blocks_are_of_the_settled_revision(world: World) -> None:
    old = stale(world)
    assert world.call("ann", "GET", f"/messages/{old.id}/blocks").ok()["revision"] == 2


def test_reading_what_is_alive_costs_nothing_more(world: World) -> None:
    answer = opened(world)
    with Statements() as done:
        world.call("ann", "GET", f"/messages/{answer.id}/meta").ok()
    assert not done.count("UPDATE", "messages")


def test_a_writer_that_comes_too_late_is_refused_and_told_so(world: World) -> None:
    old = stale(world)
    for event in (more(2, "wer"), end(2)):
        with pytest.raises(Conflict) as refused:
            emit(world, old, event)
        assert refused.value.fields == {"status": "expired", "expected_seq": None}
    assert (row(old).status, said(old)) == ("expired", "half an ans")
    assert edit(world, "bot", old, "an answer after all").revision == 3


def test_output_keeps_a_stream_alive_and_pings_and_retries_do_not(world: World) -> None:
    answer = stale(world, TTL_HOURS - 1)
    before = row(answer).updated_at
    emit(world, answer, {"op": "ping", "seq": 1})
    emit(world, answer, begin(1, text="half an ans"))
    assert row(answer).updated_at == before
    emit(world, answer, more(2, "wer"))
    assert row(answer).updated_at > before


def test_a_write_and_an_expiry_at_once_are_one_after_the_other(world: World) -> None:
    for _ in range(5):
        old = stale(world)
        wrote, expired = race(
            [lambda old=old: emit(world, old, more(2, "wer")), lambda old=old: expire_stale([world.id], 10)]
        )
        assert not isinstance(expired, Exception), expired
        now = row(old)
        assert isinstance(wrote, Conflict), "a stream that has run out is not revived"
        assert (now.status, now.revision) == ("expired", 2)


def test_the_sweeper_seeks(world: World) -> None:
    """By the index of the status, however many messages there are."""
    if connection.vendor != "sqlite":
        pytest.skip("plans are read from SQLite here")
    post(world, "bot", "x")
    with Statements() as done:
        expire_stale([world.id], 10)
    (sql,) = done.sql
    assert "status" in sql
    with connection.cursor() as cursor:
        cursor.execute("EXPLAIN QUERY PLAN " + sql, ["streaming", "2020-01-01", world.id.hex])
        plan = " ".join(str(each[-1]) for each in cursor.fetchall())
    assert "messages_expiry_idx" in plan
    assert "SCAN" not in plan
