"""Answers, deadlines and retries at the same moment: one end, and one reply at most."""

from __future__ import annotations

import time
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from conversations.actions.answering import Answered, answer
from conversations.actions.asking import Question, ask
from conversations.actions.card_ends import time_out_due
from conversations.actions.messages import Sent
from conversations.errors import Conflict
from conversations.models import ConversationConsumer, Message
from conversations.pacing import Pace
from tests import verbs as do
from tests.conversations.racing import race
from tests.world import World

from .desk import asked, card, replies, row, stage

ROUNDS = 30
pytestmark = pytest.mark.mariadb


@pytest.fixture
def world(on_mariadb: None, monkeypatch: pytest.MonkeyPatch) -> World:
    """Where nobody is told to slow down."""
    monkeypatch.setattr("conversations.pacing._pace", Pace(1_000_000))
    return stage()


def give(world: World, who: str, question: str, value: str | None = "a") -> Answered:
    return answer(
        user=world.user[who],
        scope_id=world.scope["c"].id,
        question_id=row(question).id,
        outcome="success" if value else "dismissed",
        value=value,
    )


def check_one_end(question: str, results: list[Any]) -> None:
    """Every call but the one that won was told how it ended."""
    ended, found = card(question), replies(question)
    won = [each for each in results if isinstance(each, Answered)]
    assert all(isinstance(each, Answered | Conflict) for each in results), results
    assert row(question).revision == 1
    assert row(question).human_due_at is None
    if ended["status"] == "timeout":
        assert (won, found) == ([], [])
    else:
        assert len(found) == 1
        assert {each.reply.id for each in won} == {found[0].id}
        assert ended["answered_by"] == str(found[0].author_id)
    for each in results:
        if isinstance(each, Conflict):
            assert each.fields["status"] == ended["status"]


def test_two_people_answer_at_once(world: World) -> None:
    winners = set()
    for n in range(ROUNDS):
        question = asked(world, effect_key=str(n))
        results = race([lambda q=question: give(world, "ann", q, "a"), lambda q=question: give(world, "ben", q, "b")])
        check_one_end(question, results)
        assert sum(isinstance(each, Answered) for each in results) == 1
        winners.add(card(question)["answered_by"])
    consumer = ConversationConsumer.objects.get(scope=world.scope["c"], actor_key="bot")
    assert consumer.end_offset == Message.objects.filter(scope=world.scope["c"]).latest("seq").id


def test_one_person_answers_from_two_windows(world: World) -> None:
    for n in range(ROUNDS):
        question = asked(world, effect_key=str(n))
        results = race([lambda q=question: give(world, "ben", q)] * 3)
        check_one_end(question, results)
        assert all(isinstance(each, Answered) for each in results)
        other = asked(world, effect_key=f"other {n}")
        mixed = race([lambda q=other: give(world, "ben", q, "a"), lambda q=other: give(world, "ben", q, None)])
        check_one_end(other, mixed)
        assert sum(isinstance(each, Answered) for each in mixed) == 1


def test_an_answer_at_the_deadline(world: World) -> None:
    """Around it, from 1 ms before to 1 ms after, against the sweeper and other answers."""
    ends = set()
    for n in range(3 * ROUNDS):
        question = asked(world, effect_key=str(n))
        due_at = timezone.now() + timedelta(milliseconds=40)
        Message.objects.filter(id=question).update(human_due_at=due_at)

        def at(milliseconds: float, call: Any, due_at: Any = due_at) -> Any:
            def run() -> Any:
                moment = due_at + timedelta(milliseconds=milliseconds)
                while timezone.now() < moment:
                    time.sleep(0)
                return call()

            return run

        early = (-3.0, -1.0, 0.0)[n % 3]
        *results, swept = race(
            [
                at(early, lambda q=question: give(world, "ann", q, "a")),
                at(1.0, lambda q=question: give(world, "ben", q, "b")),
                at(0.0, lambda: time_out_due([world.id], 10)),
            ]
        )
        assert isinstance(swept, int), swept
        check_one_end(question, results)
        assert not isinstance(results[1], Answered), "after the deadline there is no answer"
        ends.add(card(question)["status"])
    assert "timeout" in ends


def test_asking_at_once_asks_once(world: World) -> None:
    question = Question(kind="confirm", title="Go?", prompt="", timeout_s=60)
    other = Question(kind="confirm", title="Stop?", prompt="", timeout_s=60)
    bot = world.user["bot"]

    def put(key: str, which: Question) -> Any:
        return ask(user=bot, scope_id=world.scope["c"].id, actor=None, effect_key=key, question=which)

    for n in range(ROUNDS):
        same = race([lambda n=n: put(f"same {n}", question)] * 4)
        assert all(isinstance(each, Sent) for each in same), same
        assert len({each.message.id for each in same}) == 1
        assert sorted(each.created for each in same) == [False, False, False, True]
        mixed = race([lambda n=n, q=q: put(f"mixed {n}", q) for q in (question, other)])
        assert sorted(type(each).__name__ for each in mixed) == ["Conflict", "Sent"]


def test_an_answer_and_a_removal_at_once(world: World) -> None:
    for n in range(ROUNDS):
        question = asked(world, effect_key=str(n))
        message = row(question)
        answered, removed = race(
            [lambda q=question: give(world, "ben", q), lambda m=message: do.delete(world, "bot", m)]
        )
        assert removed is None, removed
        assert Message.objects.filter(id=message.id).first() is None
        assert len(replies(question)) == isinstance(answered, Answered)
