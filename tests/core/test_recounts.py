"""When the log alone makes a count exact, and when it may not."""

from __future__ import annotations

from .cast import Play


def test_whoever_joined_in_this_life_is_recounted_back_to_the_join() -> None:
    play = Play()
    scope = play.channel()
    for _ in range(5):
        play.tell(play.facts.post(play.ann, scope))
    play.run()
    play.tell(play.facts.read_to(play.ben, scope, 2))
    assert play.count(play.ben, scope) == ("ready", 3)


def test_what_the_log_has_evicted_cannot_be_recounted() -> None:
    play = Play(scope_log_size=2)
    scope = play.channel()
    for _ in range(5):
        play.tell(play.facts.post(play.ann, scope))
    play.run()
    play.tell(play.facts.read_to(play.ben, scope, 2))
    assert play.count(play.ben, scope) == ("snapshot_serving", 3)
    play.tell(play.facts.read_to(play.ben, scope, 4))
    assert play.count(play.ben, scope) == ("ready", 1)


def test_evicting_what_counts_for_nobody_costs_nothing() -> None:
    play = Play(scope_log_size=3)
    scope = play.channel()
    play.tell(play.facts.post(play.ann, scope))
    play.run()
    for _ in range(5):
        play.tell(play.facts.post(play.ann, scope, hidden=True))
    for _ in range(2):
        play.tell(play.facts.post(play.ann, scope))
    play.tell(play.facts.read_to(play.ben, scope, 7))
    assert play.count(play.ben, scope) == ("ready", 1)


def test_a_recount_leaves_out_what_the_member_wrote_and_counts_his_mentions() -> None:
    play = Play()
    scope = play.channel()
    play.tell(play.facts.post(play.ann, scope, (play.ben,)))
    play.run()
    play.tell(
        play.facts.post(play.ben, scope),
        play.facts.post(play.ann, scope),
        play.facts.post(play.cat, scope, (play.ben,)),
        play.facts.post(play.cat, scope, on_behalf_of=play.ben),
    )
    play.tell(play.facts.read_to(play.ben, scope, 3))
    shown = play.shows(play.ben, scope)
    assert (shown.state.label, shown.messages, shown.mentions) == ("ready", 1, 1)


def test_levels_need_no_recount() -> None:
    play = Play(scope_log_size=1)
    scope = play.channel()
    for _ in range(4):
        play.tell(play.facts.post(play.ann, scope, (play.ben,)))
    play.run()
    for level in ("none", "mentions", "all"):
        play.tell(play.facts.set_level(play.ben, scope, level))
    assert play.count(play.ben, scope) == ("ready", 4)


def test_joins_during_the_same_life_of_a_warm_scope_are_ready_after_any_read() -> None:
    play = Play()
    scope = play.warm_channel(play.ann, play.cat)
    play.tell(play.facts.join(play.ben, scope))
    for _ in range(3):
        play.tell(play.facts.post(play.ann, scope))
    play.tell(play.facts.read_to(play.ben, scope, 3))
    assert play.count(play.ben, scope) == ("ready", 1)
