"""Every warm path over HTTP: no unread SQL in its thread, no job in another, and the same statements for 500 scopes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.db import connection

from conversations.models import Membership, MemberState, Message, NotificationSetting, Scope
from conversations.publish import subscribe
from tests import verbs as do
from tests.unread.guard import UnreadSqlError, no_unread_sql
from tests.unread.house import House, as_product
from tests.world import Answer, World
from unread import api, first_paint

MANY = 500


class Warm:
    """Ben is in a channel, its thread and a DM, all of it warm; everything goes through HTTP."""

    def __init__(self) -> None:
        self.world = World("ann", "ben", "cat")
        self.house = House(self.world)
        self.world.channel("x", "ann", "ben", "cat")
        self.first = do.post(self.world, "ann", "x", mentions=["ben"])
        self.mine = do.post(self.world, "ben", "x")
        self.old = do.post(self.world, "ben", "x")
        do.thread(self.world, "ben", self.first, "t")
        do.post(self.world, "ann", "t")
        do.post(self.world, "ann", "x")
        for who in ("ann", "ben", "cat"):
            self.world.call(who, "GET", "/me").ok()  # notes the use of the token
        self.house.load_everybody()
        assert self.house.errors() == []

    def join_many(self) -> None:
        """As rows, and known to the runtime: the member's pages are in, all of them without unread."""
        scopes = Scope.objects.bulk_create(
            Scope(workspace=self.world.workspace, type="channel", name=f"c{n}", visibility="public")
            for n in range(MANY)
        )
        ben = self.world.member["ben"]
        Membership.objects.bulk_create(Membership(scope=scope, member=ben) for scope in scopes)
        NotificationSetting.objects.bulk_create(NotificationSetting(scope=scope, member=ben) for scope in scopes)
        MemberState.objects.bulk_create(MemberState(scope=scope, member=ben) for scope in scopes)
        for scope in scopes:
            self.world.scope[scope.name] = scope

    def ask(self, method: str, path: str, body: Any = None) -> Answer:
        return self.world.call("ben", method, path, body).ok()

    def scope(self, name: str = "x") -> str:
        return f"/conversations/{self.world.scope[name].id}"

    @property
    def workspace(self) -> str:
        return f"/workspaces/{self.world.id}"


Path = Callable[[Warm], Any]
PATHS: dict[str, Path] = {
    "workspace list": lambda w: w.ask("GET", "/workspaces"),
    "bootstrap": lambda w: w.ask("GET", f"{w.workspace}/bootstrap"),
    "unread": lambda w: w.ask("GET", f"{w.workspace}/unread"),
    "unread of some": lambda w: w.ask("GET", f"{w.workspace}/unread?conversation_ids={w.world.scope['x'].id}"),
    "conversation": lambda w: w.ask("GET", w.scope()),
    "message": lambda w: w.ask("POST", f"{w.scope()}/messages", {"text": "hello"}),
    "mention": lambda w: w.ask("POST", f"{w.scope()}/messages", {"text": "@ann and @cat"}),
    "answer": lambda w: w.ask("POST", f"{w.scope()}/messages", {"text": "yes", "reply_to_id": w.first.id}),
    "reply": lambda w: w.ask("POST", f"{w.scope('t')}/messages", {"text": "in the thread"}),
    "retry": lambda w: [
        w.ask("POST", f"{w.scope()}/messages", {"text": "once", "client_message_id": "k"}) for _ in range(2)
    ],
    "activity": lambda w: w.ask("POST", f"{w.scope()}/activities", {"type": "share"}),
    "edit": lambda w: w.ask("PUT", f"/messages/{w.mine.id}", {"text": "otherwise @ann"}),
    "delete": lambda w: w.ask("DELETE", f"/messages/{w.old.id}"),
    "react": lambda w: w.ask("PUT", f"/messages/{w.first.id}/reactions/tada"),
    "thread": lambda w: w.ask("POST", f"/messages/{w.mine.id}/thread"),
    "read": lambda w: w.ask("PUT", f"{w.scope()}/read", {}),
    "read up to a message": lambda w: w.ask("PUT", f"{w.scope()}/read", {"message_id": w.first.id}),
    "read many": lambda w: w.ask(
        "POST", f"{w.workspace}/read", {"conversation_ids": [w.world.scope["x"].id, w.world.scope["t"].id]}
    ),
    "mark unread": lambda w: w.ask("PUT", f"{w.scope()}/unread", {}),
    "mark unread from a message": lambda w: w.ask("PUT", f"{w.scope()}/unread", {"message_id": w.first.id}),
    "clear unread": lambda w: w.ask("DELETE", f"{w.scope()}/unread"),
    "notification level": lambda w: w.ask("PUT", f"{w.scope()}/notifications", {"level": "mentions"}),
    "join": lambda w: w.ask("POST", f"{w.scope()}/members", {}),
    "leave": lambda w: w.ask("DELETE", f"{w.scope()}/members/{w.world.member['ben'].id}"),
}


@pytest.fixture
def warm() -> Iterator[Warm]:
    made = Warm()
    with as_product(made.house):
        yield made


@pytest.mark.parametrize("name", PATHS)
def test_no_unread_sql_and_no_job(warm: Warm, name: str) -> None:
    with no_unread_sql() as statements:
        PATHS[name](warm)
    assert statements
    stats = warm.house.runtime.stats()
    assert (stats.jobs_queued, stats.jobs_running, stats.waiting_events) == (0, 0, 0)
    assert warm.house.errors() == []


@pytest.mark.parametrize("name", PATHS)
def test_as_many_statements_for_one_scope_as_for_500(name: str) -> None:
    counts = []
    for many in (False, True):
        warm = Warm()
        if many:
            warm.join_many()
        with as_product(warm.house), no_unread_sql() as statements:
            PATHS[name](warm)
        counts.append(len(statements))
    assert counts[0] == counts[1]


def test_all_500_shown_cost_no_more_than_one(warm: Warm) -> None:
    """Not only there, but lit: each has an unread message that memory knows of."""
    with no_unread_sql() as few:
        warm.ask("GET", f"{warm.workspace}/bootstrap")
    for n in range(60):
        warm.world.channel(f"lit{n}", "ann", "ben")
        do.post(warm.world, "ann", f"lit{n}")
    warm.house.settle()
    with no_unread_sql() as many:
        unread = warm.ask("GET", f"{warm.workspace}/bootstrap")["unread"]
    assert len(unread["counts"]) >= 60
    assert len(many) == len(few)


def plant_in_a_hook(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Hooks after a commit are never allowed to fail; the guard must see them all the same."""
    return subscribe(lambda batch: bool(Message.objects.count()))


def plant_in_the_page(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    asked = first_paint.joined_conversations

    def counting(*arguments: Any, **named: Any) -> Any:
        Message.objects.filter(seq__gt=0).exists()
        return asked(*arguments, **named)

    monkeypatch.setattr(first_paint, "joined_conversations", counting)
    return lambda: None


def plant_in_the_answer(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    asked = api.member_json

    def reading(view: Any) -> Any:
        with connection.cursor() as cursor:
            cursor.execute("SELECT message_unread_count FROM member_scope_unread_runtime_snapshots LIMIT 1")
        return asked(view)

    monkeypatch.setattr(api, "member_json", reading)
    return lambda: None


PLANTS = {
    "message": plant_in_a_hook,
    "read": plant_in_a_hook,
    "mark unread": plant_in_a_hook,
    "notification level": plant_in_a_hook,
    "bootstrap": plant_in_the_page,
    "unread": plant_in_the_answer,
}


@pytest.mark.parametrize("name", PLANTS)
def test_the_premise_that_a_planted_statement_is_noticed(
    warm: Warm, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    uproot = PLANTS[name](monkeypatch)
    try:
        with pytest.raises(UnreadSqlError), no_unread_sql():
            warm.world.call("ben", *_request(warm, name))
    finally:
        uproot()


def _request(warm: Warm, name: str) -> tuple[Any, ...]:
    """What the path asks, without insisting on its success."""
    asked: list[tuple[Any, ...]] = []

    class Noting:
        def __getattr__(self, attribute: str) -> Any:
            return getattr(warm, attribute)

        def ask(self, *request: Any) -> None:
            asked.append(request)

    PATHS[name](Noting())  # type: ignore[arg-type]
    return asked[0]
