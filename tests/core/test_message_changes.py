"""Messages removed, hidden, shown and edited: in order, out of order, before they come, after the log forgot them."""

from __future__ import annotations

from unread.core.events import MessageStored

from .cast import GRACE_S, Play, of


def test_changes_are_applied_in_the_order_of_their_generations() -> None:
    play = Play()
    scope = play.warm_channel()
    play.tell(play.facts.post(play.ann, scope))
    hidden = play.facts.set_message_visibility(scope, 2, False)
    shown = play.facts.set_message_visibility(scope, 2, True)
    play.tell(shown)
    assert play.count(play.ben, scope) == ("snapshot_serving", 1)
    play.tell(hidden)
    assert play.count(play.ben, scope) == ("ready", 1)


def test_a_change_told_twice_counts_once() -> None:
    play = Play()
    scope = play.warm_channel()
    play.tell(play.facts.post(play.ann, scope), play.facts.post(play.ann, scope))
    removed = play.facts.delete(scope, 2)
    play.tell(removed, removed)
    assert play.count(play.ben, scope) == ("ready", 1)


def test_what_a_message_was_changed_into_is_taken_when_it_comes() -> None:
    play = Play()
    scope = play.warm_channel()
    posted = play.facts.post(play.ann, scope, (play.ben,))
    play.tell(play.facts.edit_mentions(scope, 2, ()), posted)
    shown = play.shows(play.ben, scope)
    assert (shown.state.label, shown.messages, shown.mentions) == ("ready", 1, 0)


def test_a_replayed_send_with_newer_facts_already_contains_the_change() -> None:
    play = Play()
    scope = play.warm_channel()
    play.facts.post(play.ann, scope, (play.ben,))
    changed = play.facts.edit_mentions(scope, 2, ())
    play.tell(play.facts.replay_post(scope, 2), changed)
    shown = play.shows(play.ben, scope)
    assert (shown.state.label, shown.messages, shown.mentions) == ("ready", 1, 0)


def test_a_message_shown_for_the_first_time_is_accounted_by_that_change() -> None:
    play = Play()
    scope = play.warm_channel()
    hidden = play.facts.post(play.ann, scope, hidden=True)
    play.tell(play.facts.set_message_visibility(scope, 2, True))
    assert play.count(play.ben, scope)[1] == 1
    play.tell(hidden)
    assert play.count(play.ben, scope) == ("ready", 1)


def test_a_change_of_a_message_in_the_row_counts_only_if_it_is_newer_than_the_row() -> None:
    play = Play()
    scope = play.channel()
    play.tell(*(play.facts.post(play.ann, scope) for _ in range(3)))
    play.run()
    removed = play.facts.delete(scope, 1)
    play.tell(removed)
    play.restart()
    play.tell(play.facts.post(play.ann, scope))
    play.run()
    play.tell(removed)
    assert play.count(play.ben, scope)[1] == 3
    play.tell(play.facts.delete(scope, 2))
    assert play.count(play.ben, scope)[1] == 2


def test_a_read_message_that_is_removed_changes_nothing() -> None:
    play = Play()
    scope = play.warm_channel()
    play.tell(play.facts.post(play.ann, scope))
    play.tell(play.facts.delete(scope, 1))
    assert play.count(play.ben, scope) == ("ready", 1)


def test_an_edit_counts_a_mention_only_while_the_message_is_unread() -> None:
    play = Play()
    scope = play.warm_channel()
    play.tell(play.facts.post(play.ann, scope), play.facts.read_all(play.cat, (scope,)))
    play.tell(play.facts.edit_mentions(scope, 2, (play.ben, play.cat)))
    assert play.shows(play.ben, scope).mentions == 1
    assert play.shows(play.cat, scope).mentions == 0


def test_an_edit_makes_nobody_dirty_but_the_mentioned() -> None:
    play = Play()
    scope = play.warm_channel()
    play.tell(play.facts.post(play.ann, scope))
    play.runtime.flush()
    play.tell(play.facts.edit_mentions(scope, 2, (play.ben,)))
    assert play.runtime.stats().dirty_entries == 1


def test_removals_of_messages_that_the_log_has_evicted_are_exact_in_order() -> None:
    play = Play(scope_log_size=1)
    scope = play.warm_channel()
    for _ in range(3):
        play.tell(play.facts.post(play.ann, scope, (play.ben,)))
    play.tell(play.facts.delete(scope, 2), play.facts.edit_mentions(scope, 3, ()))
    shown = play.shows(play.ben, scope)
    assert (shown.state.label, shown.messages, shown.mentions) == ("ready", 2, 1)


def test_changes_from_below_the_start_come_in_any_order_also_for_evicted_messages() -> None:
    play = Play(scope_log_size=1)
    scope = play.channel()
    posted = [play.facts.post(play.ann, scope, (play.ben,)) for _ in range(3)]
    first, second = play.facts.edit_mentions(scope, 1, ()), play.facts.edit_mentions(scope, 1, (play.ben,))
    play.tell(*posted)
    play.run()
    play.tell(second)
    play.tell(first)
    assert play.shows(play.ben, scope).mentions == 3


def test_a_change_that_never_comes_leaves_hints_and_an_untrusted_log() -> None:
    play = Play()
    scope = play.warm_channel()
    for _ in range(3):
        play.tell(play.facts.post(play.ann, scope))
    play.facts.delete(scope, 2)  # its hook never runs
    play.tell(play.facts.delete(scope, 3))
    play.grace_ends()
    assert play.count(play.ben, scope) == ("snapshot_serving", 2)
    play.tell(play.facts.read_to(play.ben, scope, 1))
    assert play.state(play.ben, scope).label == "snapshot_serving"


def test_a_message_older_than_a_lost_change_is_not_trusted_when_it_comes() -> None:
    play = Play()
    scope = play.warm_channel()
    slow = play.facts.post(play.ann, scope)
    play.facts.delete(scope, 2)  # its hook never runs
    play.tell(play.facts.post(play.ann, scope))
    play.grace_ends()
    play.tell(of(MessageStored, slow))
    assert play.state(play.ben, scope).label == "snapshot_serving"


def test_a_lost_change_that_comes_after_all_is_applied() -> None:
    play = Play()
    scope = play.warm_channel()
    for _ in range(3):
        play.tell(play.facts.post(play.ann, scope))
    lost = play.facts.delete(scope, 2)
    play.tell(play.facts.delete(scope, 3))
    play.runtime.tick()
    play.wait(GRACE_S)
    play.tell(lost)
    assert play.count(play.ben, scope)[1] == 1


def test_a_rewind_reaches_every_entry_in_batches() -> None:
    play = Play(accounting_batch_size=1)
    scope = play.warm_channel()
    for _ in range(4):
        play.tell(play.facts.post(play.ann, scope, (play.cat,)))
    play.tell(play.facts.rewind(scope, 2))
    assert play.count(play.ben, scope) == ("ready", 1)
    assert play.shows(play.cat, scope).mentions == 1
