"""Manual unread: a dot without a number, and "mark unread from here" with an exact one."""

from __future__ import annotations

from unread.core.events import ManualUnreadSet

from .cast import Play, of


def test_marking_lights_the_scope_without_a_number() -> None:
    play = Play()
    scope = play.warm_channel()
    play.tell(play.facts.mark_unread(play.ben, scope))
    shown = play.shows(play.ben, scope)
    assert (shown.manual, shown.messages) == (True, 0)
    assert play.dot(play.ben)
    play.tell(play.facts.clear_unread(play.ben, scope))
    assert not play.dot(play.ben)


def test_markers_move_only_by_their_own_events() -> None:
    play = Play()
    scope = play.warm_channel()
    play.tell(play.facts.post(play.ann, scope), play.facts.mark_unread(play.ben, scope))
    read = play.facts.read_all(play.ben, (scope,))
    play.tell(read[:1])
    assert play.shows(play.ben, scope).manual
    play.tell(read[1:])
    assert not play.shows(play.ben, scope).manual


def test_an_older_marker_never_comes_back() -> None:
    play = Play()
    scope = play.warm_channel()
    marked, cleared = play.facts.mark_unread(play.ben, scope), play.facts.clear_unread(play.ben, scope)
    play.tell(cleared, marked)
    assert not play.dot(play.ben)


def test_marking_from_a_message_is_exact_after_a_restart() -> None:
    play = Play()
    scope = play.channel()
    play.tell(*(play.facts.post(play.ann, scope, (play.ben,)) for _ in range(4)))
    play.tell(play.facts.read_all(play.ben, (scope,)))
    play.run()
    play.restart()
    play.look(play.ben)
    play.tell(play.facts.mark_unread_from(play.ben, scope, 2))
    shown = play.shows(play.ben, scope)
    assert (shown.messages, shown.mentions, shown.manual) == (3, 3, True)
    play.tell(play.facts.post(play.ann, scope))
    play.run()
    assert play.shows(play.ben, scope).messages == 4


def test_messages_that_the_rows_contain_count_no_second_time_when_they_come() -> None:
    play = Play()
    scope = play.warm_channel()
    posted = play.facts.post(play.ann, scope)
    marked = play.facts.mark_unread_from(play.ben, scope, 1)
    play.tell(marked)
    assert play.shows(play.ben, scope).messages == 2
    play.tell(posted)
    assert play.count(play.ben, scope) == ("ready", 2)


def test_rows_are_taken_as_changed_since_they_were_read() -> None:
    play = Play()
    scope = play.warm_channel()
    play.tell(*(play.facts.post(play.ann, scope) for _ in range(3)))
    marked = play.facts.mark_unread_from(play.ben, scope, 2)
    play.tell(play.facts.delete(scope, 3), marked)
    assert play.count(play.ben, scope) == ("ready", 2)


def test_a_change_in_the_rows_is_not_applied_to_them_again() -> None:
    play = Play()
    scope = play.warm_channel()
    play.tell(*(play.facts.post(play.ann, scope) for _ in range(3)))
    removed = play.facts.delete(scope, 3)
    marked = play.facts.mark_unread_from(play.ben, scope, 2)
    play.tell(marked, removed)
    assert play.count(play.ben, scope) == ("ready", 2)


def test_marking_forwards_moves_the_cursor_there() -> None:
    play = Play()
    scope = play.warm_channel()
    play.tell(*(play.facts.post(play.ann, scope) for _ in range(4)))
    play.tell(play.facts.mark_unread_from(play.ben, scope, 4))
    assert play.count(play.ben, scope) == ("ready", 2)


def test_a_partial_read_below_kept_rows_hides_the_count() -> None:
    play = Play()
    scope = play.channel()
    play.tell(*(play.facts.post(play.ann, scope) for _ in range(4)))
    play.tell(play.facts.read_all(play.ben, (scope,)))
    play.run()
    play.restart()
    play.tell(play.facts.mark_unread_from(play.ben, scope, 2), play.facts.read_to(play.ben, scope, 3))
    play.look(play.ben)
    assert play.count(play.ben, scope) == ("stale", 0)
    play.tell(play.facts.read_all(play.ben, (scope,)))
    assert play.count(play.ben, scope) == ("ready", 0)


def test_rows_of_an_older_marking_are_still_good_for_a_later_cursor() -> None:
    play = Play()
    scope = play.channel()
    play.tell(*(play.facts.post(play.ann, scope) for _ in range(4)))
    play.tell(play.facts.read_all(play.ben, (scope,)))
    play.run()
    play.restart()
    play.look(play.ben)
    marked, read = play.facts.mark_unread_from(play.ben, scope, 2), play.facts.read_to(play.ben, scope, 3)
    play.tell(read)
    assert play.count(play.ben, scope) == ("stale", 0)
    play.tell(of(ManualUnreadSet, marked))
    assert play.shows(play.ben, scope).messages == 1


def test_rows_that_an_evicted_log_can_not_complete_are_a_bound() -> None:
    play = Play(scope_log_size=1)
    scope = play.warm_channel()
    play.tell(*(play.facts.post(play.ann, scope) for _ in range(2)), play.facts.read_all(play.ben, (scope,)))
    marked = play.facts.mark_unread_from(play.ben, scope, 2)
    play.tell(*(play.facts.post(play.ann, scope) for _ in range(3)))
    play.tell(marked)
    state, messages = play.count(play.ben, scope)
    assert state == "snapshot_serving"
    assert messages >= 5


def test_facts_ahead_of_their_changes_do_not_make_the_rows_exact() -> None:
    play = Play()
    scope = play.warm_channel()
    posted = play.facts.post(play.ann, scope)
    play.tell(play.facts.read_all(play.ben, (scope,)), posted)
    marked = play.facts.mark_unread_from(play.ben, scope, 2)
    changed = play.facts.edit_mentions(scope, 2, (play.ben,))
    play.facts.post(play.ann, scope)
    play.tell(play.facts.replay_post(scope, 3), marked, changed)
    shown = play.shows(play.ben, scope)
    assert shown.state.label != "ready" or shown.mentions == 1


def test_rows_wait_for_changes_that_a_replayed_message_already_contains() -> None:
    play = Play()
    scope = play.warm_channel()
    play.tell(play.facts.read_all(play.ben, (scope,)))
    play.facts.post(play.ann, scope)
    marked = play.facts.mark_unread_from(play.ben, scope, 2)
    changed = play.facts.edit_mentions(scope, 2, (play.ben,))
    play.tell(play.facts.replay_post(scope, 2), marked)
    play.tell(changed)
    shown = play.shows(play.ben, scope)
    assert shown.state.label == "snapshot_serving" or shown.mentions == 1
