"""Free evidence: it lowers and hides what a crash left behind, and never raises, promotes or overtakes an event."""

from __future__ import annotations

from .cast import Play
from .fact_stores import evidence_of
from .facts import WORKSPACE


def crashed(play: Play, messages: int = 4) -> int:
    """A channel whose rows say that Ben has unread messages; then a crash."""
    scope = play.channel()
    play.tell(*(play.facts.post(play.ann, scope) for _ in range(messages)))
    play.run()
    play.runtime.flush()
    return scope


def bootstrap(play: Play, member: int, *, complete: bool = True) -> None:
    noted = play.runtime.member_version(WORKSPACE, member)
    play.runtime.observe(WORKSPACE, member, noted, evidence_of(play.facts.tables, member), complete)


def test_what_was_read_before_the_crash_does_not_come_back() -> None:
    play = Play()
    scope = crashed(play)
    play.tell(play.facts.read_all(play.ben, (scope,)))
    play.crash()
    play.look(play.ben)
    assert play.count(play.ben, scope) == ("snapshot_serving", 4)
    bootstrap(play, play.ben)
    assert play.count(play.ben, scope) == ("snapshot_serving", 0)
    assert not play.dot(play.ben)


def test_a_partial_read_before_the_crash_bounds_a_hint() -> None:
    play = Play()
    scope = crashed(play)
    play.tell(play.facts.read_to(play.ben, scope, 3))
    play.crash()
    play.look(play.ben)
    bootstrap(play, play.ben)
    assert play.count(play.ben, scope) == ("snapshot_serving", 1)


def test_a_scope_that_the_member_has_lost_is_hidden_by_a_complete_list_only() -> None:
    play = Play()
    scope = crashed(play)
    play.tell(play.facts.leave(play.ben, scope))
    play.crash()
    play.look(play.ben)
    bootstrap(play, play.ben, complete=False)
    assert play.dot(play.ben)
    bootstrap(play, play.ben)
    assert not play.dot(play.ben)
    assert play.state(play.ben, scope).label == "unavailable"


def test_a_newer_membership_shows_what_evidence_had_hidden() -> None:
    play = Play()
    scope = crashed(play)
    play.tell(play.facts.leave(play.ben, scope))
    play.crash()
    play.look(play.ben)
    bootstrap(play, play.ben)
    play.tell(play.facts.join(play.ben, scope), play.facts.post(play.ann, scope))
    play.run()
    assert play.count(play.ben, scope) == ("ready", 1)


def test_an_entry_that_changed_since_the_version_was_noted_is_left_alone() -> None:
    play = Play()
    scope = play.warm_channel()
    noted = play.runtime.member_version(WORKSPACE, play.ben)
    evidence = evidence_of(play.facts.tables, play.ben)
    play.tell(play.facts.post(play.ann, scope))
    play.runtime.observe(WORKSPACE, play.ben, noted, evidence, True)
    assert play.count(play.ben, scope) == ("ready", 1)


def test_evidence_never_raises_a_count() -> None:
    play = Play()
    scope = play.warm_channel()
    play.facts.post(play.ann, scope)
    bootstrap(play, play.ben)
    assert play.count(play.ben, scope) == ("ready", 0)


def test_evidence_makes_nothing_dirty() -> None:
    play = Play()
    scope = crashed(play)
    play.tell(play.facts.read_all(play.ben, (scope,)))
    play.crash()
    play.look(play.ben)
    bootstrap(play, play.ben)
    assert play.runtime.stats().dirty_entries == 0


def test_rows_that_a_warm_job_reads_are_evidence_too() -> None:
    play = Play()
    scope = crashed(play)
    play.tell(play.facts.read_to(play.ben, scope, 3), play.facts.leave(play.cat, scope))
    play.crash()
    play.tell(play.facts.post(play.ann, scope))
    play.run()
    assert play.count(play.ben, scope) == ("snapshot_serving", 2)
    assert play.state(play.cat, scope).label == "unavailable"


def test_sockets_are_told_what_evidence_took_away() -> None:
    play = Play()
    scope = crashed(play)
    play.tell(play.facts.read_all(play.ben, (scope,)))
    play.crash()
    play.look(play.ben)
    play.runtime.watch(WORKSPACE, play.ben)
    play.runtime.snapshot(WORKSPACE, play.ben)
    bootstrap(play, play.ben)
    assert play.sink.told == [(WORKSPACE, (play.ben,))]
    delta = play.runtime.take_delta(WORKSPACE, play.ben)
    assert delta is not None
    assert not delta.unread.has_unread
    assert not delta.unread.counts[scope].lit
