"""Whole inactive scopes leave memory; nothing is lost by it, and nothing that comes late is mistaken for news."""

from __future__ import annotations

from unread.core.events import MembershipChanged

from .cast import GRACE_S, Play, of
from .facts import WORKSPACE


def rested(play: Play) -> int:
    """A warm channel with one unread message for Ben, written, and left alone for longer than the grace."""
    scope = play.warm_channel()
    play.tell(play.facts.post(play.ann, scope))
    play.runtime.flush()
    play.wait(GRACE_S)
    return scope


def evict(play: Play, scope: int) -> bool:
    return play.runtime.evict(WORKSPACE, scope)


def test_an_evicted_scope_is_gone_and_its_members_hydrate_again() -> None:
    play = Play()
    scope = rested(play)
    assert play.dot(play.ben)
    assert evict(play, scope)
    assert play.runtime.stats().entries == 0
    assert not play.dot(play.ben)
    assert play.view(play.ben).state == "hydrating"
    play.look(play.ben)
    assert play.count(play.ben, scope) == ("snapshot_serving", 1)
    assert play.dot(play.ben)


def test_counting_goes_on_after_an_eviction() -> None:
    play = Play()
    scope = rested(play)
    evict(play, scope)
    play.tell(play.facts.post(play.ann, scope))
    play.run()
    play.look(play.ben)
    assert play.count(play.ben, scope)[1] == 2


def test_a_scope_is_not_evicted_before_its_rows_are_written() -> None:
    play = Play()
    scope = rested(play)
    play.tell(play.facts.set_level(play.ben, scope, "none"))
    play.wait(GRACE_S)
    assert not evict(play, scope)
    play.runtime.flush()
    assert evict(play, scope)


def test_a_scope_is_not_evicted_while_its_rows_are_being_written() -> None:
    play = Play()
    scope = play.warm_channel()
    play.clock.advance(GRACE_S)
    answers: list[bool] = []
    play.snapshots.between = lambda point: answers.append(evict(play, scope)) if point == "upsert" else None
    play.runtime.flush()
    assert answers == [False]
    assert evict(play, scope)


def test_a_scope_with_waiting_events_stays() -> None:
    play = Play()
    scope = rested(play)
    play.facts.join(play.cat, scope)
    play.facts.leave(play.cat, scope)
    play.tell(play.facts.post(play.ann, scope))
    play.clock.advance(GRACE_S)
    assert not evict(play, scope)


def test_a_scope_with_a_gap_stays() -> None:
    play = Play()
    scope = rested(play)
    play.facts.post(play.ann, scope)
    play.tell(play.facts.post(play.ann, scope))
    play.runtime.flush()
    play.clock.advance(GRACE_S)
    assert not evict(play, scope)


def test_a_scope_with_a_connected_member_stays() -> None:
    play = Play()
    scope = rested(play)
    play.runtime.watch(WORKSPACE, play.cat)
    assert not evict(play, scope)
    play.runtime.unwatch(WORKSPACE, play.cat)
    assert evict(play, scope)


def test_a_scope_that_something_just_happened_to_stays() -> None:
    play = Play()
    scope = play.warm_channel()
    play.runtime.flush()
    assert not evict(play, scope)


def test_a_scope_of_a_member_whose_pages_are_being_read_stays() -> None:
    play = Play()
    scope = rested(play)
    evict(play, scope)
    play.runtime.hydrate_page(WORKSPACE, play.cat, [scope])
    play.clock.advance(GRACE_S)
    answers: list[bool] = []
    play.snapshots.between = lambda point: answers.append(evict(play, scope)) if point == "hydrate" else None
    play.look(play.cat)
    assert answers == [False]


def test_rows_read_before_an_eviction_are_read_again() -> None:
    play = Play()
    scope = rested(play)
    other = rested(play)
    evict(play, scope)

    def meanwhile(point: str) -> None:
        if point == "hydrate read":
            play.snapshots.between = lambda point: None
            assert evict(play, other)

    play.snapshots.between = meanwhile
    play.runtime.hydrate_page(WORKSPACE, play.ben, [scope])
    assert play.count(play.ben, scope)[1] == 1


def test_a_join_that_comes_again_after_the_eviction_is_no_new_membership() -> None:
    play = Play()
    scope = play.channel(play.ann, play.cat)
    joined = play.facts.join(play.ben, scope)
    play.tell(joined, play.facts.post(play.ann, scope))
    play.run()
    play.runtime.flush()
    play.wait(GRACE_S)
    assert evict(play, scope)
    play.tell(of(MembershipChanged, joined))
    play.look(play.ben)
    assert play.count(play.ben, scope) == ("snapshot_serving", 1)


def test_a_thread_keeps_its_parents_state_through_the_parents_eviction() -> None:
    play = Play()
    scope = play.warm_channel()
    thread, events = play.facts.create_thread(play.ben, scope, 1)
    play.tell(events, play.facts.archive(scope))
    play.runtime.flush()
    play.wait(GRACE_S)
    play.runtime.flush()
    evict(play, scope)
    assert play.state(play.ben, thread).label == "unavailable"


def test_over_the_memory_budget_the_longest_inactive_scopes_go_first() -> None:
    play = Play(max_resident_entries=4, evict_idle_s=60.0)
    first, second = play.warm_channel(), play.warm_channel()
    play.runtime.flush()
    play.clock.advance(30.0)
    play.tell(play.facts.post(play.ann, second))
    play.runtime.flush()
    play.wait(40.0)
    assert play.runtime.shown(WORKSPACE, play.ben, first) is None
    assert play.count(play.ben, second) == ("ready", 1)
    assert play.metrics.counts["evicted_scopes"] == 1


def test_within_the_memory_budget_nothing_is_evicted() -> None:
    play = Play(evict_idle_s=60.0)
    scope = play.warm_channel()
    play.runtime.flush()
    play.wait(10_000.0)
    assert play.count(play.ben, scope) == ("ready", 0)
