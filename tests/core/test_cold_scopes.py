"""Scopes whose roster is not in memory: what waits, what the warm job reads, and what acts at once."""

from __future__ import annotations

from unread.core.events import ManualUnreadSet, MembershipChanged, MessageStored, ReadCursorAdvanced

from .cast import GRACE_S, Play, of
from .fact_stores import StoreDown


def test_a_message_into_a_cold_scope_waits_for_one_warm_job_however_many_come() -> None:
    play = Play()
    scope = play.channel()
    points: list[str] = []
    play.rosters.between = points.append
    for _ in range(5):
        play.tell(play.facts.post(play.ann, scope))
    assert points == []
    assert play.runtime.stats().waiting_events == 5
    play.run()
    assert points.count("header") == 1
    assert play.count(play.ben, scope) == ("ready", 5)
    assert play.runtime.stats().waiting_events == 0


def test_the_roster_is_read_header_first_and_then_in_pages() -> None:
    play = Play(page=2)
    scope = play.channel()
    points: list[str] = []
    play.rosters.between = points.append
    play.tell(play.facts.post(play.ann, scope))
    play.run()
    assert [point for point in points if not point.endswith("read")] == ["header", "page", "page"]


def test_a_message_waits_for_the_join_that_it_overtook() -> None:
    play = Play()
    scope = play.warm_channel(play.ann, play.cat)
    joined = play.facts.join(play.ben, scope)
    posted = play.facts.post(play.ann, scope)
    play.tell(posted)
    assert play.count(play.cat, scope) == ("snapshot_serving", 0)
    play.tell(joined)
    assert play.count(play.cat, scope) == ("ready", 1)
    assert play.count(play.ben, scope) == ("ready", 1)


def test_a_roster_gap_that_stays_open_gets_a_new_warm_job_that_leaves_the_frontier_alone() -> None:
    play = Play()
    scope = play.warm_channel(play.ann, play.cat)
    play.facts.join(play.ben, scope)  # its hook never runs
    play.tell(play.facts.post(play.ann, scope))
    play.grace_ends()
    play.run()
    assert play.count(play.cat, scope) == ("ready", 1)
    assert play.count(play.ben, scope)[1] == 1
    play.tell(play.facts.read_to(play.cat, scope, 2))
    assert play.count(play.cat, scope) == ("ready", 0)


def test_a_failed_warm_job_is_tried_again_and_loses_nothing() -> None:
    play = Play()
    scope = play.channel()
    play.tell(play.facts.post(play.ann, scope))

    def fail(point: str) -> None:
        raise StoreDown(point)

    play.rosters.between = fail
    play.run()
    assert play.metrics.counts["job_failures"] == 1
    play.rosters.between = lambda point: None
    play.wait(play.budgets.hydrate_retry_s)
    play.run()
    assert play.count(play.ben, scope) == ("ready", 1)


def test_live_events_in_the_middle_of_a_warm_job_win_by_their_generations() -> None:
    play = Play(page=1)
    scope = play.channel()
    play.tell(play.facts.post(play.ann, scope))
    seen: list[str] = []

    def meanwhile(point: str) -> None:
        seen.append(point)
        if seen.count("page read") == 3 and point == "page read":
            play.tell(play.facts.leave(play.cat, scope), play.facts.set_level(play.ben, scope, "none"))

    play.rosters.between = meanwhile
    play.run()
    assert play.state(play.cat, scope).label == "unavailable"
    assert play.count(play.ben, scope) == ("ready", 0)


def test_a_membership_acts_at_once_in_a_cold_scope() -> None:
    play = Play()
    scope = play.channel()
    play.tell(play.facts.post(play.ann, scope))
    play.run()
    play.restart()
    play.look(play.ben)
    assert play.dot(play.ben)
    play.tell(play.facts.leave(play.ben, scope))
    assert not play.dot(play.ben)


def test_a_read_of_an_entry_that_is_not_loaded_is_kept_and_wins_over_the_row() -> None:
    play = Play()
    scope = play.channel()
    play.tell(*(play.facts.post(play.ann, scope) for _ in range(3)))
    play.run()
    play.restart()
    play.tell(play.facts.read_to(play.ben, scope, 2))
    assert play.runtime.stats().kept_entries == 1
    play.look(play.ben)
    assert play.runtime.stats().kept_entries == 0
    assert play.count(play.ben, scope) == ("snapshot_serving", 1)


def test_a_kept_full_cover_read_is_ready_when_the_row_comes() -> None:
    play = Play()
    scope = play.channel()
    play.tell(*(play.facts.post(play.ann, scope) for _ in range(3)))
    play.run()
    play.restart()
    play.tell(play.facts.read_all(play.ben, (scope,)))
    play.look(play.ben)
    assert play.count(play.ben, scope) == ("ready", 0)


def test_kept_levels_and_markers_win_over_the_row() -> None:
    play = Play()
    scope = play.channel()
    play.tell(*(play.facts.post(play.ann, scope) for _ in range(2)))
    play.run()
    play.restart()
    play.tell(play.facts.set_level(play.ben, scope, "none"), play.facts.mark_unread(play.ben, scope))
    play.look(play.ben)
    shown = play.shows(play.ben, scope)
    assert (shown.messages, shown.manual) == (0, True)


def test_an_older_event_never_overwrites_the_row() -> None:
    play = Play()
    scope = play.channel()
    play.tell(play.facts.post(play.ann, scope))
    old = play.facts.read_to(play.ben, scope, 1)
    play.tell(old, play.facts.post(play.ann, scope), play.facts.post(play.ann, scope))
    play.tell(play.facts.read_to(play.ben, scope, 2))
    play.run()
    play.restart()
    play.tell(of(ReadCursorAdvanced, old))
    play.look(play.ben)
    assert play.count(play.ben, scope)[1] == 1


def test_more_kept_entries_than_the_budget_make_the_scopes_rows_suppressed() -> None:
    play = Play(max_kept_entries=1)
    scope = play.channel()
    play.tell(*(play.facts.post(play.ann, scope) for _ in range(3)))
    play.run()
    play.restart()
    play.tell(play.facts.read_to(play.cat, scope, 1), play.facts.read_to(play.ben, scope, 1))
    assert play.metrics.counts["refused_kept_events"] == 1
    play.look(play.ben)
    assert play.count(play.ben, scope) == ("stale", 0)


def test_an_event_past_the_scopes_queue_is_dropped_and_leaves_hints() -> None:
    play = Play(scope_queue_size=2)
    scope = play.channel()
    for _ in range(4):
        play.tell(of(MessageStored, play.facts.post(play.ann, scope)))
    assert play.metrics.counts["dropped_events"] == 2
    play.run()
    assert play.count(play.ben, scope) == ("snapshot_serving", 2)


def test_the_process_has_one_bound_for_all_waiting_events() -> None:
    play = Play(event_queue_size=3)
    first, second = play.channel(), play.channel()
    for scope in (first, second):
        for _ in range(2):
            play.tell(of(MessageStored, play.facts.post(play.ann, scope)))
    assert play.metrics.counts["dropped_events"] == 1
    play.run()
    assert play.count(play.ben, first) == ("ready", 2)
    assert play.count(play.ben, second) == ("snapshot_serving", 1)


def test_a_dropped_change_leaves_hints_and_an_untrusted_log() -> None:
    play = Play(scope_queue_size=2)
    scope = play.channel()
    play.tell(*(of(MessageStored, play.facts.post(play.ann, scope)) for _ in range(2)))
    play.tell(play.facts.delete(scope, 1))
    play.run()
    assert play.state(play.ben, scope).label == "snapshot_serving"
    play.tell(play.facts.read_to(play.ben, scope, 2))
    assert play.count(play.ben, scope) == ("ready", 0)


def test_a_scope_that_is_gone_shows_nothing_and_holds_nothing() -> None:
    play = Play()
    scope = play.channel()
    posted = play.facts.post(play.ann, scope)
    table = play.facts.tables.scopes.pop(scope)
    play.tell(posted)
    play.run()
    assert play.state(play.ben, scope).label == "unavailable"
    assert play.runtime.stats().waiting_events == 0
    play.facts.tables.scopes[scope] = table


def test_task_events_are_left_to_the_worker_of_their_outbox() -> None:
    play = Play()
    scope = play.warm_channel()
    (posted,) = of(MessageStored, play.facts.post(play.ann, scope))
    assert isinstance(posted, MessageStored)
    targeted = MessageStored(
        posted.workspace, scope, 0, posted.seq, posted.facts, posted.roster_generation, 0, recipients=(play.ben,)
    )
    play.tell((targeted,))
    assert play.count(play.ben, scope) == ("snapshot_serving", 0)
    play.grace_ends()
    assert play.metrics.counts["lost_events"] == 0


def test_a_join_that_was_read_as_history_still_makes_the_member_ready() -> None:
    play = Play()
    scope = play.channel(play.ann, play.cat)
    joined = play.facts.join(play.ben, scope)
    play.tell(play.facts.post(play.ann, scope))
    play.run()
    assert play.count(play.ben, scope) == ("snapshot_serving", 1)
    play.tell(of(MembershipChanged, joined))
    assert play.count(play.ben, scope) == ("ready", 1)


def test_marking_in_a_cold_scope_is_kept_exact_for_messages() -> None:
    play = Play()
    scope = play.channel()
    play.tell(*(play.facts.post(play.ann, scope) for _ in range(4)))
    play.tell(play.facts.read_all(play.ben, (scope,)))
    play.run()
    play.restart()
    play.tell(of(ManualUnreadSet, play.facts.mark_unread_from(play.ben, scope, 3)))
    play.look(play.ben)
    assert play.shows(play.ben, scope).messages == 2
    play.wait(GRACE_S)
