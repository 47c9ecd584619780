"""Bounds: validated when they are made, and each with what happens past it."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import pytest

from unread.core.budgets import Budgets, RuntimeSettings

from .cast import Play


@pytest.mark.parametrize("value", [0, -1, -0.5, True, "10", None])
@pytest.mark.parametrize("name", [item.name for item in fields(Budgets)])
def test_every_budget_has_to_be_positive(name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=name):
        replace(Budgets(), **{name: value})


@pytest.mark.parametrize("name", [item.name for item in fields(RuntimeSettings)])
def test_every_setting_has_to_be_positive(name: str) -> None:
    with pytest.raises(ValueError, match=name):
        replace(RuntimeSettings(), **{name: 0})


def test_a_number_of_things_has_to_be_whole() -> None:
    with pytest.raises(ValueError, match="flush_batch_size"):
        RuntimeSettings(flush_batch_size=2.5)  # type: ignore[arg-type]


def test_the_defaults_are_those_of_the_design() -> None:
    settings, budgets = RuntimeSettings(), Budgets()
    assert (settings.flush_interval, settings.flush_batch_size) == (30.0, 1000)
    assert (settings.hydrate_max_concurrency, settings.hydrate_batch_size) == (2, 100)
    assert (budgets.hydrate_retry_s, budgets.event_queue_size, budgets.scope_log_size) == (5.0, 10_000, 1024)


def test_an_event_over_the_accounting_budget_leaves_hints() -> None:
    play = Play(max_sync_accounting_members=2)
    scope = play.warm_channel()
    play.tell(play.facts.post(play.ann, scope))
    assert play.count(play.ben, scope) == ("snapshot_serving", 0)
    assert play.state(play.ann, scope).label == "ready"
    assert play.metrics.counts["over_budget_events"] >= 1


def test_a_read_after_an_over_budget_event_is_exact_again_because_the_log_has_it() -> None:
    play = Play(max_sync_accounting_members=2)
    scope = play.warm_channel()
    play.tell(*(play.facts.post(play.ann, scope) for _ in range(3)))
    play.tell(play.facts.read_to(play.ben, scope, 2))
    assert play.count(play.ben, scope) == ("ready", 2)


def test_a_change_over_the_accounting_budget_leaves_hints() -> None:
    play = Play(max_sync_accounting_members=2)
    scope = play.warm_channel()
    play.tell(play.facts.delete(scope, 1))
    assert play.state(play.cat, scope).label == "snapshot_serving"


def test_accounting_in_batches_counts_everybody_once() -> None:
    play = Play(accounting_batch_size=1)
    scope = play.warm_channel()
    play.tell(*(play.facts.post(play.ann, scope, (play.cat,)) for _ in range(3)))
    assert play.count(play.ben, scope) == ("ready", 3)
    assert play.shows(play.cat, scope).mentions == 3
    assert play.count(play.ann, scope) == ("ready", 0)


def test_a_read_between_two_batches_is_neither_lost_nor_counted_twice() -> None:
    play = Play(accounting_batch_size=1)
    scope = play.warm_channel()
    play.tell(play.facts.post(play.ann, scope))
    second = play.facts.post(play.ann, scope)
    read = play.facts.read_to(play.ben, scope, 2)
    workspace = next(iter(play.runtime._owned.values()))
    seen: list[int] = []

    def breathe() -> None:
        seen.append(1)
        if len(seen) == 1:
            workspace.lock.release()
            play.tell(read)
            workspace.lock.acquire()

    workspace.breathe = breathe  # type: ignore[method-assign]
    play.tell(second)
    assert len(seen) >= 2
    assert play.count(play.ben, scope) == ("ready", 1)


def test_a_failing_event_never_reaches_the_caller_and_hides_its_scope() -> None:
    play = Play()
    scope = play.warm_channel()
    play.tell(play.facts.post(play.ann, scope))
    workspace = next(iter(play.runtime._owned.values()))

    def broken(*_: Any) -> Any:
        raise RuntimeError("broken on purpose")

    workspace.fact = broken  # type: ignore[method-assign]
    play.tell(play.facts.post(play.ann, scope))
    assert play.metrics.counts["apply_errors"] == 1
    assert play.count(play.ben, scope) == ("stale", 0)
    del workspace.fact
    play.tell(play.facts.read_all(play.ben, (scope,)))
    assert play.count(play.ben, scope) == ("ready", 0)


def test_a_read_between_two_batches_that_no_log_reaches_bounds_what_was_accounted_already() -> None:
    play = Play(accounting_batch_size=1, scope_log_size=1)
    scope = play.warm_channel(play.ben, play.ann)
    play.tell(play.facts.post(play.ann, scope), play.facts.post(play.ann, scope), play.facts.post(play.ann, scope))
    last = play.facts.post(play.ann, scope)
    read = play.facts.read_to(play.ben, scope, 3)
    workspace = next(iter(play.runtime._owned.values()))

    def breathe() -> None:
        del workspace.breathe
        workspace.lock.release()
        play.tell(read)
        workspace.lock.acquire()

    workspace.breathe = breathe  # type: ignore[method-assign]
    play.tell(last)
    state, messages = play.count(play.ben, scope)
    assert (state, messages) == ("ready", 2) or (state == "snapshot_serving" and messages >= 2)
