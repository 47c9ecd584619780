"""Random days of one task, by its real actions: what is called ready is what the rows say, whatever life it is."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable

import pytest

from conversations.actions.tasks import TaskChange, change_task, create_task
from conversations.errors import Refusal
from conversations.models import Message
from tests import verbs
from tests.unread.house import Demand, House
from tests.world import World

PEOPLE = ("ann", "ben", "cat", "dan")
LENGTH = 30


class Day:
    """Ann made the task; ben is its assignee, cat watches it, dan is in the workspace."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.world = World(*PEOPLE, agents=("bot",))
        self.house = House(self.world)
        self.house.load_everybody()
        self.task = create_task(
            user=self.world.user["ann"],
            workspace_id=self.world.id,
            title="t",
            assignee_id=self.world.member["ben"].id,
            watcher_ids=[self.world.member["cat"].id],
        )
        self.world.scope["t"] = self.task.scope
        self.sent: list[tuple[str, Message]] = []
        self.demand = Demand.READY

    @property
    def who(self) -> str:
        return self.random.choice(PEOPLE)

    def post(self) -> None:
        who, mentions = self.who, self.random.sample(PEOPLE, self.random.randrange(3))
        self.sent.append((who, verbs.post(self.world, who, "t", mentions=mentions)))

    def change(self) -> None:
        change = TaskChange(
            status=self.random.choice(["open", "done"]), assignee_id=self.world.member[self.random.choice(PEOPLE)].id
        )
        change_task(user=self.world.user[self.who], task_id=self.task.id, change=change)

    def edit(self) -> None:
        if self.sent:
            who, message = self.random.choice(self.sent)
            verbs.edit(self.world, who, message, "hello", mentions=tuple(self.random.sample(PEOPLE, 2)))

    def delete(self) -> None:
        if self.sent:
            who, message = self.sent.pop(self.random.randrange(len(self.sent)))
            verbs.delete(self.world, who, message)

    def rewind(self) -> None:
        if self.sent:
            verbs.rewind(self.world, "ann", "t", self.random.choice(self.sent)[1])

    def read(self) -> None:
        verbs.read(self.world, self.who, "t")

    def leave(self) -> None:
        verbs.leave(self.world, self.who, "t")

    def mark(self) -> None:
        if self.demand is not Demand.HONEST:
            verbs.mark_unread(self.world, self.who, "t")

    def restart(self) -> None:
        self.demand = max(self.demand, Demand.EXACT)
        self.house = self.house.restarted()
        self.house.load_everybody()

    def crash(self) -> None:
        self.demand = Demand.HONEST
        self.house = self.house.crashed()
        self.house.load_everybody()

    def walk(self, *more: str) -> None:
        names = ["post"] * 4 + ["change", "edit", "delete", "rewind", "read", "read", "leave", "mark", *more]
        done: list[str] = []
        for _ in range(LENGTH):
            done.append(self.random.choice(names))
            step: Callable[[], None] = getattr(self, done[-1])
            with contextlib.suppress(Refusal):
                step()
            if self.random.random() < 0.4:
                self.house.settle()
                assert self.house.errors(self.demand) == [], done
        self.house.settle()
        assert self.house.errors(self.demand) == [], done


@pytest.mark.parametrize("seed", range(12))
def test_in_one_life_everything_is_ready(seed: int) -> None:
    Day(seed).walk()


@pytest.mark.parametrize("seed", range(12))
def test_through_restarts_everything_is_exact(seed: int) -> None:
    Day(seed).walk("restart", "restart")


@pytest.mark.parametrize("seed", range(12))
def test_through_crashes_nothing_wrong_is_called_ready(seed: int) -> None:
    day = Day(seed)
    day.demand = Demand.HONEST
    day.walk("restart", "crash", "crash")
