"""Watched members: who is told, what a delta holds, and how snapshots and deltas fit together."""

from __future__ import annotations

from typing import Any

from .cast import Play
from .facts import WORKSPACE


def watching(play: Play, *members: int) -> None:
    for member in members:
        play.runtime.watch(WORKSPACE, member)
        play.runtime.snapshot(WORKSPACE, member)
    play.sink.told.clear()


def delta(play: Play, member: int) -> Any:
    found = play.runtime.take_delta(WORKSPACE, member)
    assert found is not None, "nothing to tell"
    return found


def test_only_watched_members_whose_view_changed_are_told_and_outside_the_lock() -> None:
    play = Play()
    scope = play.warm_channel()
    watching(play, play.ann, play.ben)
    changed = play.sink.changed

    def look(workspace: int, members: Any) -> None:
        play.view(play.ben)
        changed(workspace, members)

    play.sink.changed = look  # type: ignore[method-assign]
    play.tell(play.facts.post(play.ann, scope)[:1])
    assert play.sink.told == [(WORKSPACE, (play.ben,))]


def test_a_delta_follows_what_was_taken_before() -> None:
    play = Play()
    scope = play.warm_channel()
    play.runtime.watch(WORKSPACE, play.ben)
    version = play.runtime.snapshot(WORKSPACE, play.ben).version
    play.tell(play.facts.post(play.ann, scope))
    first = delta(play, play.ben)
    play.tell(play.facts.post(play.ann, scope))
    second = delta(play, play.ben)
    assert (first.since, second.since) == (version, first.unread.version)
    assert second.unread.epoch == play.epoch


def test_changes_between_two_takes_are_one_latest_state() -> None:
    play = Play()
    scope = play.warm_channel()
    watching(play, play.ben)
    for _ in range(4):
        play.tell(play.facts.post(play.ann, scope))
    assert delta(play, play.ben).unread.counts[scope].messages == 4
    assert play.runtime.take_delta(WORKSPACE, play.ben) is None


def test_what_fell_to_zero_is_told() -> None:
    play = Play()
    scope = play.warm_channel()
    play.tell(play.facts.post(play.ann, scope))
    watching(play, play.ben)
    play.tell(play.facts.read_all(play.ben, (scope,)))
    told = delta(play, play.ben).unread
    assert not told.counts[scope].lit
    assert not told.has_unread


def test_a_muted_scope_tells_nobody() -> None:
    play = Play()
    scope = play.warm_channel()
    play.tell(play.facts.set_level(play.ben, scope, "none"), play.facts.set_level(play.cat, scope, "mentions"))
    watching(play, play.ben, play.cat)
    play.tell(play.facts.post(play.ann, scope, (play.cat,))[:1])
    assert play.sink.told == [(WORKSPACE, (play.cat,))]


def test_a_snapshot_takes_the_pending_changes_with_it() -> None:
    play = Play()
    scope = play.warm_channel()
    watching(play, play.ben)
    play.tell(play.facts.post(play.ann, scope))
    view = play.runtime.snapshot(WORKSPACE, play.ben)
    assert view.counts[scope].messages == 1
    assert play.runtime.take_delta(WORKSPACE, play.ben) is None
    play.tell(play.facts.post(play.ann, scope))
    assert delta(play, play.ben).since == view.version


def test_when_the_pages_are_in_the_sockets_get_everything() -> None:
    play = Play()
    scope = play.warm_channel()
    play.tell(play.facts.post(play.ann, scope))
    play.restart()
    play.runtime.watch(WORKSPACE, play.ben)
    assert play.runtime.snapshot(WORKSPACE, play.ben).state == "hydrating"
    assert play.runtime.take_delta(WORKSPACE, play.ben) is None
    play.look(play.ben)
    assert (WORKSPACE, (play.ben,)) in play.sink.told
    assert delta(play, play.ben).unread.counts[scope].messages == 1


def test_a_member_without_any_entry_learns_that_the_pages_are_in() -> None:
    play = Play()
    play.runtime.watch(WORKSPACE, play.ben)
    play.runtime.snapshot(WORKSPACE, play.ben)
    play.look(play.ben)
    told = delta(play, play.ben).unread
    assert (told.state, told.counts) == ("ready", {})


def test_a_delta_is_bounded_and_the_rest_follows() -> None:
    play = Play(max_delta_entries=2)
    scopes = tuple(play.warm_channel() for _ in range(5))
    watching(play, play.ben)
    for scope in scopes:
        play.tell(play.facts.post(play.ann, scope))
    play.sink.told.clear()
    found: dict[int, Any] = {}
    deltas = []
    while (each := play.runtime.take_delta(WORKSPACE, play.ben)) is not None:
        deltas.append(each)
        found.update(each.unread.counts)
    assert set(found) == set(scopes)
    assert [len(each.unread.counts) for each in deltas] == [2, 2, 1]
    assert [each.since for each in deltas[1:]] == [each.unread.version for each in deltas[:-1]]
    assert len(play.sink.told) == 2  # each time that more was left


def test_archiving_a_scope_tells_its_watchers() -> None:
    play = Play()
    scope = play.warm_channel()
    play.tell(play.facts.post(play.ann, scope))
    watching(play, play.ben)
    play.tell(play.facts.archive(scope))
    assert delta(play, play.ben).unread.counts[scope].state.label == "unavailable"


def test_sockets_are_counted() -> None:
    play = Play()
    scope = play.warm_channel()
    watching(play, play.ben)
    play.runtime.watch(WORKSPACE, play.ben)
    play.runtime.unwatch(WORKSPACE, play.ben)
    play.tell(play.facts.post(play.ann, scope))
    assert play.sink.told
    play.runtime.unwatch(WORKSPACE, play.ben)
    play.sink.told.clear()
    play.tell(play.facts.post(play.ann, scope))
    assert play.sink.told == []
    play.runtime.unwatch(WORKSPACE, play.ben)
    assert play.runtime.stats().watched_members == 0


def test_an_entry_made_while_a_socket_is_open_is_watched_too() -> None:
    play = Play()
    play.warm_channel()
    watching(play, play.ben)
    scope = play.warm_channel()
    play.sink.told.clear()
    play.tell(play.facts.post(play.ann, scope))
    assert (WORKSPACE, (play.ben,)) in play.sink.told


def test_a_sink_that_fails_disturbs_nobody() -> None:
    play = Play()
    scope = play.warm_channel()
    watching(play, play.ben)

    def fail(workspace: int, members: Any) -> None:
        raise OSError("the hub is gone")

    play.sink.changed = fail  # type: ignore[method-assign]
    play.tell(play.facts.post(play.ann, scope))
    assert play.metrics.counts["sink_errors"] == 1
    assert play.count(play.ben, scope) == ("ready", 1)


def test_versions_go_on_rising_when_their_column_is_full() -> None:
    play = Play()
    scope = play.warm_channel()
    watching(play, play.ben)
    before = play.runtime.member_version(WORKSPACE, play.ben)
    workspace = next(iter(play.runtime._owned.values()))
    workspace.tick = 2**32 - 2
    for _ in range(3):
        play.tell(play.facts.post(play.ann, scope))
    assert play.runtime.member_version(WORKSPACE, play.ben) > before + 2**31
    assert delta(play, play.ben).unread.counts[scope].messages == 3
    play.tell(play.facts.post(play.ann, scope))
    assert delta(play, play.ben).unread.counts[scope].messages == 4
