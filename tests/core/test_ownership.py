"""Only the owner serves: others show nothing, and a new epoch starts from nothing."""

from __future__ import annotations

from .cast import Play
from .facts import WORKSPACE


def test_without_the_workspace_everything_is_unavailable_and_events_are_ignored() -> None:
    play = Play()
    scope = play.warm_channel()
    play.tell(play.facts.post(play.ann, scope))
    play.runtime.disown(WORKSPACE)
    assert not play.runtime.owns(WORKSPACE)
    assert not play.dot(play.ben)
    assert play.view(play.ben).state == "unavailable"
    assert play.runtime.snapshot(WORKSPACE, play.ben).state == "unavailable"
    assert play.runtime.shown(WORKSPACE, play.ben, scope) is None
    play.tell(play.facts.post(play.ann, scope))
    assert play.metrics.counts["unowned_events"] == 2
    assert not play.runtime.overloaded(WORKSPACE)


def test_the_same_epoch_again_changes_nothing() -> None:
    play = Play()
    scope = play.warm_channel()
    play.tell(play.facts.post(play.ann, scope))
    play.runtime.own(WORKSPACE, play.epoch)
    assert play.count(play.ben, scope) == ("ready", 1)


def test_a_new_epoch_starts_from_nothing_because_others_may_have_written_in_between() -> None:
    play = Play()
    scope = play.warm_channel()
    play.runtime.flush()
    play.runtime.own(WORKSPACE, play.epoch + 1)
    assert play.runtime.shown(WORKSPACE, play.ben, scope) is None
    play.look(play.ben)
    assert play.view(play.ben).epoch == play.epoch + 1


def test_a_job_that_ends_after_the_workspace_went_changes_nothing() -> None:
    play = Play()
    scope = play.channel()
    play.tell(play.facts.post(play.ann, scope))

    def meanwhile(point: str) -> None:
        play.runtime.disown(WORKSPACE)

    play.rosters.between = meanwhile
    play.run()
    assert play.runtime.stats().entries == 0
    assert play.metrics.counts["job_failures"] == 0


def test_a_flush_that_ends_after_the_workspace_went_changes_nothing() -> None:
    play = Play()
    play.warm_channel()
    play.snapshots.between = lambda point: play.runtime.disown(WORKSPACE)
    play.runtime.flush()
    stats = play.runtime.stats()
    assert (stats.entries, stats.dirty_entries, stats.flying_entries) == (0, 0, 0)


def test_what_a_workspace_held_counts_for_the_process_no_more_when_it_goes() -> None:
    play = Play(event_queue_size=1, max_dirty_entries=1)
    scope = play.channel()
    play.tell(play.facts.post(play.ann, scope))
    assert play.runtime.overloaded(WORKSPACE)
    play.runtime.own(WORKSPACE, play.epoch + 1)
    assert not play.runtime.overloaded(WORKSPACE)
    play.tell(play.facts.post(play.ann, scope))
    assert play.metrics.counts["dropped_events"] == 0


def test_queued_jobs_go_with_their_workspace() -> None:
    play = Play()
    play.runtime.request_hydrate(WORKSPACE, play.ben)
    play.runtime.disown(WORKSPACE)
    assert not play.runtime.has_jobs()
