"""Writers at the same moment: one wins each seq, the others are told which one is expected."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import transaction

from conversations.actions.archiving import archive
from conversations.actions.removing import rewind
from conversations.errors import Conflict, Misdirected
from conversations.locking import lock_message_alone
from conversations.models import MessagePart, ResourceLock
from conversations.ownership import current_owner
from conversations.ownership.leases import workspace_resource
from tests.conversations.crowd import together
from tests.conversations.racing import race
from tests.verbs import post
from tests.world import World

from .answers import begin, emit, end, more, opened, row, said, stage

EVENTS = 30


@pytest.fixture
def world() -> World:
    return stage()


def insist(world: World, message: Any, name: str) -> list[int]:
    """Write `EVENTS` letters, each under the seq that is expected; returns the seqs that were won."""
    won: list[int] = []
    expected = 2
    while len(won) < EVENTS:
        try:
            emit(world, message, more(expected, name))
        except Conflict as refused:
            expected = refused.fields["expected_seq"]
        else:
            won.append(expected)
            expected += 1
    return won


def test_two_writers_share_the_seqs_and_lose_none(world: World) -> None:
    answer = opened(world)
    emit(world, answer, begin(1))
    first, second = together([lambda: insist(world, answer, "a"), lambda: insist(world, answer, "b")])
    assert sorted(first + second) == list(range(2, 2 + 2 * EVENTS))
    text = said(answer)
    assert [at + 2 for at, letter in enumerate(text) if letter == "a"] == first
    assert row(answer).revision == 1 + 2 * EVENTS


def test_the_same_event_from_two_threads_is_applied_once(world: World) -> None:
    answer = opened(world)
    emit(world, answer, begin(1))
    for seq in range(2, 12):
        results = race([lambda seq=seq: emit(world, answer, more(seq, "x")) for _ in range(3)])
        assert [each.revision for each in results] == [seq] * 3
    assert said(answer) == "x" * 10


def test_two_ends_at_once_make_one(world: World) -> None:
    answer = opened(world)
    results = race([lambda s=s: emit(world, answer, end(1), status=s) for s in ("completed", "failed")])
    assert sorted(type(each).__name__ for each in results) == ["Conflict", "Emitted"]
    assert row(answer).revision == 1


def test_an_end_and_a_rewind_meet_without_a_deadlock(world: World) -> None:
    for _ in range(5):
        first = post(world, "bot", "x")
        answer = opened(world)
        results = race(
            [
                lambda answer=answer: emit(world, answer, end(1)),
                lambda first=first: rewind(
                    user=world.user["ann"], scope_id=world.scope["x"].id, to_message_id=first.id
                ),
            ]
        )
        ended, rewound = results
        assert not isinstance(ended, Exception), ended
        assert rewound == 1 or isinstance(rewound, Conflict)


def test_an_event_waits_for_its_message_and_not_for_its_scope(world: World, on_mariadb: None) -> None:
    """While another transaction holds the scope, an answer goes on growing."""
    answer = opened(world)

    def hold_the_scope() -> None:
        with transaction.atomic():
            from conversations.locking import lock_scope

            lock_scope(world.id, world.scope["x"].id)
            (result,) = race([lambda: emit(world, answer, begin(1))])
            assert result.revision == 1

    together([hold_the_scope])


def test_a_process_that_lost_its_lease_writes_nothing(world: World) -> None:
    answer = opened(world)
    emit(world, answer, begin(1))
    assert current_owner().epoch(world.id) is not None
    resource = workspace_resource(world.id)
    ResourceLock.objects.filter(resource=resource).update(locker_id="elsewhere|1|server")
    ResourceLock.objects.filter(resource=resource).update(epoch=ResourceLock.objects.get(resource=resource).epoch + 1)
    with pytest.raises(Misdirected):
        emit(world, answer, more(2, "x"))
    assert row(answer).revision == 1
    with pytest.raises(Misdirected), transaction.atomic():
        lock_message_alone(world.id, answer.id)


def test_parts_have_no_orphans_after_racing_writers(world: World, settings: Any) -> None:
    settings.MESSAGE_INLINE_BLOCKS, settings.MESSAGE_PART_BYTES = 1, 300
    answer = opened(world)
    for seq in range(1, 8):
        emit(world, answer, begin(seq, f"b{seq}"))

    def write(name: str) -> None:
        for _ in range(10):
            while True:
                expected = row(answer).revision + 1
                try:
                    emit(world, answer, more(expected, name * 20, f"b{expected % 7 + 1}"))
                    break
                except Conflict:
                    continue

    together([lambda: write("a"), lambda: write("b")])
    assert len(said(answer)) == 20 * 20
    named = {block["ref"] for block in row(answer).content["blocks"] if "ref" in block}
    assert {str(part) for part in MessagePart.objects.filter(message=answer).values_list("id", flat=True)} == named


def test_an_archiving_does_not_stop_an_event(world: World) -> None:
    answer = opened(world)
    results = race(
        [
            lambda: emit(world, answer, begin(1)),
            lambda: archive(user=world.user["ann"], scope_id=world.scope["x"].id),
        ]
    )
    assert results[0].revision == 1
