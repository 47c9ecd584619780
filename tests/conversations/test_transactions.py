"""An action that lost a lock runs again, whole, and gives up in the end with nothing written."""

from __future__ import annotations

import threading

import pytest
from django.db import IntegrityError, OperationalError, connection, transaction

from conversations import transactions
from conversations.errors import Unavailable
from conversations.events import WorkspaceUpdated
from conversations.models import Scope
from conversations.publish import publish_on_commit
from conversations.transactions import in_transaction
from tests.verbs import fresh
from tests.world import World, facts_of

from .crowd import PATIENCE_S, together


@pytest.fixture
def world() -> World:
    made = World("ann")
    made.channel("x", "ann")
    made.channel("y", "ann")
    return made


def wait_briefly_for_locks() -> None:
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("PRAGMA busy_timeout = 10")
        else:
            cursor.execute("SET SESSION innodb_lock_wait_timeout = 1")


def test_the_victim_of_a_deadlock_runs_again(world: World, on_mariadb: None) -> None:
    meet = threading.Barrier(2)
    attempts: list[str] = []

    @in_transaction
    def rename_both(first: str, second: str) -> None:
        attempts.append(first)
        _rename(world, first, f"by {first}")
        if len(attempts) <= 2:
            meet.wait(PATIENCE_S)
        _rename(world, second, f"by {first}")
        publish_on_commit([WorkspaceUpdated(world.id)])

    with facts_of(world) as batches:
        together([lambda: rename_both("x", "y"), lambda: rename_both("y", "x")])
    assert len(attempts) == 3, "one of them was the victim, once"
    assert len(batches) == 2, "the hook of the attempt that failed is gone"
    assert fresh(world.scope["x"]).name == fresh(world.scope["y"]).name


def test_it_gives_up_where_the_lock_stays_taken(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transactions, "MAX_ATTEMPTS", 2)
    held, done = threading.Event(), threading.Event()
    attempts: list[int] = []

    def hold() -> None:
        with transaction.atomic():
            _rename(world, "x", "held")
            held.set()
            done.wait(PATIENCE_S)

    @in_transaction
    def rename() -> None:
        attempts.append(1)
        _rename(world, "x", "wanted")

    def want() -> str:
        wait_briefly_for_locks()
        held.wait(PATIENCE_S)
        try:
            rename()
        except Unavailable as refused:
            return refused.message
        finally:
            done.set()
        return ""

    _, message = together([hold, want])
    assert "nothing was written" in message
    assert fresh(world.scope["x"]).name == "held"
    # SQLite refuses at BEGIN, before the action; MariaDB at its first lock.
    assert len(attempts) == (0 if connection.vendor == "sqlite" else 2)


def test_other_failures_are_not_tried_again(world: World) -> None:
    attempts: list[int] = []

    @in_transaction
    def fail(error: Exception) -> None:
        attempts.append(1)
        _rename(world, "x", "half done")
        raise error

    for error in (IntegrityError(1062, "duplicate"), OperationalError(2006, "gone away"), ValueError("no")):
        attempts.clear()
        with pytest.raises(type(error)):
            fail(error)
        assert len(attempts) == 1
    assert fresh(world.scope["x"]).name == "x"


def test_inside_another_transaction_it_joins_that_one(world: World) -> None:
    @in_transaction
    def rename() -> None:
        _rename(world, "x", "inner")

    with transaction.atomic():
        rename()
        assert fresh(world.scope["x"]).name == "inner"
        transaction.set_rollback(True)
    assert fresh(world.scope["x"]).name == "x"


def _rename(world: World, scope: str, name: str) -> None:
    Scope.objects.filter(id=world.scope[scope].id).update(name=name)
