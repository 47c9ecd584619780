"""The rules of counting, one a test, on the runtime and on the baseline that benchmarks compare it with.

At the end: random facts, delivered in any order and more than once, leave both of them equal to the oracle.
"""

from __future__ import annotations

import os
import random
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, given, settings

from . import oracle
from .boards import BOARDS, Board
from .facts import Batch, Facts
from .moves import FACTS
from .oracle import NOTHING, Truth
from .player import Player
from .runtimes import Config

pytestmark = pytest.mark.slow

EXAMPLES = int(os.environ.get("LOOPD_CONVERGENCE_EXAMPLES", "150")) // 3 + 1


class Told:
    """A board whose facts are told as they are committed: `told.post(ann, channel)`."""

    def __init__(self, board: Board) -> None:
        self.board = board
        self.ann, self.ben, self.cat = board.facts.members
        self.channel, events = board.facts.create_channel(board.facts.members)
        board.tell(events)

    def __getattr__(self, action: str) -> Any:
        def act(*arguments: Any, **options: Any) -> Batch:
            events: Batch = getattr(self.board.facts, action)(*arguments, **options)
            self.board.tell(events)
            return events

        return act

    def shows(self, member: int, scope: int | None = None) -> Truth:
        where = scope or self.channel
        shown = self.board.shows(member, where)
        assert shown == oracle.truth(self.board.facts.tables, member, where)
        assert self.board.has_unread(member) == oracle.has_unread(self.board.facts.tables, member)
        return shown


@pytest.fixture(params=list(BOARDS))
def told(request: pytest.FixtureRequest) -> Told:
    return Told(BOARDS[request.param](Config(join_moves_cursor=False)))


def test_a_message_counts_for_everybody_but_its_author(told: Told) -> None:
    told.post(told.ann, told.channel)
    assert told.shows(told.ann) == NOTHING
    assert told.shows(told.ben) == told.shows(told.cat) == Truth(messages=1)


def test_a_mention_is_counted_apart(told: Told) -> None:
    told.post(told.ann, told.channel, (told.ben,))
    assert told.shows(told.ben) == Truth(messages=1, mentions=1)
    assert told.shows(told.cat) == Truth(messages=1)


def test_neither_hidden_nor_imported_messages_count(told: Told) -> None:
    told.post(told.ann, told.channel, hidden=True)
    told.post(told.ann, told.channel, silent=True)
    assert told.shows(told.ben) == NOTHING


def test_who_is_spoken_for_is_not_told(told: Told) -> None:
    told.post(told.ann, told.channel, on_behalf_of=told.ben)
    assert told.shows(told.ben) == NOTHING
    assert told.shows(told.cat) == Truth(messages=1)


def test_reading_to_the_end_and_half_way(told: Told) -> None:
    for _ in range(3):
        told.post(told.ann, told.channel)
    told.read_to(told.ben, told.channel, 2)
    told.read_all(told.cat, (told.channel,))
    assert told.shows(told.ben) == Truth(messages=1)
    assert told.shows(told.cat) == NOTHING


def test_sending_is_reading(told: Told) -> None:
    told.post(told.ann, told.channel)
    told.post(told.ben, told.channel)
    assert told.shows(told.ben) == NOTHING
    assert told.shows(told.ann) == Truth(messages=1)


def test_an_older_cursor_changes_nothing(told: Told) -> None:
    for _ in range(2):
        told.post(told.ann, told.channel)
    half = told.read_to(told.ben, told.channel, 1)
    told.read_to(told.ben, told.channel, 2)
    told.board.tell(half)
    assert told.shows(told.ben) == NOTHING


def test_the_same_message_told_again_counts_once(told: Told) -> None:
    events = told.post(told.ann, told.channel)
    told.board.tell(events)
    told.replay_post(told.channel, 1)
    assert told.shows(told.ben) == Truth(messages=1)


def test_messages_told_the_wrong_way_round(told: Told) -> None:
    batches = [told.board.facts.post(told.ann, told.channel) for _ in range(3)]
    for events in reversed(batches):
        told.board.tell(events)
    assert told.shows(told.ben) == Truth(messages=3)


def test_a_deleted_message_counts_no_more(told: Told) -> None:
    told.post(told.ann, told.channel, (told.ben,))
    told.post(told.ann, told.channel)
    told.delete(told.channel, 1)
    assert told.shows(told.ben) == Truth(messages=1)


def test_a_removal_told_before_its_message(told: Told) -> None:
    facts = told.board.facts
    posted = facts.post(told.ann, told.channel)
    removed = facts.delete(told.channel, 1)
    told.board.tell(removed)
    told.board.tell(posted)
    assert told.shows(told.ben) == NOTHING


def test_a_rewind_takes_everything_after_it_away(told: Told) -> None:
    for _ in range(4):
        told.post(told.ann, told.channel)
    told.read_to(told.cat, told.channel, 3)
    told.rewind(told.channel, 1)
    assert told.shows(told.ben) == Truth(messages=1)
    assert told.shows(told.cat) == NOTHING


def test_a_message_hidden_and_shown_again(told: Told) -> None:
    told.post(told.ann, told.channel)
    hidden = told.set_message_visibility(told.channel, 1, False)
    assert told.shows(told.ben) == NOTHING
    told.set_message_visibility(told.channel, 1, True)
    told.board.tell(hidden)
    assert told.shows(told.ben) == Truth(messages=1)


def test_an_edit_adds_and_removes_mentions_of_unread_messages(told: Told) -> None:
    for _ in range(2):
        told.post(told.ann, told.channel)
    told.read_to(told.cat, told.channel, 1)
    told.edit_mentions(told.channel, 1, (told.ben, told.cat))
    assert told.shows(told.ben) == Truth(messages=2, mentions=1)
    assert told.shows(told.cat) == Truth(messages=1)
    told.edit_mentions(told.channel, 1, ())
    assert told.shows(told.ben) == Truth(messages=2)


def test_activities_count_by_their_own_cursor(told: Told) -> None:
    told.add_activity(told.ann, told.channel, True)
    told.add_activity(told.ann, told.channel, False)
    assert told.shows(told.ann) == NOTHING
    assert told.shows(told.ben) == Truth(activities=1)
    told.read_all(told.ben, (told.channel,))
    assert told.shows(told.ben) == NOTHING


def test_a_read_told_before_what_it_has_read(told: Told) -> None:
    facts = told.board.facts
    late = [facts.post(told.ann, told.channel), facts.add_activity(told.ann, told.channel, True)]
    told.read_all(told.ben, (told.channel,))
    for events in late:
        told.board.tell(events)
    assert told.shows(told.ben) == NOTHING
    assert told.shows(told.cat) == Truth(messages=1, activities=1)


def test_leaving_hides_and_rejoining_begins_at_zero(told: Told) -> None:
    told.post(told.ann, told.channel)
    told.leave(told.ben, told.channel)
    assert told.shows(told.ben) == NOTHING
    told.post(told.ann, told.channel)
    told.join(told.ben, told.channel)
    assert told.shows(told.ben) == NOTHING
    told.post(told.ann, told.channel)
    assert told.shows(told.ben) == Truth(messages=1)


def test_a_message_told_before_the_join_that_it_counts_for(told: Told) -> None:
    facts = told.board.facts
    told.leave(told.ben, told.channel)
    joined = facts.join(told.ben, told.channel)
    posted = facts.post(told.ann, told.channel, (told.ben,))
    told.board.tell(posted)
    told.board.tell(joined)
    assert told.shows(told.ben) == Truth(messages=1, mentions=1)


def test_a_message_from_before_a_join_told_after_it(told: Told) -> None:
    facts = told.board.facts
    told.leave(told.ben, told.channel)
    posted = facts.post(told.ann, told.channel)
    told.join(told.ben, told.channel)
    told.board.tell(posted)
    assert told.shows(told.ben) == NOTHING


def test_nobody_is_mentioned_by_himself(told: Told) -> None:
    told.post(told.ann, told.channel, (told.ann,))
    told.post(told.ann, told.channel)
    told.edit_mentions(told.channel, 2, (told.ann, told.ben))
    assert told.shows(told.ben) == Truth(messages=2, mentions=1)
    told.mark_unread_from(told.ann, told.channel, 1)
    told.edit_mentions(told.channel, 1, ())
    told.edit_mentions(told.channel, 1, (told.ann,))
    assert told.shows(told.ann) == Truth(manual=True)


def test_levels_decide_what_shows_and_not_what_counts(told: Told) -> None:
    told.post(told.ann, told.channel, (told.ben,))
    told.post(told.ann, told.channel)
    told.add_activity(told.ann, told.channel, True)
    told.set_level(told.ben, told.channel, "mentions")
    assert told.shows(told.ben) == Truth(messages=1, mentions=1)
    told.set_level(told.ben, told.channel, "none")
    assert told.shows(told.ben) == NOTHING
    told.set_level(told.ben, told.channel, "all")
    assert told.shows(told.ben) == Truth(messages=2, mentions=1, activities=1)


def test_a_marker_shows_at_every_level_until_it_is_read(told: Told) -> None:
    told.set_level(told.ben, told.channel, "none")
    told.mark_unread(told.ben, told.channel)
    assert told.shows(told.ben) == Truth(manual=True)
    told.post(told.ann, told.channel)
    told.read_all(told.ben, (told.channel,))
    assert told.shows(told.ben) == NOTHING


def test_marking_unread_from_a_message_counts_from_there(told: Told) -> None:
    for _ in range(3):
        told.post(told.ann, told.channel)
    told.read_all(told.ben, (told.channel,))
    told.mark_unread_from(told.ben, told.channel, 2)
    assert told.shows(told.ben) == Truth(messages=2, manual=True)
    told.clear_unread(told.ben, told.channel)
    assert told.shows(told.ben) == Truth(messages=2)


def test_archived_scopes_show_nothing_until_they_are_restored(told: Told) -> None:
    told.post(told.ann, told.channel)
    told.archive(told.channel)
    assert told.shows(told.ben) == NOTHING
    told.restore(told.channel)
    assert told.shows(told.ben) == Truth(messages=1)


def test_threads_count_apart_and_are_silent_with_their_parent(told: Told) -> None:
    told.post(told.ann, told.channel)
    told.read_all(told.ben, (told.channel,))
    thread, events = told.board.facts.create_thread(told.ben, told.channel, 1)
    told.board.tell(events)
    told.post(told.ann, thread)
    assert told.shows(told.ben, thread) == Truth(messages=1)
    assert told.shows(told.cat, thread) == told.shows(told.ben) == NOTHING
    told.archive(told.channel)
    assert told.shows(told.ben, thread) == NOTHING
    told.restore(told.channel)
    told.leave(told.ben, told.channel)
    assert told.shows(told.ben, thread) == NOTHING


def test_a_restart_changes_nothing_and_counting_goes_on(told: Told) -> None:
    told.post(told.ann, told.channel, (told.ben,))
    told.add_activity(told.ann, told.channel, True)
    told.mark_unread(told.cat, told.channel)
    told.board.restart()
    assert told.shows(told.ben) == Truth(messages=1, mentions=1, activities=1)
    assert told.shows(told.cat) == Truth(messages=1, activities=1, manual=True)
    told.post(told.ann, told.channel)
    assert told.shows(told.ben) == Truth(messages=2, mentions=1, activities=1)


def test_changes_of_messages_from_before_a_restart(told: Told) -> None:
    for _ in range(3):
        told.post(told.ann, told.channel, (told.cat,))
    told.read_to(told.cat, told.channel, 1)
    told.delete(told.channel, 2)
    told.board.restart()
    changes = [*told.delete(told.channel, 3), *told.edit_mentions(told.channel, 1, (told.ben,))]
    told.board.tell(tuple(changes))
    assert told.shows(told.ben) == Truth(messages=1, mentions=1)
    assert told.shows(told.cat) == NOTHING


def test_reading_everything_after_a_restart_is_exact(told: Told) -> None:
    told.post(told.ann, told.channel)
    told.post(told.ann, told.channel)
    told.board.restart()
    told.read_all(told.ben, (told.channel,))
    told.post(told.ann, told.channel)
    assert told.shows(told.ben) == Truth(messages=1)
    assert told.board.is_ready(told.ben, told.channel)
    assert not told.board.is_ready(told.cat, told.channel)


def test_reading_half_of_it_after_a_restart_leaves_a_bound(told: Told) -> None:
    for _ in range(4):
        told.post(told.ann, told.channel)
    told.delete(told.channel, 4)
    told.board.restart()
    told.read_to(told.ben, told.channel, 2)
    assert told.board.shows(told.ben, told.channel) == Truth(messages=2)
    assert not told.board.is_ready(told.ben, told.channel)


class Recorder(Player):
    """Plays facts alone and keeps what each committed."""

    def __post_init__(self) -> None:
        self.stage = self  # type: ignore[assignment]

    def begin(self, facts: Facts) -> list[Batch]:
        self.facts, self.commits = facts, []
        for members in (facts.members, facts.members[:2]):
            self.commit(facts.create_channel(members)[1])
        return self.commits

    def commit(self, events: Batch) -> None:
        self.commits.append(events)


MOVES = st.sampled_from([name for name, kind in FACTS.items() for _ in range(kind.weight)]).flatmap(
    lambda name: st.tuples(st.just(name), *(st.integers(0, bound - 1) for bound in FACTS[name].bounds))
)


@pytest.mark.parametrize("board", list(BOARDS))
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck), database=None)
@given(
    moves=st.lists(MOVES, max_size=40),
    seed=st.integers(0, 2**32),
    disorder=st.sampled_from([0, 3, 1000]),
    join_moves_cursor=st.booleans(),
)
def test_facts_told_in_any_order_and_again_equal_the_oracle(
    board: str, moves: Any, seed: int, disorder: int, join_moves_cursor: bool
) -> None:
    config = Config(join_moves_cursor=join_moves_cursor)
    made, recorder = BOARDS[board](config), Recorder(config)
    commits = recorder.begin(made.facts)
    _play(recorder, moves)
    _tell(made, commits, random.Random(seed), disorder)
    tables = made.facts.tables
    for member in made.facts.members:
        for scope in tables.scopes:
            assert made.shows(member, scope) == oracle.truth(tables, member, scope)
        assert made.has_unread(member) == oracle.has_unread(tables, member)


@pytest.mark.parametrize("board", list(BOARDS))
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck), database=None)
@given(
    before=st.lists(MOVES, max_size=25),
    after=st.lists(MOVES, max_size=25),
    seed=st.integers(0, 2**32),
    disorder=st.sampled_from([0, 3, 1000]),
)
def test_after_a_restart_ready_is_exact_and_nothing_is_below_the_oracle(
    board: str, before: Any, after: Any, seed: int, disorder: int
) -> None:
    made, recorder, rng = BOARDS[board](Config()), Recorder(Config()), random.Random(seed)
    commits = recorder.begin(made.facts)
    _play(recorder, before)
    _tell(made, commits, rng, disorder)
    made.restart()
    told = len(commits)
    _play(recorder, after)
    _tell(made, commits[told:], rng, disorder)
    tables = made.facts.tables
    for member in made.facts.members:
        for scope in tables.scopes:
            shown, truth = made.shows(member, scope), oracle.truth(tables, member, scope)
            if made.is_ready(member, scope):
                assert shown == truth
            assert shown.manual == truth.manual
            assert shown.messages >= truth.messages
            assert shown.mentions >= truth.mentions
            assert shown.activities >= truth.activities


def _play(recorder: Recorder, moves: Any) -> None:
    for name, *arguments in moves:
        getattr(recorder, name)(*arguments)


def _tell(made: Board, commits: list[Batch], rng: random.Random, disorder: int) -> None:
    told = [*enumerate(commits), *rng.choices(list(enumerate(commits)), k=len(commits) // 4)]
    for _, events in sorted(told, key=lambda each: each[0] + rng.uniform(0, disorder)):
        made.tell(events)
