"""Questions that nobody answers: swept by the owner, settled by whoever reads them first."""

from __future__ import annotations

import pytest

from conversations.actions.card_ends import time_out, time_out_due
from conversations.actions.sweeping import card_sweeper, sweep_cards
from conversations.errors import Misdirected
from conversations.events import MessageUpdated
from conversations.models import Message, ResourceLock
from conversations.ownership import current_owner
from conversations.ownership.leases import workspace_resource
from tests import verbs as do
from tests.conversations.content.rows import Statements
from tests.server import wait_until
from tests.world import World, facts_of

from .desk import answering, asked, card, replies, row, run_out, stage, state


@pytest.fixture
def world() -> World:
    return stage()


def test_the_sweeper_ends_what_is_due(world: World) -> None:
    due, pending, done = (asked(world, effect_key=key) for key in ("1", "2", "3"))
    answering(world, "ben", done, value="a").ok()
    run_out(due)
    before = row(due)
    with facts_of(world) as batches:
        sweep_cards(current_owner())
    after = row(due)
    assert batches == [(MessageUpdated(world.id, world.scope["c"].id, after.id),)]
    assert (after.revision, after.human_due_at, after.wake_pending) == (1, None, True)
    assert after.updated_at > before.updated_at
    assert [card(each)["status"] for each in (due, pending, done)] == ["timeout", "pending", "success"]
    assert (row(pending).wake_pending, row(pending).revision) == (False, 0)
    assert replies(due) == [], "nobody's words are made up"


def test_a_second_sweep_changes_nothing(world: World) -> None:
    due = asked(world)
    run_out(due)
    sweep_cards(current_owner())
    with facts_of(world) as batches:
        sweep_cards(current_owner())
    assert (batches, row(due).revision) == ([], 1)


def test_the_worker_of_a_server_does_it(world: World) -> None:
    due = asked(world)
    run_out(due)
    worker = card_sweeper(current_owner(), every_s=0.01)
    worker.start()
    try:
        wait_until(lambda: card(due)["status"] == "timeout")
        assert worker.healthy()
    finally:
        worker.stop(5.0)
    assert not worker.healthy()


def test_batches_are_bounded_and_begin_with_the_longest_overdue(world: World) -> None:
    questions = [asked(world, effect_key=str(n)) for n in range(3)]
    for question, seconds in zip(questions, (1, 3, 2), strict=True):
        run_out(question, seconds)
    assert time_out_due([world.id], 2) == 2
    assert [card(each)["status"] for each in questions] == ["pending", "timeout", "timeout"]
    assert time_out_due([world.id], 2) == 1
    assert time_out_due([world.id], 2) == 0


def test_a_damaged_card_stops_no_other(world: World) -> None:
    damaged, due = asked(world, effect_key="1"), asked(world, effect_key="2")
    Message.objects.filter(id=damaged).update(content={"blocks": 1})
    run_out(damaged, 5)
    run_out(due)
    assert time_out_due([world.id], 10) == 1
    assert card(due)["status"] == "timeout"
    Message.objects.filter(id=damaged).update(human_due_at=None)


def test_only_the_owner_ends_cards(world: World) -> None:
    elsewhere = stage()
    theirs = asked(elsewhere)
    run_out(theirs)
    current_owner().release(elsewhere.id)
    mine = asked(world)
    run_out(mine)
    sweep_cards(current_owner())
    assert (card(mine)["status"], card(theirs)["status"]) == ("timeout", "pending")
    Message.objects.filter(id=theirs).update(human_due_at=None)


def test_a_lost_lease_ends_nothing(world: World) -> None:
    due = asked(world)
    run_out(due)
    ResourceLock.objects.filter(resource=workspace_resource(world.id)).update(epoch=10_000)
    with pytest.raises(Misdirected):
        time_out(world.id, world.scope["c"].id, row(due).id)
    assert card(due)["status"] == "pending"
    Message.objects.filter(id=due).update(human_due_at=None)


def test_a_read_settles_what_has_run_out(world: World) -> None:
    due = asked(world)
    deadline = card(due)["deadline"]
    run_out(due)
    with facts_of(world) as batches:
        assert state(world, due, "ann") == {"status": "timeout", "deadline": deadline}
        assert state(world, due, "bot") == {"status": "timeout", "deadline": deadline}
    assert (len(batches), row(due).revision) == (1, 1)


def test_reading_a_pending_card_writes_nothing(world: World) -> None:
    question = asked(world)
    with Statements() as done:
        assert state(world, question)["status"] == "pending"
    assert not done.count("UPDATE", "messages")


def test_a_card_ends_in_an_archived_conversation_too(world: World) -> None:
    due = asked(world)
    do.archive(world, "ann", "c")
    run_out(due)
    sweep_cards(current_owner())
    assert card(due)["status"] == "timeout"
