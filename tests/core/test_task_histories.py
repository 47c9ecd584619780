"""Random histories of one task: what is called ready is what the facts say, whatever came when, twice or never."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from unread.core.events import Counted, MessageChange, TaskAttention

from .task_board import ANN, BEN, CAT, HOME, TASK, Board

PEOPLE = (ANN, BEN, CAT)
LENGTH = 40


@dataclass
class History:
    random: random.Random
    crashes: bool
    board: Board = field(default_factory=Board)
    outbox: list[TaskAttention] = field(default_factory=list)
    """Committed and not delivered, in order."""
    events: list[TaskAttention] = field(default_factory=list)
    facts: dict[int, Counted | None] = field(default_factory=dict)
    """Of each message, as they are now."""
    hooks: list[Callable[[], None]] = field(default_factory=list)
    """Still to run, in any order."""
    begun: set[int] = field(default_factory=set)
    """Who joined in this life, told or not."""

    def __post_init__(self) -> None:
        for member in PEOPLE:
            self.board.generation[member] = 1
            self.join(member)
        self.tell_all()
        self.board.look()

    # Commits

    def join(self, member: int) -> None:
        board, row = self.board, self.row(member)
        self.board.enrol(
            member,
            membership_generation=row.membership_generation + 1,
            effective_from_seq=board.seq + 1,
            last_read_seq=row.last_read_seq,
            last_activity_read_seq=board.activity_seq,
            read_generation=row.read_generation + 1,
        )
        board.generation[member] = row.read_generation + 1
        told = board.joined(member)
        self.begun.add(member)
        self.hook(lambda: self.board.runtime.apply([told]))

    def leave(self) -> None:
        member = self.random.choice(PEOPLE)
        row = self.row(member)
        if row.active:
            self.board.roster += 1
            self.board.stores.rosters[HOME, TASK][member] = replace(
                row, active=False, membership_generation=row.membership_generation + 1
            )
            told = replace(self.board.joined(member), begins=False)
            self.hook(lambda: self.board.runtime.apply([told]))

    def say(self) -> None:
        people = self.recipients()
        for member in people:
            if not self.row(member).active:
                self.join(member)
        author = self.random.choice(PEOPLE)
        mentions = tuple(self.random.sample(PEOPLE, self.random.randrange(3)))
        event = self.board.message(*people, author=author, mentions=mentions)
        self.facts[event.message_seq] = event.facts
        self.commit(event)

    def act(self) -> None:
        people = [member for member in self.recipients() if self.row(member).active]
        self.commit(self.board.activity(*people, actor=self.random.choice(PEOPLE)))

    def change(self) -> None:
        said = [each for each in self.events if each.message_seq and self.facts[each.message_seq] is not None]
        if not said:
            return
        event = self.random.choice(said)
        before = self.facts[event.message_seq]
        assert before is not None
        after = replace(before, mentions=(self.random.choice(PEOPLE),)) if self.random.random() < 0.4 else None
        removal = self.board.removal(event, after)
        self.facts[event.message_seq] = after
        self.commit(replace(removal, changes=(MessageChange(event.message_seq, before, after),)))

    def read(self) -> None:
        member = self.random.choice(PEOPLE)
        told = self.board.read(member)
        self.hook(lambda: self.board.runtime.apply([told]))

    def commit(self, event: TaskAttention) -> None:
        self.events.append(event)
        self.outbox.append(event)
        self.hook(lambda: self.board.hook(event))

    def hook(self, tell: Callable[[], None]) -> None:
        self.hooks.append(tell)

    # What runs meanwhile

    def tell(self) -> None:
        if self.hooks:
            at = self.random.randrange(len(self.hooks))
            self.hooks.pop(at)()

    def tell_again(self) -> None:
        """A retry of a message is answered with the first one, and published again."""
        said = [each for each in self.events if each.message_seq and self.facts[each.message_seq] is not None]
        if said:
            self.board.hook(replace(self.random.choice(said), recipients=()))

    def tell_all(self) -> None:
        self.random.shuffle(self.hooks)
        while self.hooks:
            self.hooks.pop()()

    def deliver(self) -> None:
        if self.outbox:
            self.board.attend(self.outbox[0])
            if self.random.random() < 0.8:  # else it dies before it is marked
                self.outbox.pop(0)

    def fail(self) -> None:
        if self.outbox:
            board, point = self.board, self.random.choice(["protect", "load_members", "load_header"])
            board.stores.before = lambda call: _raise() if call == point else None
            try:
                board.runtime.attend(self.outbox[0])
            except OSError:
                pass
            board.stores.before = lambda call: None

    def flush(self) -> None:
        self.board.runtime.flush()

    def evict(self) -> None:
        self.board.runtime.flush()
        self.board.clock.advance(3600)
        if self.board.runtime.evict(HOME, TASK):
            self.begun.clear()
            self.board.look()

    def end_of_life(self) -> None:
        if not self.crashes:
            return
        if self.random.random() < 0.5:
            self.hooks.clear()
            self.board.crash()
        else:
            self.tell_all()
            self.board.restart()
        self.begun.clear()

    # And what has to be so

    def play(self) -> None:
        steps: list[Any] = [self.say, self.say, self.act, self.read, self.change, self.leave, self.flush, self.fail]
        steps += [self.tell] * 8 + [self.deliver] * 5 + [self.tell_again, self.evict, self.end_of_life]
        for _ in range(LENGTH):
            self.random.choice(steps)()
        self.tell_all()
        while self.outbox:
            self.deliver()
        for member in PEOPLE:
            self.check(member)
        for member in PEOPLE:
            self.board.reads(member)
        for member in PEOPLE:
            if self.row(member).active and self.is_known(member):
                assert self.board.badge(member) == ("ready", 0, 0, 0), member

    def check(self, member: int) -> None:
        if not self.row(member).active:
            return
        if not self.is_known(member):
            return
        state, *shown = self.board.badge(member)
        if state == "ready":
            assert tuple(shown) == self.truth(member), (member, state)
        if not self.crashes and member in self.begun:
            assert state == "ready", (member, shown, self.truth(member))
        if state == "snapshot_serving":
            assert all(seen >= true for seen, true in zip(shown, self.truth(member), strict=True)), (
                member,
                shown,
                self.truth(member),
            )

    def is_known(self, member: int) -> bool:
        """Else he joined, the hook was lost, and nothing has been meant for him since: nothing is shown."""
        shown = self.board.runtime.shown(HOME, member, TASK)
        assert shown is not None or self.crashes
        told = bool(self.board.stores.rows)  # or nobody knows whether the task is archived
        return shown is not None and shown.state.label != "unavailable" and told

    def truth(self, member: int) -> tuple[int, int, int]:
        row, messages, mentions, activities = self.row(member), 0, 0, 0
        for event in self.events:
            if member not in event.recipients:
                continue
            if event.activity_seq > row.last_activity_read_seq:
                activities += event.actor != member
            facts = self.facts.get(event.message_seq)
            if facts and event.message_seq > max(row.last_read_seq, row.effective_from_seq - 1):
                counts = member not in (facts.author, facts.principal)
                messages += counts
                mentions += counts and member in facts.mentions
        return messages, mentions, activities

    def row(self, member: int) -> Any:
        return self.board.stores.rosters[HOME, TASK][member]

    def recipients(self) -> list[int]:
        return self.random.sample(PEOPLE, self.random.randrange(len(PEOPLE) + 1))


def _raise() -> None:
    raise OSError("gone")


@pytest.mark.slow
@pytest.mark.parametrize("crashes", [False, True], ids=["one life", "many lives"])
@pytest.mark.parametrize("first", range(0, 400, 50))
def test_random_histories(crashes: bool, first: int) -> None:
    for seed in range(first, first + 50):
        try:
            History(random.Random(seed), crashes).play()
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {error}") from error
