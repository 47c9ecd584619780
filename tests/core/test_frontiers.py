"""Seqs that come early, late, twice or never."""

from __future__ import annotations

from unread.core.events import MessageStored

from .cast import GRACE_S, Play, of
from .facts import WORKSPACE


def test_two_hooks_the_wrong_way_round_count_both_at_once() -> None:
    play = Play()
    scope = play.warm_channel()
    first, second = play.facts.post(play.ann, scope), play.facts.post(play.ann, scope)
    play.tell(second)
    assert play.count(play.ben, scope)[1] == 1
    play.tell(first, second, first)
    assert play.count(play.ben, scope) == ("ready", 2)


def test_a_hook_that_was_late_for_the_warm_job_counts_past_each_entrys_own_row() -> None:
    play = Play()
    scope = play.channel()
    play.tell(play.facts.post(play.ann, scope))
    play.run()
    play.restart()
    late = play.facts.post(play.ann, scope)
    play.tell(play.facts.post(play.ann, scope))
    play.run()
    assert play.count(play.ben, scope)[1] == 2
    play.tell(late, late)
    assert play.count(play.ben, scope) == ("snapshot_serving", 3)


def test_history_below_the_starting_frontier_is_not_a_gap() -> None:
    play = Play()
    scope = play.channel()
    for _ in range(3):
        play.tell(play.facts.post(play.ann, scope))
    play.run()
    play.restart()
    play.tell(play.facts.post(play.ann, scope))
    play.run()
    play.grace_ends()
    assert play.metrics.counts["lost_events"] == 0


def test_a_replayed_send_from_before_the_row_counts_no_second_time() -> None:
    play = Play()
    scope = play.channel()
    play.tell(play.facts.post(play.ann, scope))
    play.run()
    play.restart()
    play.tell(play.facts.post(play.ann, scope))
    play.run()
    play.tell(play.facts.replay_post(scope, 1), play.facts.replay_post(scope, 2))
    assert play.count(play.ben, scope)[1] == 2


def test_a_gap_past_the_grace_makes_hints_of_whoever_the_lost_event_could_concern() -> None:
    play = Play()
    scope = play.warm_channel()
    play.facts.post(play.ann, scope)  # its hook never runs
    play.tell(play.facts.post(play.ann, scope), play.facts.read_all(play.cat, (scope,)))
    play.runtime.tick()
    assert play.count(play.ben, scope) == ("ready", 1)
    play.wait(GRACE_S)
    assert play.count(play.ben, scope) == ("snapshot_serving", 1)
    assert play.count(play.cat, scope) == ("ready", 0)
    assert play.metrics.counts["lost_events"] == 1


def test_a_gap_that_closes_within_the_grace_costs_nothing() -> None:
    play = Play()
    scope = play.warm_channel()
    slow = play.facts.post(play.ann, scope)
    play.tell(play.facts.post(play.ann, scope))
    play.runtime.tick()
    play.wait(GRACE_S / 2)
    play.tell(slow)
    play.wait(GRACE_S)
    assert play.count(play.ben, scope) == ("ready", 2)
    assert play.metrics.counts["lost_events"] == 0


def test_a_lost_event_that_comes_after_all_is_accounted() -> None:
    play = Play()
    scope = play.warm_channel()
    lost = play.facts.post(play.ann, scope)
    play.tell(play.facts.post(play.ann, scope))
    play.grace_ends()
    play.tell(lost, lost)
    assert play.count(play.ben, scope) == ("snapshot_serving", 2)


def test_a_cursor_reveals_that_the_last_message_was_lost() -> None:
    play = Play()
    scope = play.warm_channel()
    play.facts.post(play.ann, scope)  # its hook never runs, and no other message follows
    play.tell(play.facts.read_all(play.cat, (scope,)))
    play.grace_ends()
    assert play.state(play.ben, scope).label == "snapshot_serving"


def test_a_recount_never_reaches_across_a_lost_event() -> None:
    play = Play()
    scope = play.warm_channel()
    play.tell(play.facts.post(play.ann, scope))
    play.facts.post(play.ann, scope)  # its hook never runs
    play.tell(play.facts.post(play.ann, scope), play.facts.post(play.ann, scope))
    play.grace_ends()
    play.tell(play.facts.read_to(play.ben, scope, 2))
    assert play.state(play.ben, scope).label == "snapshot_serving"
    play.tell(play.facts.read_to(play.ben, scope, 4))
    assert play.count(play.ben, scope) == ("ready", 1)


def test_an_event_lost_before_the_warm_job_is_missed_by_whoever_joined_in_this_life() -> None:
    play = Play()
    scope = play.channel()
    play.facts.post(play.ann, scope)  # its hook never runs
    play.tell(play.facts.post(play.ann, scope))
    play.run()
    assert play.count(play.ben, scope) == ("ready", 1)
    play.wait(GRACE_S)
    assert play.count(play.ben, scope) == ("snapshot_serving", 1)


def test_too_many_early_seqs_give_the_gap_up_at_once() -> None:
    play = Play(max_early_seqs=3)
    scope = play.warm_channel()
    play.facts.post(play.ann, scope)  # its hook never runs
    for _ in range(3):
        play.tell(play.facts.post(play.ann, scope))
    assert play.count(play.ben, scope) == ("ready", 3)
    play.tell(play.facts.post(play.ann, scope))
    assert play.count(play.ben, scope) == ("snapshot_serving", 4)


def test_too_many_late_seqs_are_dropped_and_leave_hints() -> None:
    play = Play(max_late_seqs=2)
    scope = play.channel()
    late = [play.facts.post(play.ann, scope) for _ in range(4)]
    play.tell(late[3])
    play.run()
    play.tell(late[0], late[1], late[2])
    assert play.count(play.ben, scope) == ("snapshot_serving", 2)
    assert play.metrics.counts["lost_events"] >= 2


def test_a_lost_seq_past_the_bound_of_those_remembered_is_not_accounted_any_more() -> None:
    play = Play(max_lost_seqs=1)
    scope = play.warm_channel()
    lost = [play.facts.post(play.ann, scope) for _ in range(3)]
    play.tell(play.facts.post(play.ann, scope))
    play.grace_ends()
    play.tell(*lost)
    state, messages = play.count(play.ben, scope)
    assert state == "snapshot_serving"
    assert 1 <= messages <= 2


def test_activities_have_frontiers_of_their_own() -> None:
    play = Play()
    scope = play.warm_channel()
    first, second = (play.facts.add_activity(play.ann, scope, True) for _ in range(2))
    play.tell(second)
    play.grace_ends()
    shown = play.shows(play.ben, scope)
    assert (shown.state.label, shown.activities) == ("snapshot_serving", 1)
    play.tell(first)
    assert play.shows(play.ben, scope).activities == 2


def test_a_seq_beyond_what_the_columns_hold_degrades_its_scope_and_nothing_else() -> None:
    play = Play()
    scope, other = play.warm_channel(), play.warm_channel()
    play.tell(play.facts.post(play.ann, scope), play.facts.post(play.ann, other))
    play.facts.tables.scopes[scope].latest_seq = 2**31
    play.tell(of(MessageStored, play.facts.post(play.ann, scope)))
    assert play.count(play.ben, scope) == ("stale", 0)
    assert play.count(play.ben, other) == ("ready", 1)
    assert play.metrics.counts["apply_errors"] == 1
    assert play.runtime.owns(WORKSPACE)
