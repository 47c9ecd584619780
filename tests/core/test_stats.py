"""Numbers about the runtime, gathered by looks."""

from __future__ import annotations

from .cast import Play


def test_the_age_of_hints_runs_from_the_first_look_that_found_them_until_none_is_left() -> None:
    play = Play()
    scope = play.warm_channel(play.ann, play.cat)
    play.tell(play.facts.post(play.ann, scope))
    play.restart()
    play.look(play.cat)
    assert play.count(play.cat, scope)[0] == "snapshot_serving"
    assert play.runtime.stats().snapshot_serving_age_s == 0.0
    play.clock.advance(90.0)
    assert play.runtime.stats().snapshot_serving_age_s == 90.0
    play.tell(play.facts.read_all(play.cat, (scope,)))
    assert play.runtime.stats().snapshot_serving_age_s == 0.0
