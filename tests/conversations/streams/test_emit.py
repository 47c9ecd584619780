"""Every rule of an event into an open message, and each refusal."""

from __future__ import annotations

from typing import Any

import pytest

from conversations.content.reading import read_content
from conversations.errors import Conflict, Forbidden, InvalidRequest, NotFound, TooLarge
from conversations.events import MessageUpdated
from conversations.models import MessageMention
from conversations.models.run import HarnessRun
from tests.conversations.content.rows import limits
from tests.verbs import archive, delete, edit, fresh, leave, post, rewind
from tests.world import World, facts_of

from .answers import begin, emit, end, error, more, opened, row, said, stage


@pytest.fixture
def world() -> World:
    return stage()


def test_events_grow_a_message_and_the_end_settles_it(world: World) -> None:
    answer = opened(world)
    assert (answer.revision, answer.status) == (0, "streaming")
    assert emit(world, answer, begin(1)).revision == 1
    assert emit(world, answer, more(2, "Hel")).revision == 2
    assert emit(world, answer, more(3, "lo")).revision == 3
    assert (said(answer), row(answer).status) == ("Hello", "streaming")
    assert emit(world, answer, end(4)).revision == 4
    after = row(answer)
    assert (said(answer), after.status, after.revision) == ("Hello", "completed", 4)
    assert after.updated_at > after.created_at


def test_only_the_end_is_news_for_pages_and_nothing_counts_again(world: World) -> None:
    answer = opened(world)
    before = fresh(world.scope["x"])
    with facts_of(world) as batches:
        emit(world, answer, begin(1, text="@ann look"))
        emit(world, answer, more(2, " and @ben"))
        assert batches == []
        emit(world, answer, end(3))
    assert batches == [(MessageUpdated(world.id, world.scope["x"].id, answer.id),)]
    after = fresh(world.scope["x"])
    for name in ("latest_seq", "visible_message_count", "rewind_generation", "roster_generation", "updated_at"):
        assert getattr(after, name) == getattr(before, name), name
    assert not MessageMention.objects.filter(message=answer).exists()


@pytest.mark.parametrize("event", [begin(1), error(1), end(1)], ids=lambda event: event["op"])
def test_the_same_event_again_is_the_same_answer_without_a_write(world: World, event: dict[str, Any]) -> None:
    answer = opened(world)
    first = emit(world, answer, event)
    before = row(answer)
    with facts_of(world) as batches:
        assert emit(world, answer, {**event, "ts": 123, "stream_id": "mine"}) == first
    assert batches == []
    after = row(answer)
    assert (after.updated_at, after.revision, after.content) == (before.updated_at, before.revision, before.content)


def test_a_taken_seq_and_a_gap_name_the_expected_one(world: World) -> None:
    answer = opened(world)
    emit(world, answer, begin(1))
    emit(world, answer, more(2, "x"))
    for event in (more(2, "y"), more(1, "x"), begin(1), end(2), more(0, "x"), more(4, "x"), end(2**53 - 1)):
        with pytest.raises(Conflict) as refused:
            emit(world, answer, event)
        assert refused.value.fields == {"expected_seq": 3}
    assert (said(answer), row(answer).revision) == ("x", 2)


def test_after_the_end_nothing_is_accepted(world: World) -> None:
    answer = opened(world)
    emit(world, answer, end(1))
    for event in (
        more(2, "late"),
        end(2),
        error(1),
        {"op": "ping", "seq": 1},
        {"op": "end", "seq": 1, "event_type": ""},
    ):
        with pytest.raises((Conflict, InvalidRequest)) as refused:
            emit(world, answer, event)
        if isinstance(refused.value, Conflict):
            assert refused.value.fields == {"status": "completed", "expected_seq": None}
    with pytest.raises(Conflict):
        emit(world, answer, end(1), status="failed")
    assert row(answer).revision == 1


def test_a_message_that_was_complete_at_once_takes_no_event(world: World) -> None:
    with pytest.raises(Conflict, match="has ended"):
        emit(world, post(world, "bot", "x"), more(1, "x"))


def test_a_ping_repeats_the_latest_seq_and_writes_nothing(world: World) -> None:
    answer = opened(world)
    assert emit(world, answer, {"op": "ping", "seq": 0}).revision == 0
    emit(world, answer, begin(1))
    before = row(answer)
    assert emit(world, answer, {"op": "ping", "seq": 1}).revision == 1
    for seq in (0, 2):
        with pytest.raises(Conflict) as refused:
            emit(world, answer, {"op": "ping", "seq": seq})
        assert refused.value.fields == {"expected_seq": 1}
    assert row(answer).updated_at == before.updated_at
    assert emit(world, answer, begin(1)).revision == 1, "a retry is one also after a ping"


@pytest.mark.parametrize("status", ["completed", "failed", "cancelled", "expired"])
def test_an_end_may_carry_a_terminal_status(world: World, status: str) -> None:
    answer = opened(world)
    assert emit(world, answer, end(1), status=status).revision == 1
    assert row(answer).status == status
    assert emit(world, answer, end(1), status=status).revision == 1
    with pytest.raises(Conflict):
        emit(world, answer, end(1))


def test_an_end_after_an_error_means_failed(world: World) -> None:
    answer = opened(world)
    emit(world, answer, error(1))
    emit(world, answer, end(2))
    assert row(answer).status == "failed"
    mended = opened(world)
    emit(world, mended, error(1))
    emit(world, mended, {"op": "set", "seq": 2, "mask": "meta.error", "meta": {"error": None}})
    emit(world, mended, end(3))
    assert row(mended).status == "completed"


@pytest.mark.parametrize(
    ("event", "status", "why"),
    [
        (more(1, "x"), None, "cannot become one"),
        (begin(1) | {"surprise": 1}, None, "surprise"),
        ({"op": "set", "seq": 1, "block": {"id": "a", "ref": "elsewhere"}}, None, "whole block"),
        ({"op": "set", "seq": 1, "mask": "meta.output", "meta": {"output": 1}}, None, "server alone"),
        ({"op": "set", "seq": 1, "mask": "meta.output.x", "meta": {"output": {"x": 1}}}, None, "server alone"),
        (
            {"op": "start", "seq": 1, "model": {"version": "1.1", "biz": "chat", "meta": {"output": {}}, "blocks": []}},
            None,
            "server alone",
        ),
        (error(1) | {"meta": {"error": {"code": "a", "message": "b"}, "output": 1}}, None, "server alone"),
        (begin(True), None, "seq"),
        (begin(1.0), None, "seq"),
        (begin(2**53), None, "seq"),
        ("end", None, "object"),
        (begin(1), "completed", "Only the end"),
        (end(1), "streaming", "must be one of"),
        (end(1), "done", "must be one of"),
    ],
)
def test_what_cannot_be_applied_leaves_no_trace(world: World, event: Any, status: str | None, why: str) -> None:
    answer = opened(world)
    with pytest.raises(InvalidRequest, match=why):
        emit(world, answer, event, status=status)
    after = row(answer)
    assert (after.revision, after.last_event_fingerprint, after.updated_at) == (0, "", answer.updated_at)
    assert emit(world, answer, begin(1)).revision == 1


def test_a_start_replaces_everything(world: World) -> None:
    answer = opened(world)
    emit(world, answer, begin(1, text="old"))
    model = {
        "version": "1.1",
        "biz": "chat",
        "meta": {"k": 1},
        "blocks": [{"id": "n", "type": "text", "content": "new"}],
    }
    emit(world, answer, {"op": "start", "seq": 2, "model": model})
    assert read_content(row(answer)) == model


def test_a_message_that_grows_too_large_stays_as_it_was(world: World) -> None:
    answer = opened(world)
    emit(world, answer, begin(1, text="x" * 500))
    with limits(content_bytes=1000), pytest.raises(TooLarge):
        emit(world, answer, more(2, "x" * 600))
    assert (row(answer).revision, said(answer)) == (1, "x" * 500)
    assert emit(world, answer, more(2, "y")).revision == 2


def test_only_the_author_writes(world: World) -> None:
    answer = opened(world)
    for who in ("ann", "ben", "cat"):
        with pytest.raises(Forbidden):
            emit(world, answer, begin(1), by=who)
    with pytest.raises(NotFound):
        emit(world, answer, begin(1), by="sue")
    assert emit(world, opened(world, "ben"), begin(1), by="ben").revision == 1


def test_whoever_left_cannot_go_on(world: World) -> None:
    answer = opened(world)
    leave(world, "bot", "x")
    with pytest.raises(Conflict, match="Join"):
        emit(world, answer, begin(1))
    world.channel("p", "ann", "bot", private=True)
    hidden = opened(world, scope="p")
    leave(world, "bot", "p", by="ann")
    with pytest.raises(NotFound):
        emit(world, hidden, begin(1))


def test_what_was_begun_may_end_after_an_archiving(world: World) -> None:
    answer = opened(world)
    archive(world, "ann", "x")
    emit(world, answer, begin(1, text="done"))
    emit(world, answer, end(2))
    assert (row(answer).status, said(answer)) == ("completed", "done")


def test_the_output_of_a_run_is_not_written_from_outside(world: World) -> None:
    from django.utils import timezone

    answer = opened(world)
    HarnessRun.objects.create(
        scope=world.scope["x"],
        message=answer,
        requested_by=world.member["bot"],
        harness="h",
        identity=f"{answer.id}",
        request={},
        deadline=timezone.now(),
    )
    with pytest.raises(Conflict, match="run alone"):
        emit(world, answer, begin(1))


def test_an_open_message_is_neither_edited_nor_removed(world: World) -> None:
    first = post(world, "bot", "x")
    answer = opened(world)
    for attempt in (
        lambda: edit(world, "bot", answer, "other"),
        lambda: delete(world, "bot", answer),
        lambda: delete(world, "ann", answer),
        lambda: rewind(world, "ann", "x", first),
    ):
        with pytest.raises(Conflict, match="still being written"):
            attempt()
    emit(world, answer, end(1))
    assert edit(world, "bot", answer, "other").revision == 2
    with pytest.raises(Conflict):
        emit(world, answer, end(1), status="failed")
    delete(world, "bot", answer)
    with pytest.raises(NotFound):
        emit(world, answer, end(1))


def test_a_retried_opening_finds_the_stream_as_it_is_now(world: World) -> None:
    answer = opened(world, key="k")
    emit(world, answer, begin(1, text="hi"))
    again = opened(world, key="k")
    assert (again.id, again.revision, again.status) == (answer.id, 1, "streaming")
    with pytest.raises(Conflict):
        post(world, "bot", "x", "something else", stream=True, key="k")
    assert opened(world, key="other").id != answer.id
    assert opened(world, key="k", actor=("operator", "bot/helper")).id != answer.id


@pytest.mark.parametrize(
    ("said_with", "status"),
    [
        ({}, "completed"),
        ({"status": "failed"}, "failed"),
        ({"error": {"code": "c", "message": "m"}}, "failed"),
        ({"error": {"code": "c", "message": "m"}, "status": "cancelled"}, "cancelled"),
    ],
)
def test_a_message_complete_at_once_has_any_terminal_status(
    world: World, said_with: dict[str, Any], status: str
) -> None:
    message = post(world, "bot", "x", **said_with)
    assert (row(message).status, row(message).revision, row(message).dispatch_pending) == (status, 0, False)
    assert read_content(message)["meta"].get("error") == said_with.get("error")
