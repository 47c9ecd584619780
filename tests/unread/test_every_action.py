"""Every action: what a process showed before, moved on by the action's events, is what the database counts after.

In whatever order the events come, once or twice, alone or mixed with those of another action; for a process that saw
everything from the beginning, which must call it `ready`, and for one that was restarted before.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

import conversations.actions
from conversations.errors import Refusal
from conversations.events import Fact
from conversations.ownership import current_owner
from tests.unread.house import Demand, House
from tests.unread.row_changes import Changes, Rows
from tests.unread.walk import WALK, Play, Step
from tests.world import facts_of

Batches = Sequence[Sequence[Fact]]
Delivery = Callable[[Batches], Batches]


def _one_by_one(batches: Batches) -> list[Sequence[Fact]]:
    return [(fact,) for batch in batches for fact in batch]


def _backwards(batches: Batches) -> Batches:
    return [tuple(reversed(batch)) for batch in reversed(batches)]


def _shuffled(batches: Batches) -> Batches:
    twice = _one_by_one(batches) * 2
    random.Random(len(twice)).shuffle(twice)
    return twice


ALONE: dict[str, Delivery] = {
    "as committed": lambda batches: batches,
    "reversed": _backwards,
    "doubled": lambda batches: [*batches, *batches],
    "one by one, backwards, twice": lambda batches: _one_by_one(_backwards(batches)) * 2,
    "shuffled": _shuffled,
}


def _alternating(first: Batches, second: Batches) -> Batches:
    ours, theirs = _one_by_one(first), _one_by_one(second)
    both = [each for pair in zip(ours, theirs, strict=False) for each in pair]
    return both + ours[len(theirs) :] + theirs[len(ours) :]


MIXED: dict[str, Callable[[Batches, Batches], Batches]] = {
    "alternating": _alternating,
    "alternating, backwards": lambda first, second: _backwards(_alternating(first, second)),
    "the later first": lambda first, second: [*second, *first],
    "mixed up, twice": lambda first, second: _shuffled([*first, *second]),
}


def test_every_public_action_is_walked() -> None:
    verbs = {verb for module in _modules() for verb in _verbs(module)}
    assert verbs - {step.verb for step in WALK.values()} == set()


@pytest.mark.parametrize("name", WALK)
@pytest.mark.parametrize("restarted", [False, True], ids=["seen from the beginning", "restarted"])
def test_before_and_events_are_the_truth(name: str, restarted: bool) -> None:
    step, other = WALK[name], _another(name)
    play = Play()
    houses = _houses(play, restarted)
    with facts_of(play.world) as batches, _calls() as called:
        for act in step.acts:
            act(play.world, play)
    assert step.verb.__code__ in called
    for way, delivery in ALONE.items():
        _deliver(houses[way], delivery(batches))
        assert not _errors(houses[way], restarted, step), way

    with facts_of(play.world) as others:
        _try(other, play)
    for way in ALONE:
        _deliver(houses[way], others)
    for way, mix in MIXED.items():
        _deliver(houses[way], mix(batches, others))
    for way, house in houses.items():
        assert not _errors(house, restarted, step, other), way

    assert not houses["as committed"].runtime.flush().failures
    fresh = House(play.world, hears=False)
    fresh.load_everybody()
    assert not _errors(fresh, True, step, other)


@pytest.mark.parametrize("name", WALK)
def test_every_change_is_one_generation_and_nothing_else_is_written(name: str) -> None:
    step, play = WALK[name], Play()
    play.history()
    with facts_of(play.world) as batches:
        start = before = Rows.of(play.world)
        for act in step.acts:
            act(play.world, play)
            after = Rows.of(play.world)
            assert Changes(before, after).problems() == []
            before = after
    if not step.changes:
        assert batches == []
        assert before == start


def test_the_premise_that_a_missing_event_is_noticed() -> None:
    play = Play()
    house = House(play.world)
    play.history()
    house.deaf()
    with facts_of(play.world) as batches:
        for act in WALK["send"].acts:
            act(play.world, play)
    house.load_everybody()
    assert house.errors() != []
    house.tell(batches[0])
    house.settle()
    assert house.errors() == []


def _houses(play: Play, restarted: bool) -> dict[str, House]:
    """One for every way to deliver, all of the same past, none hearing what comes."""
    ways = [*ALONE, *MIXED]
    if restarted:
        before = House(play.world)
        play.history()
        before.load_everybody()
        before.stop()
        current_owner().release(play.world.id)
        houses = {way: House(play.world, hears=False) for way in ways}
    else:
        houses = {way: House(play.world) for way in ways}
        play.history()
    for house in houses.values():
        house.deaf()
        house.load_everybody()
        assert house.errors(Demand.EXACT if restarted else Demand.READY) == []
    return houses


def _deliver(house: House, batches: Batches) -> None:
    for batch in batches:
        house.tell(batch)
    house.load_everybody()


def _errors(house: House, restarted: bool, *steps: Step) -> list[str]:
    if not restarted:
        return house.errors()
    return house.errors(Demand.COVERED if any(step.bounds for step in steps) else Demand.EXACT)


def _another(name: str) -> Step:
    names = list(WALK)
    return WALK[names[(names.index(name) * 7 + 3) % len(names)]]


def _try(step: Step, play: Play) -> None:
    """As far as the first action left something to do."""
    try:
        for act in step.acts:
            act(play.world, play)
    except Refusal:
        pass


def _modules() -> Iterator[Any]:
    for found in pkgutil.iter_modules(conversations.actions.__path__):
        yield importlib.import_module(f"conversations.actions.{found.name}")


def _verbs(module: Any) -> Iterator[Callable[..., Any]]:
    """Actions take keywords only; what they are made of takes a locked scope first."""
    for name, value in vars(module).items():
        if name.startswith("_") or not inspect.isfunction(value) or value.__module__ != module.__name__:
            continue
        parameters = inspect.signature(value).parameters.values()
        if parameters and all(each.kind is each.KEYWORD_ONLY for each in parameters):
            yield value


@contextmanager
def _calls() -> Iterator[set[Any]]:
    """The code of every function called in the block."""
    called: set[Any] = set()

    def note(frame: Any, event: str, argument: Any) -> None:
        if event == "call":
            called.add(frame.f_code)

    sys.setprofile(note)
    try:
        yield called
    finally:
        sys.setprofile(None)
