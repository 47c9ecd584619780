"""The table of count states, row by row: what makes an entry ready, a hint, hidden."""

from __future__ import annotations

from unread.core.events import MessageStored

from .cast import Play, of


def test_a_membership_that_begins_is_ready_at_zero() -> None:
    play = Play()
    scope = play.channel(play.ann, play.ben)
    assert play.count(play.ben, scope) == ("ready", 0)


def test_a_snapshot_row_is_served_as_a_hint_with_what_came_after_it() -> None:
    play = Play()
    scope = play.channel(play.ann, play.ben)
    play.tell(play.facts.post(play.ann, scope))
    play.run()
    play.restart()
    play.tell(play.facts.post(play.ann, scope))
    play.run()
    assert play.count(play.ben, scope) == ("snapshot_serving", 2)


def test_without_a_row_or_a_recount_nothing_is_shown_until_the_first_event_makes_a_lower_bound() -> None:
    play = Play()
    scope = play.channel(play.ann, play.ben)
    play.tell(play.facts.post(play.ann, scope))
    play.run()
    play.crash()
    play.facts.post(play.ann, scope)  # committed, but its process died with the hook
    play.tell(play.facts.edit_mentions(scope, 1, (play.ben,)))
    play.run()
    assert play.count(play.ben, scope) == ("hydrating", 0)
    play.tell(play.facts.post(play.ann, scope))
    assert play.count(play.ben, scope) == ("snapshot_serving", 1)


def test_a_warm_job_finds_both_cursors_at_the_end_and_calls_the_entry_ready() -> None:
    play = Play()
    scope = play.channel(play.ann, play.ben, play.cat)
    for batch in (play.facts.post(play.ann, scope), play.facts.read_all(play.ben, (scope,))):
        play.tell(batch)
    play.run()
    play.crash()
    late = play.facts.edit_mentions(scope, 1, ())
    play.tell(late, play.facts.edit_mentions(scope, 1, (play.ben,)))
    play.run()
    assert play.count(play.ben, scope) == ("ready", 0)
    assert play.count(play.cat, scope) == ("hydrating", 0)


def test_a_full_cover_read_makes_any_entry_ready_at_zero() -> None:
    play = Play()
    scope = play.channel(play.ann, play.ben)
    play.tell(play.facts.post(play.ann, scope), play.facts.post(play.ann, scope))
    play.run()
    play.restart()
    play.look(play.ben)
    assert play.count(play.ben, scope) == ("snapshot_serving", 2)
    play.tell(play.facts.read_all(play.ben, (scope,)))
    assert play.count(play.ben, scope) == ("ready", 0)


def test_a_read_that_something_accounted_has_overtaken_is_not_full_cover() -> None:
    play = Play()
    scope = play.channel(play.ann, play.ben)
    play.tell(play.facts.post(play.ann, scope))
    play.run()
    play.restart()
    play.tell(play.facts.post(play.ann, scope))
    play.run()
    read = play.facts.read_all(play.ben, (scope,))
    play.tell(play.facts.post(play.ann, scope), read)
    assert play.count(play.ben, scope)[1] == 1


def test_a_read_of_the_messages_alone_leaves_unread_activities_unread() -> None:
    play = Play()
    scope = play.warm_channel()
    play.tell(play.facts.post(play.ann, scope), play.facts.add_activity(play.ann, scope, True))
    play.tell(play.facts.read_to(play.ben, scope, 2))
    shown = play.shows(play.ben, scope)
    assert (shown.state.label, shown.messages, shown.activities) == ("ready", 0, 1)


def test_a_partial_read_that_the_log_does_not_reach_bounds_the_count_from_above() -> None:
    play = Play()
    scope = play.channel(play.ann, play.ben)
    for _ in range(4):
        play.tell(play.facts.post(play.ann, scope))
    play.run()
    play.restart()
    play.look(play.ben)
    play.tell(play.facts.read_to(play.ben, scope, 1))
    assert play.count(play.ben, scope) == ("snapshot_serving", 3)


def test_mentions_are_bounded_with_the_messages_and_activities_by_their_own_cursor() -> None:
    play = Play()
    scope = play.channel(play.ann, play.ben)
    for _ in range(3):
        play.tell(play.facts.post(play.ann, scope, (play.ben,)), play.facts.add_activity(play.ann, scope, True))
    play.run()
    play.restart()
    play.look(play.ben)
    play.tell(play.facts.read_to(play.ben, scope, 2))
    shown = play.shows(play.ben, scope)
    assert (shown.messages, shown.mentions, shown.activities) == (1, 1, 3)


def test_a_hint_becomes_ready_at_the_first_read_that_the_log_reaches() -> None:
    play = Play()
    scope = play.channel(play.ann, play.ben)
    play.tell(play.facts.post(play.ann, scope))
    play.run()
    play.restart()
    for _ in range(3):
        play.tell(play.facts.post(play.ann, scope))
        play.run()
    assert play.count(play.ben, scope) == ("snapshot_serving", 4)
    play.tell(play.facts.read_to(play.ben, scope, 3))
    assert play.count(play.ben, scope) == ("ready", 1)


def test_nothing_else_promotes_a_hint() -> None:
    play = Play()
    scope = play.channel(play.ann, play.ben)
    play.tell(play.facts.post(play.ann, scope))
    play.run()
    play.restart()
    play.look(play.ben)
    play.runtime.watch(play.facts.tables.workspace, play.ben)
    play.view(play.ben)
    play.runtime.flush()
    play.wait(60.0)
    play.look(play.ben)
    assert play.count(play.ben, scope) == ("snapshot_serving", 1)


def test_without_access_nothing_is_shown_and_the_count_lives_on_underneath() -> None:
    play = Play()
    scope = play.warm_channel()
    play.tell(play.facts.set_member_visibility(play.ben, scope, False))
    play.tell(play.facts.post(play.ann, scope))
    assert play.count(play.ben, scope) == ("unavailable", 0)
    play.tell(play.facts.set_member_visibility(play.ben, scope, True))
    assert play.count(play.ben, scope) == ("ready", 1)


def test_an_archived_parent_silences_its_threads_in_the_dot_as_in_the_list() -> None:
    play = Play()
    scope = play.warm_channel()
    thread, events = play.facts.create_thread(play.ben, scope, 1)
    play.tell(events, play.facts.post(play.ann, thread))
    play.run()
    assert play.dot(play.ben)
    play.tell(play.facts.archive(scope))
    assert not play.dot(play.ben)
    assert play.view(play.ben).counts == {}
    play.tell(play.facts.restore(scope))
    assert play.dot(play.ben)
    assert play.view(play.ben).counts[thread].messages == 1


def test_a_parent_that_was_archived_before_the_thread_was_known_silences_it_too() -> None:
    play = Play()
    scope = play.warm_channel()
    thread, events = play.facts.create_thread(play.ben, scope, 1)
    archived = play.facts.archive(scope)
    play.tell(archived, events)
    assert play.count(play.ben, thread) == ("unavailable", 0)


def test_an_older_archive_state_never_overwrites_a_newer_one() -> None:
    play = Play()
    scope = play.warm_channel()
    archived, restored = play.facts.archive(scope), play.facts.restore(scope)
    play.tell(restored, archived)
    assert play.state(play.ben, scope).label == "ready"


def test_a_marker_shows_as_a_dot_whatever_the_state_of_the_counts() -> None:
    play = Play()
    scope = play.channel(play.ann, play.ben)
    play.crash()
    play.look(play.ben)
    play.tell(play.facts.mark_unread(play.ben, scope))
    shown = play.shows(play.ben, scope)
    assert (shown.state.label, shown.manual, shown.messages) == ("hydrating", True, 0)
    assert play.dot(play.ben)


def test_while_events_wait_nothing_of_their_scope_is_called_ready() -> None:
    play = Play()
    scope = play.channel(play.ann, play.ben)
    play.tell(of(MessageStored, play.facts.post(play.ann, scope)))
    assert play.count(play.ben, scope) == ("snapshot_serving", 0)
    play.run()
    assert play.count(play.ben, scope) == ("ready", 1)


def test_nothing_is_called_ready_in_a_scope_that_may_have_been_archived_before_the_crash() -> None:
    play = Play()
    scope = play.channel()
    play.tell(play.facts.post(play.ann, scope))
    play.facts.archive(scope)
    play.crash()
    play.look(play.ben)
    play.tell(play.facts.read_all(play.ben, (scope,)), play.facts.mark_unread(play.ben, scope))
    assert play.state(play.ben, scope).label == "snapshot_serving"
    play.restart()  # reads the roster of a scope with an entry that is not complete
    play.look(play.ben)
    assert play.state(play.ben, scope).label == "unavailable"
    assert not play.dot(play.ben)
