"""Logs, streams, resting scopes and the queue of jobs, each by itself."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unread.core.budgets import Budgets
from unread.core.jobs import Job, JobKind, JobQueue
from unread.core.live import LiveScope
from unread.core.log import NOTHING, Fact, FactLog
from unread.core.resting import pack, unpack
from unread.core.stream import Stream

FACT = st.builds(
    Fact, st.integers(0, 3), st.integers(0, 3), st.booleans(), st.lists(st.integers(0, 3), unique=True).map(tuple)
)


@pytest.mark.slow
@settings(deadline=None, max_examples=25)
@given(st.integers(1, 6), st.lists(st.tuples(st.integers(1, 12), FACT), max_size=30))
def test_a_log_counts_what_it_holds_and_knows_up_to_where_it_does_not(
    capacity: int, puts: list[tuple[int, Fact]]
) -> None:
    log, everything = FactLog(capacity), dict[int, Fact]()
    for seq, fact in puts:
        log.put(seq, fact, 0)
        everything[seq] = fact
    assert len(log) <= capacity
    for member in range(4):
        for after in range(log.floor, 13):
            held = {seq: fact for seq, fact in everything.items() if seq > after and log.get(seq) is not None}
            counting = [fact for fact in held.values() if fact.counts_for(member)]
            assert log.count(member, after) == (len(counting), sum(member in fact.mentions for fact in counting))
            evicted = [seq for seq, fact in everything.items() if seq > after and log.get(seq) is None and fact.counts]
            assert not evicted, "the floor says that all of it is here"


def test_over_its_bound_a_log_lets_the_lowest_seq_go() -> None:
    log, fact = FactLog(2), Fact(1, 1, True)
    for seq in (5, 3, 4):
        log.put(seq, fact, 0)
    assert log.get(3) is None
    assert log.floor == 3


def test_what_a_message_was_changed_into_is_forgotten_when_it_is_accounted() -> None:
    log = FactLog(2)
    log.keep_change(7, NOTHING, 3)
    assert log.get(7) == (NOTHING, 3)
    log.put(7, NOTHING, 3)
    assert log.count(1, 0) == (0, 0)
    assert len(log) == 1


@pytest.mark.slow
@settings(max_examples=30)
@given(st.integers(0, 5), st.permutations(range(1, 11)))
def test_a_stream_that_has_got_everything_has_its_frontier_at_the_end(start: int, order: list[int]) -> None:
    stream = Stream(10)
    stream.begin(start)
    for seq in order:
        assert not stream.accounted(seq)
        stream.accept(seq)
        assert stream.accounted(seq)
    assert stream.frontier == 10
    assert not stream.early
    assert not stream.open_gap


def test_a_lost_seq_lets_the_frontier_pass_and_may_still_come() -> None:
    stream = Stream(10)
    stream.begin(0)
    stream.accept(2)
    stream.lose(1, keep=5)
    assert (stream.frontier, stream.accounted(1), stream.log.floor) == (2, False, 1)
    stream.accept(1)
    assert stream.accounted(1)


@pytest.mark.slow
@settings(deadline=None, max_examples=25)
@given(
    st.lists(st.tuples(st.integers(1, 20), FACT), max_size=12),
    st.lists(st.tuples(st.integers(21, 30), FACT), max_size=3),
    st.sets(st.integers(1, 5), max_size=3),
    st.integers(0, 9),
)
def test_a_scope_at_rest_wakes_up_as_it_was(
    accounted: list[tuple[int, Fact]], changed: list[tuple[int, Fact]], late: set[int], activities: int
) -> None:
    live = LiveScope(7, 8)
    live.complete = True
    live.roster.completed(4)
    live.messages.begin(5)
    live.activities.begin(0)
    live.rewinds.begin(2)
    live.rewinds.accept(1)
    log = live.messages.own_log()
    log.start_generation = log.applied_generation = 2
    for seq in late:
        live.messages.accept(seq)
    for seq in range(6, 21):
        live.messages.accept(seq)
    for seq, fact in accounted:
        log.put(seq, fact, seq % 4)
    for seq, fact in changed:
        log.keep_change(seq, fact, 3)
    for seq in range(1, activities + 1):
        live.activities.accept(seq)
        live.activities.own_log().put(seq, Fact(1, 1, True), 0)
    packed = pack(live)
    assert packed is not None
    woken = unpack(7, packed, 8)
    assert pack(woken) == packed
    for seq in range(31):
        assert woken.messages.log.get(seq) == log.get(seq)
        assert woken.messages.accounted(seq) == live.messages.accounted(seq)
        assert woken.activities.log.get(seq) == live.activities.log.get(seq)
    for member in range(4):
        assert woken.messages.log.count(member, 5) == log.count(member, 5)


def test_a_scope_that_misses_something_is_not_put_to_rest() -> None:
    live = LiveScope(7, 8)
    live.complete = True
    live.messages.begin(5)
    live.activities.begin(0)
    live.rewinds.begin(0)
    live.roster.completed(1)
    assert pack(live) is not None
    live.messages.accept(7)
    assert pack(live) is None


def test_a_job_is_queued_once_and_again_while_it_runs() -> None:
    queue, job = JobQueue(Budgets()), Job(1, JobKind.WARM, 5)
    assert queue.put(job, 0.0)
    assert queue.put(job, 0.0)
    assert queue.take() == job
    assert queue.take() is None
    assert queue.put(job, 0.0)
    queue.done(job)
    assert queue.take() == job


def test_one_workspace_cannot_take_the_whole_queue() -> None:
    queue = JobQueue(Budgets(workspace_hydrate_queue_size=2, hydrate_queue_size=3))
    assert queue.put(Job(1, JobKind.WARM, 1), 0.0)
    assert queue.put(Job(1, JobKind.WARM, 2), 0.0)
    assert not queue.put(Job(1, JobKind.WARM, 3), 0.0)
    assert queue.put(Job(2, JobKind.WARM, 1), 0.0)
    assert not queue.put(Job(3, JobKind.WARM, 1), 0.0)


def test_a_failed_job_keeps_its_age_and_waits_for_its_time() -> None:
    queue, job = JobQueue(Budgets()), Job(1, JobKind.HYDRATE, 5)
    queue.put(job, 10.0)
    queue.take()
    queue.failed(job, 20.0)
    assert queue.oldest() == 10.0
    queue.retry(19.0)
    assert queue.take() is None
    queue.retry(20.0)
    assert queue.take() == job
