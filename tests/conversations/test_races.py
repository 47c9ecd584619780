"""Many writers at once, each with a connection of its own. SQLite runs the same with its one writer."""

from __future__ import annotations

import random
import threading
from copy import deepcopy
from typing import Any

import pytest
from django.db import connection

from conversations.actions.messages import Sent, send_message
from conversations.actions.reading import mark_many_read
from conversations.errors import Conflict, InvalidRequest, NotFound
from conversations.models import Activity, Membership, Message, MessageMention, RemovedMessage, Scope
from tests.verbs import delete, edit, fresh, join, leave, post, react, read, rewind, share, thread
from tests.world import World, facts_of

from .crowd import together
from .fact_mirror import State

WRITERS, EACH = 8, 20


@pytest.fixture
def world() -> World:
    made = World("ann", "ben", "cat", agents=("bot",))
    made.channel("x", "ann", "ben", "cat", "bot")
    return made


def check_order(world: World, scope: str) -> None:
    """Ids and seqs are one order without doubles, and the summary is what a count says."""
    rows = list(Message.objects.filter(scope=world.scope[scope]).order_by("seq").values_list("seq", "id"))
    row = fresh(world.scope[scope])
    assert [i for _, i in rows] == sorted(i for _, i in rows)
    assert len({seq for seq, _ in rows}) == len(rows)
    assert row.visible_message_count == len(rows)
    times = Message.objects.filter(scope=row).values_list("created_at", flat=True)
    assert row.visible_last_message_at == max(times)


def test_eight_writers_leave_no_hole_and_commit_in_order(world: World) -> None:
    done = threading.Event()
    seen: list[list[int]] = []

    def write(who: str) -> None:
        for n in range(EACH):
            post(world, who, "x", f"{n}", mentions=["ann"] if n % 3 == 0 else [])

    def writing() -> None:
        try:
            together([lambda who=who: write(who) for who in ("ann", "ben", "cat", "bot") * (WRITERS // 4)])
        finally:
            done.set()
            connection.close()

    def watch() -> None:
        """What is committed is at any moment a beginning of the order without holes."""
        while not done.is_set():
            seen.append(sorted(Message.objects.filter(scope=world.scope["x"]).values_list("seq", flat=True)))

    together([writing, watch])
    assert len(seen) > 3
    for seqs in seen:
        assert seqs == list(range(1, len(seqs) + 1))
    scope = fresh(world.scope["x"])
    assert scope.latest_seq == WRITERS * EACH == Message.objects.filter(scope=scope).count()
    assert scope.last_message_id == Message.objects.get(scope=scope, seq=scope.latest_seq).id
    check_order(world, "x")


def test_facts_of_many_writers_are_the_rows_in_whatever_order_they_committed(world: World) -> None:
    state = State.load(world)
    with facts_of(world) as batches:
        together(
            [
                lambda: [post(world, "ann", "x", mentions=["ben"]) for _ in range(10)],
                lambda: [read(world, "ben", "x") for _ in range(10)],
                lambda: [share(world, "cat", "x") for _ in range(10)],
                lambda: [leave(world, "bot", "x"), join(world, "bot", "x"), leave(world, "bot", "x")],
            ]
        )
    assert _in_some_order(state, batches) == State.load(world)


def _in_some_order(state: State, batches: list[Any]) -> State:
    """Hooks of two commits race: each batch is taken when it follows from what was there."""
    pending = list(batches)
    while pending:
        for batch in pending:
            trial = deepcopy(state)
            try:
                trial.apply(batch)
            except (AssertionError, KeyError):
                continue
            state = trial
            pending.remove(batch)
            break
        else:
            raise AssertionError(f"these follow from nothing: {pending}")
    return state


def test_the_same_send_from_many_threads_is_one_message(world: World) -> None:
    def send() -> Sent:
        return send_message(
            user=world.user["ann"], scope_id=world.scope["x"].id, text="once", client_message_id="c", key="k"
        )

    sent = together([send] * WRITERS)
    assert {one.message.id for one in sent} == {sent[0].message.id}
    assert [one.created for one in sent].count(True) == 1
    assert Message.objects.filter(scope=world.scope["x"]).count() == 1
    assert fresh(world.scope["x"]).visible_message_count == 1


def test_other_words_under_one_key_lose(world: World) -> None:
    def send(text: str) -> str | Conflict:
        try:
            sent = send_message(user=world.user["ann"], scope_id=world.scope["x"].id, text=text, client_message_id="c")
        except Conflict as refused:
            return refused
        return str(sent.message.id)

    results = together([lambda n=n: send(f"text {n % 2}") for n in range(WRITERS)])
    [stored] = Message.objects.filter(scope=world.scope["x"])
    assert results.count(str(stored.id)) == WRITERS // 2
    assert sum(isinstance(result, Conflict) for result in results) == WRITERS // 2


def test_keys_that_a_collation_would_fold_are_different_messages(world: World) -> None:
    keys = ["key", "KEY", "Key", "key ", "kéy", "ke\u0301y", " key", "key\u200b"]
    sent = together(
        [
            lambda key=key: send_message(
                user=world.user["ann"], scope_id=world.scope["x"].id, text="t", client_message_id=key
            )
            for key in keys
        ]
    )
    assert len({one.message.id for one in sent}) == len(keys)


def test_deletes_and_rewinds_race_sends(world: World) -> None:
    kept = post(world, "ann", "x")
    for _ in range(10):
        post(world, "ann", "x", client_message_id=None, mentions=["ben"])
    doomed = list(Message.objects.filter(scope=world.scope["x"], seq__gt=1))

    def erase(messages: list[Message]) -> int:
        gone = 0
        for message in messages:
            try:
                delete(world, "ann", message)
                gone += 1
            except NotFound:
                pass
        return gone

    together(
        [
            lambda: [post(world, "ben", "x") for _ in range(EACH)],
            lambda: [post(world, "cat", "x", client_message_id=f"{n}") for n in range(EACH)],
            lambda: erase(doomed),
            lambda: erase(doomed[::-1]),
            lambda: rewind(world, "ann", "x", kept),
        ]
    )
    check_order(world, "x")
    scope = fresh(world.scope["x"])
    assert scope.latest_seq == 11 + 2 * EACH
    assert Message.objects.filter(scope=scope, id=kept.id).exists()
    assert not MessageMention.objects.filter(message__in=[m.id for m in doomed]).exists()
    removed = RemovedMessage.objects.filter(scope=scope).count()
    assert removed + Message.objects.filter(scope=scope, author=world.member["cat"]).count() == EACH


def test_reads_race_sends_and_the_cursor_never_moves_back(world: World) -> None:
    for _ in range(5):
        post(world, "ann", "x")
    first = Message.objects.get(scope=world.scope["x"], seq=1)
    cursors: list[tuple[int, int]] = []
    done = threading.Event()

    def write() -> None:
        try:
            for _ in range(EACH):
                post(world, "ann", "x")
        finally:
            done.set()

    def stale_device() -> None:
        while not done.is_set():
            read(world, "ben", "x", first)

    def live_device() -> None:
        while not done.is_set():
            read(world, "ben", "x")

    def watch() -> None:
        rows = Membership.objects.filter(scope=world.scope["x"], member=world.member["ben"])
        while not done.is_set():
            cursors.append(rows.values_list("last_read_seq", "read_generation").get())

    together([write, stale_device, live_device, watch])
    assert cursors == sorted(cursors)
    by_cursor: dict[int, set[int]] = {}
    for seq, generation in cursors:
        by_cursor.setdefault(seq, set()).add(generation)
    assert all(len(generations) == 1 for generations in by_cursor.values()), "a generation per change, no more"
    read(world, "ben", "x")
    assert Membership.objects.get(scope=world.scope["x"], member=world.member["ben"]).last_read_seq == 5 + EACH


def test_replies_race_departures(world: World) -> None:
    """Nobody is left in a thread of a channel that they left."""
    root = post(world, "ann", "x")
    thread(world, "ann", root, "t")

    def come_and_go() -> None:
        for _ in range(6):
            leave(world, "ben", "x")
            join(world, "ben", "x")
        leave(world, "ben", "x")

    def write(who: str) -> None:
        for _ in range(10):
            try:
                post(world, who, "t", mentions=["ben"] if who == "ann" else [])
            except (InvalidRequest, Conflict):
                continue

    together([come_and_go, lambda: write("ann"), lambda: write("ben"), lambda: write("cat")])
    active = Membership.objects.filter(member=world.member["ben"], status="active")
    assert not active.filter(scope__in=[world.scope["x"], world.scope["t"]]).exists()
    check_order(world, "t")


def test_edits_race_and_each_is_one_revision(world: World) -> None:
    message = post(world, "ann", "x", mentions=["ben"])
    state = State.load(world)

    def change(n: int) -> None:
        for turn in range(5):
            edit(world, "ann", message, f"{n} {turn}", mentions=("ben",) if (n + turn) % 2 else ("cat", "bot"))

    with facts_of(world) as batches:
        together([lambda n=n: change(n) for n in range(4)])
    message.refresh_from_db()
    assert message.revision == len(batches) == 20
    assert _in_some_order(state, batches) == State.load(world)


def test_reactions_race_and_each_counts_once(world: World) -> None:
    message = post(world, "ann", "x")
    changed = together([lambda who=who: react(world, who, message) for who in ("ann", "ben", "cat") * 3])
    assert changed.count(True) == 3
    activities = Activity.objects.filter(scope=world.scope["x"], type="reaction").order_by("seq")
    seqs = list(Activity.objects.filter(scope=world.scope["x"]).order_by("seq").values_list("seq", flat=True))
    assert activities.count() == 3
    assert seqs == list(range(1, len(seqs) + 1))


def test_many_scopes_are_read_at_once_from_two_sides_without_a_deadlock(world: World) -> None:
    names = [f"c{n}" for n in range(10)]
    for name in names:
        world.channel(name, "ann", "ben", "cat")

    def read_all(who: str) -> None:
        for _ in range(4):
            ids = [world.scope[name].id for name in random.sample(names, len(names))]
            mark_many_read(user=world.user[who], workspace_id=world.id, scope_ids=ids)

    def write(who: str) -> None:
        for name in random.sample(names, len(names)):
            post(world, who, name)

    together(
        [lambda: read_all("ann"), lambda: read_all("ben"), lambda: read_all("cat")]
        + [lambda who=who: write(who) for who in ("ann", "ben", "cat")]
    )
    assert set(
        Scope.objects.filter(id__in=[world.scope[n].id for n in names]).values_list("latest_seq", flat=True)
    ) == {3}


def test_a_statement_that_fails_in_the_middle_leaves_nothing(world: World) -> None:
    post(world, "ann", "x")
    before = State.load(world)
    attempts: list[str] = []

    def failing(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        verb = sql.split(" ", 1)[0]
        if verb in ("INSERT", "UPDATE", "DELETE"):
            attempts.append(sql)
            if len(attempts) == limit:
                raise RuntimeError("staged")
        return execute(sql, params, many, context)

    def attempt() -> Any:
        return post(world, "ben", "x", mentions=["ann", "cat"], client_message_id="c")

    limit = 1
    while True:
        attempts.clear()
        with facts_of(world) as batches, connection.execute_wrapper(failing):
            try:
                attempt()
            except RuntimeError:
                assert batches == []
            else:
                break
        assert State.load(world) == before, attempts[-1]
        limit += 1
    assert limit > 4, "several statements were staged to fail"
    assert fresh(world.scope["x"]).latest_seq == 2
