"""For every action: the rows before, carried forward by what it published, are the rows after."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from conversations.errors import Refusal
from conversations.models.scope import Visibility
from tests import verbs as do
from tests.world import World, facts_of

from .fact_mirror import State


class Play:
    """A workspace with some history in which every action changes something."""

    def __init__(self) -> None:
        self.world = world = World("ann", "ben", "cat", "dan", agents=("bot",))
        world.channel("x", "ann", "ben", "cat", "bot")
        world.channel("p", "ann", "ben", private=True)
        world.dm("d", "ann", "ben")
        self.first = do.post(world, "ann", "x", client_message_id="first", mentions=["ben"])
        self.second = do.post(world, "ben", "x")
        self.third = do.post(world, "ann", "x", mentions=["cat"])
        do.thread(world, "ben", self.first, "t")
        self.reply = do.post(world, "ben", "t")
        do.thread(world, "ann", self.third, "u")
        do.share(world, "ann", "x")
        do.react(world, "ben", self.first, "tada")
        do.mark_unread(world, "cat", "x", self.second)
        do.notify(world, "cat", "x", "mentions")
        do.leave(world, "ben", "p")
        do.archive(world, "ann", "d")


ACTIONS: dict[str, Callable[[World, Play], Any]] = {
    "send": lambda w, p: do.post(w, "ann", "x"),
    "send with mentions": lambda w, p: do.post(w, "ann", "x", mentions=["ben", "cat"]),
    "send hidden": lambda w, p: do.post(w, "ann", "x", message_type="task_dispatch"),
    "send on a person's behalf": lambda w, p: do.post(w, "bot", "x", on_behalf_of="ben"),
    "open a stream": lambda w, p: do.post(w, "bot", "x", stream=True),
    "send where one has marked unread": lambda w, p: do.post(w, "cat", "x"),
    "send again": lambda w, p: do.post(w, "ann", "x", client_message_id="first", mentions=["ben"]),
    "send again after an edit": lambda w, p: (
        do.edit(w, "ann", p.first, "new", mentions=("cat",)),
        do.post(w, "ann", "x", client_message_id="first", mentions=["ben"]),
    ),
    "write in a thread": lambda w, p: do.post(w, "cat", "t"),
    "mention in a thread": lambda w, p: do.post(w, "ben", "t", mentions=["cat", "bot"]),
    "edit": lambda w, p: do.edit(w, "ann", p.first, "new", mentions=("ben",)),
    "edit mentions": lambda w, p: do.edit(w, "ann", p.first, "new", mentions=("cat", "bot")),
    "edit mentions in a thread": lambda w, p: do.edit(w, "ben", p.reply, "new", mentions=("cat",)),
    "delete": lambda w, p: do.delete(w, "ann", p.first),
    "delete in a thread": lambda w, p: do.delete(w, "ben", p.reply),
    "rewind": lambda w, p: do.rewind(w, "ann", "x", p.first),
    "read everything": lambda w, p: do.read(w, "ben", "x"),
    "read up to a message": lambda w, p: do.read(w, "cat", "x", p.second),
    "read what is read": lambda w, p: do.read(w, "ann", "x", p.first),
    "mark unread": lambda w, p: do.mark_unread(w, "ben", "x"),
    "mark unread again": lambda w, p: do.mark_unread(w, "cat", "x"),
    "mark unread from a message": lambda w, p: do.mark_unread(w, "ben", "x", p.first),
    "mark unread from another message": lambda w, p: do.mark_unread(w, "cat", "x", p.third),
    "mark unread from the same message": lambda w, p: do.mark_unread(w, "cat", "x", p.second),
    "clear unread": lambda w, p: do.clear_unread(w, "cat", "x"),
    "mute": lambda w, p: do.notify(w, "ben", "x", "none"),
    "unmute": lambda w, p: do.notify(w, "cat", "x", "all"),
    "the same level": lambda w, p: do.notify(w, "cat", "x", "mentions"),
    "react": lambda w, p: do.react(w, "ben", p.second),
    "react again": lambda w, p: do.react(w, "ben", p.first, "tada"),
    "take a reaction back": lambda w, p: do.unreact(w, "ben", p.first, "tada"),
    "share": lambda w, p: do.share(w, "ben", "x"),
    "set a topic": lambda w, p: do.share(w, "ben", "x", "topic"),
    "join": lambda w, p: do.join(w, "dan", "x"),
    "be added": lambda w, p: do.join(w, "dan", "x", by="ann"),
    "join again": lambda w, p: do.join(w, "ben", "p", by="ann"),
    "leave": lambda w, p: do.leave(w, "ben", "x"),
    "leave and come back": lambda w, p: (do.leave(w, "cat", "x"), do.join(w, "cat", "x")),
    "leave a thread": lambda w, p: do.leave(w, "ben", "t"),
    "be removed": lambda w, p: do.leave(w, "cat", "x", by="ann"),
    "archive": lambda w, p: do.archive(w, "ann", "x"),
    "archive a thread": lambda w, p: do.archive(w, "ann", "t"),
    "restore": lambda w, p: do.restore(w, "ann", "d"),
    "rename": lambda w, p: do.rename(w, "ann", "x", "renamed"),
    "make private": lambda w, p: do.publicise(w, "ann", "x", Visibility.PRIVATE),
    "make public": lambda w, p: do.publicise(w, "ann", "p", Visibility.PUBLIC),
    "open a thread": lambda w, p: do.thread(w, "cat", p.second, "v"),
    "open a channel": lambda w, p: w.channel("n", "ben", "cat"),
    "open a dm": lambda w, p: w.dm("e", "ben", "cat"),
    "open a conversation": lambda w, p: w.conversation("c", "ben", "bot"),
}

NOTHING = {"read what is read", "mark unread again", "mark unread from the same message", "the same level"}
NOTHING |= {"react again"}


@pytest.mark.parametrize("name", ACTIONS)
def test_rows_before_and_facts_are_rows_after(name: str) -> None:
    play = Play()
    state = State.load(play.world)
    with facts_of(play.world) as batches:
        ACTIONS[name](play.world, play)
    assert bool(batches) == (name not in NOTHING)
    for batch in batches:
        state.apply(batch)
    assert state == State.load(play.world)


def test_a_whole_history_is_its_facts() -> None:
    play = Play()
    state = State.load(play.world)
    with facts_of(play.world) as batches:
        for name, action in ACTIONS.items():
            if name.startswith(("archive", "leave", "be removed", "delete", "rewind", "edit", "make", "send again")):
                continue
            try:
                action(play.world, play)
            except Refusal as refusal:
                raise AssertionError(f"{name}: {refusal.message}") from refusal
    for batch in batches:
        state.apply(batch)
    assert state == State.load(play.world)


@pytest.mark.parametrize("seed", range(6))
def test_random_histories_are_their_facts(seed: int) -> None:
    """Also what is refused in between: a refusal publishes nothing and writes nothing."""
    play, dice = Play(), random.Random(seed)
    state, done = State.load(play.world), 0
    for name in dice.choices(list(ACTIONS), k=40):
        with facts_of(play.world) as batches:
            try:
                ACTIONS[name](play.world, play)
                done += 1
            except Refusal:
                if " and " not in name and "after an edit" not in name:
                    assert batches == [], name
        for batch in batches:
            state.apply(batch)
    assert done > 10
    assert state == State.load(play.world)


def test_the_premise_that_a_missing_fact_is_noticed() -> None:
    play = Play()
    state = State.load(play.world)
    with facts_of(play.world) as batches:
        do.post(play.world, "ann", "x")
    state.apply([fact for batch in batches for fact in batch][:-1])
    assert state != State.load(play.world)
