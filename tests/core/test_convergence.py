"""Convergence: whatever happens between commit and delivery, what is shown ends up equal to the oracle.

The same moves as the long run, driven by Hypothesis: `LOOPD_CONVERGENCE_EXAMPLES` sets how many histories.
"""

from __future__ import annotations

import os
import random
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from .driver import failure_of, random_history, smallest
from .moves import DELIVERIES, ENDS, FACTS, SIGHTS, WORK, Kind
from .player import Move, Player
from .runtimes import Config
from .storm import Storm

pytestmark = pytest.mark.slow

EXAMPLES = int(os.environ.get("LOOPD_CONVERGENCE_EXAMPLES", "60"))
RANDOM_HISTORIES_PER_EXAMPLE = 5


def moves(kinds: dict[str, Kind]) -> st.SearchStrategy[Move]:
    weighted = [name for name, kind in kinds.items() for _ in range(kind.weight)]
    return st.sampled_from(weighted).flatmap(
        lambda name: st.tuples(st.just(name), *(st.integers(0, bound - 1) for bound in kinds[name].bounds))
    )


class Convergence(RuleBasedStateMachine):
    crashes = False
    lossy = False

    @initialize(
        log=st.sampled_from((1000, 1, 2, 3)),
        hydrate_batch=st.sampled_from((100, 1, 2, 3)),
        with_thread=st.booleans(),
        split=st.booleans(),
        cold_start=st.booleans(),
        join_moves_cursor=st.booleans(),
    )
    def begin(self, **choices: Any) -> None:
        self.player = Player(Config(**choices, crashes=self.crashes, lossy=self.lossy))

    @rule(move=moves(FACTS))
    def commit(self, move: Move) -> None:
        self.player.do(move)

    @rule(move=moves(FACTS))
    def commit_and_deliver(self, move: Move) -> None:
        self.player.do(move)
        self.player.do(("deliver_all",))

    @rule(move=moves(DELIVERIES))
    def deliver(self, move: Move) -> None:
        self.player.do(move)

    @rule(move=moves(WORK))
    def work(self, move: Move) -> None:
        self.player.do(move)

    @rule(move=moves(SIGHTS))
    def see(self, move: Move) -> None:
        self.player.do(move)

    @rule(after=st.integers(0, 7), move=moves(FACTS | DELIVERIES | WORK | SIGHTS))
    def slip_in(self, after: int, move: Move) -> None:
        self.player.do(("aside", after, *move))

    @rule(move=moves(ENDS))
    def end(self, move: Move) -> None:
        self.player.do(move)

    def teardown(self) -> None:
        if hasattr(self, "player"):
            self.player.settle()


class ConvergenceWithCrashes(Convergence):
    crashes = True


class ConvergenceWithLosses(Convergence):
    lossy = True


PROFILE = settings(
    max_examples=EXAMPLES, stateful_step_count=30, deadline=None, suppress_health_check=list(HealthCheck), database=None
)
TestConvergence = Convergence.TestCase
TestConvergence.settings = PROFILE
TestConvergenceWithCrashes = ConvergenceWithCrashes.TestCase
TestConvergenceWithCrashes.settings = PROFILE
TestConvergenceWithLosses = ConvergenceWithLosses.TestCase
TestConvergenceWithLosses.settings = PROFILE


def test_random_histories() -> None:
    """The long run's own driver, a little of it: reaches deeper per second than Hypothesis, which explains better."""
    for number in range(EXAMPLES * RANDOM_HISTORIES_PER_EXAMPLE):
        history = random_history(random.Random(f"ci/{number}"))
        failure = failure_of(history)
        if failure is not None:
            history, failure = smallest(history, failure)
            pytest.fail(f"{failure}\n{history}")


@pytest.mark.parametrize("seed", range(2))
def test_storms(seed: int) -> None:
    Storm(f"ci/{seed}", moves=60).run()
