"""Who may what in which scope: one table, called over HTTP, one fresh scope for every cell that could change it.

The columns: `owner` opened the scope; `member` and `bot` (a service account) are in it; `boss` is an admin, `other` a
member and `robot` a service account of the workspace, none of them in it; `else` is a member of another workspace;
`gone` was in it and is deactivated; `anon` has no token. `newbie` and `victim` are whom the verbs act on: not in it,
and in it. A thread's owner, member, bot, newbie and victim are in the channel around it; only owner and victim are in
the thread. Nobody but the victim is in a task.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.db import transaction

from conversations.actions.creation import create_scope
from conversations.actions.memberships import begin_memberships
from conversations.actions.workspace_members import deactivate_member
from conversations.locking import lock_scope
from conversations.models import Scope
from conversations.models.scope import ScopeType, Visibility
from tests import verbs
from tests.world import World

TABLE = """
scope            verb      owner  member bot    boss   other  robot  else   gone   anon

public channel   see       200    200    200    200    200    200    404    404    401
public channel   history   200    200    200    200    200    200    404    404    401
public channel   people    200    200    200    200    200    200    404    404    401
public channel   post      201    201    201    409    409    409    404    404    401
public channel   join      200    200    200    201    201    201    404    404    401
public channel   leave     204    204    204    204    204    204    404    404    401
public channel   add       201    201    201    409    409    409    404    404    401
public channel   remove    204    403    403    204    403    403    404    404    401
public channel   rename    200    403    403    200    403    403    404    404    401
public channel   hide      200    403    403    200    403    403    404    404    401
public channel   archive   200    403    403    200    403    403    404    404    401
public channel   restore   200    403    403    200    403    403    404    404    401

private channel  see       200    200    200    404    404    404    404    404    401
private channel  history   200    200    200    404    404    404    404    404    401
private channel  people    200    200    200    404    404    404    404    404    401
private channel  post      201    201    201    404    404    404    404    404    401
private channel  join      200    200    200    404    404    404    404    404    401
private channel  leave     204    204    204    404    404    404    404    404    401
private channel  add       201    201    201    404    404    404    404    404    401
private channel  remove    204    403    403    404    404    404    404    404    401
private channel  rename    200    403    403    404    404    404    404    404    401
private channel  hide      200    403    403    404    404    404    404    404    401
private channel  archive   200    403    403    404    404    404    404    404    401
private channel  restore   200    403    403    404    404    404    404    404    401

dm               see       200    200    200    404    404    404    404    404    401
dm               history   200    200    200    404    404    404    404    404    401
dm               people    200    200    200    404    404    404    404    404    401
dm               post      201    201    201    404    404    404    404    404    401
dm               join      400    400    400    404    404    404    404    404    401
dm               leave     400    400    400    404    404    404    404    404    401
dm               add       400    400    400    404    404    404    404    404    401
dm               remove    400    400    400    404    404    404    404    404    401
dm               rename    400    403    403    404    404    404    404    404    401
dm               hide      400    403    403    404    404    404    404    404    401
dm               archive   200    403    403    404    404    404    404    404    401
dm               restore   200    403    403    404    404    404    404    404    401

conversation     see       200    200    200    404    404    404    404    404    401
conversation     history   200    200    200    404    404    404    404    404    401
conversation     people    200    200    200    404    404    404    404    404    401
conversation     post      201    201    201    404    404    404    404    404    401
conversation     join      200    200    200    404    404    404    404    404    401
conversation     leave     204    204    204    404    404    404    404    404    401
conversation     add       201    201    201    404    404    404    404    404    401
conversation     remove    204    403    403    404    404    404    404    404    401
conversation     rename    200    403    403    404    404    404    404    404    401
conversation     hide      400    403    403    404    404    404    404    404    401
conversation     archive   200    403    403    404    404    404    404    404    401
conversation     restore   200    403    403    404    404    404    404    404    401

process          see       200    200    200    404    404    404    404    404    401
process          history   200    200    200    404    404    404    404    404    401
process          people    200    200    200    404    404    404    404    404    401
process          post      201    403    201    404    404    404    404    404    401
process          join      400    400    400    404    404    404    404    404    401
process          leave     400    400    400    404    404    404    404    404    401
process          add       400    400    400    404    404    404    404    404    401
process          remove    400    400    400    404    404    404    404    404    401
process          rename    200    403    403    404    404    404    404    404    401
process          hide      400    403    403    404    404    404    404    404    401
process          archive   200    403    403    404    404    404    404    404    401
process          restore   200    403    403    404    404    404    404    404    401

public thread    see       200    200    200    200    200    200    404    404    401
public thread    history   200    200    200    200    200    200    404    404    401
public thread    people    200    200    200    200    200    200    404    404    401
public thread    post      201    201    201    409    409    409    404    404    401
public thread    join      200    201    201    409    409    409    404    404    401
public thread    leave     204    204    204    204    204    204    404    404    401
public thread    add       201    201    201    409    409    409    404    404    401
public thread    remove    204    403    403    204    403    403    404    404    401
public thread    rename    200    403    403    200    403    403    404    404    401
public thread    hide      400    403    403    400    403    403    404    404    401
public thread    archive   200    403    403    200    403    403    404    404    401
public thread    restore   200    403    403    200    403    403    404    404    401

private thread   see       200    200    200    404    404    404    404    404    401
private thread   history   200    200    200    404    404    404    404    404    401
private thread   people    200    200    200    404    404    404    404    404    401
private thread   post      201    201    201    404    404    404    404    404    401
private thread   join      200    201    201    404    404    404    404    404    401
private thread   leave     204    204    204    404    404    404    404    404    401
private thread   add       201    201    201    404    404    404    404    404    401
private thread   remove    204    403    403    404    404    404    404    404    401
private thread   rename    200    403    403    404    404    404    404    404    401
private thread   hide      400    403    403    404    404    404    404    404    401
private thread   archive   200    403    403    404    404    404    404    404    401
private thread   restore   200    403    403    404    404    404    404    404    401

task             see       200    200    200    200    200    200    404    404    401
task             history   200    200    200    200    200    200    404    404    401
task             people    200    200    200    200    200    200    404    404    401
task             post      201    201    201    201    201    201    404    404    401
task             join      201    201    201    201    201    201    404    404    401
task             leave     204    204    204    204    204    204    404    404    401
task             add       201    201    201    201    201    201    404    404    401
task             remove    204    403    403    204    403    403    404    404    401
task             rename    400    403    403    400    403    403    404    404    401
task             hide      400    403    403    400    403    403    404    404    401
task             archive   200    403    403    200    403    403    404    404    401
task             restore   200    403    403    200    403    403    404    404    401
"""

HEADER, *ROWS = [line.split() for line in TABLE.strip().splitlines() if line.strip()]
WHO = HEADER[2:]
KINDS = list(dict.fromkeys(" ".join(row[: -len(WHO) - 1]) for row in ROWS))


def cells(kind: str) -> Iterator[tuple[str, str, int]]:
    for row in ROWS:
        *named, verb = row[: -len(WHO)]
        if " ".join(named) == kind:
            for who, status in zip(WHO, row[-len(WHO) :], strict=True):
                yield verb, who, int(status)


class Stage:
    """One cast for all cells of a kind of scope; scopes are opened as the cells need them."""

    IN = ("owner", "member", "bot", "gone", "victim")

    def __init__(self, kind: str) -> None:
        self.kind, self.opened = kind, 0
        self.world = World(
            "boss", "owner", "member", "other", "gone", "newbie", "victim", agents=("bot", "robot"), strangers=("else",)
        )
        self.world.call("else", "POST", "/workspaces", {"slug": f"else-{self.world.tag}", "name": "Elsewhere"}).ok()
        self.boss = self.world.user["boss"]
        self.shared: Scope | None = None

    def scope(self) -> Scope:
        """A fresh one. `gone` is made a member again for it, and then loses that."""
        self.opened += 1
        world, name = self.world, f"s{self.opened}"
        private = self.kind.startswith("private")
        if self.kind.endswith("channel"):
            return world.channel(name, *self._present(), private=private)
        if self.kind == "dm":
            # A DM is one per set of people, so each gets an extra of its own.
            extra = world.add(f"extra{self.opened}")
            return world.dm(name, *self._present(), extra)
        if self.kind == "conversation":
            return world.conversation(name, *self._present())
        if self.kind == "process":
            return self._made(world.conversation(name, *self._present()), ScopeType.CONVERSATION)
        if self.kind.endswith("thread"):
            return self._thread(world.channel(name, *self._present(), "newbie", private=private))
        return self._made(None, ScopeType.TASK)

    def _present(self) -> list[str]:
        return [name for name in self.IN if self.world.member[name].active]

    def _made(self, parent: Scope | None, kind: ScopeType) -> Scope:
        actor = {"actor_kind": "operator", "actor_key": "bot"} if parent else {}
        members = [] if parent else [self.world.member["victim"]]
        with transaction.atomic():
            scope, _ = create_scope(
                self.world.member["owner"], members, type=kind, name="made", parent_scope=parent, **actor
            )
        return scope

    def _thread(self, channel: Scope) -> Scope:
        self.world.scope["around"] = channel
        root = verbs.post(self.world, "owner", "around")
        thread = verbs.thread(self.world, "owner", root, "thread")
        with transaction.atomic():
            begin_memberships(lock_scope(self.world.id, thread.id), [self.world.member["victim"]])
        return thread

    def play(self, verb: str, who: str) -> int:
        world = self.world
        if verb in ("see", "history", "people"):
            self.shared = self.shared or self.scope()
            scope = self.shared
        else:
            scope = self.scope()
        if verb == "restore":
            Scope.objects.filter(id=scope.id).update(status="archived")
        at = f"/conversations/{scope.id}"
        caller = None if who == "anon" else who
        own = world.member[who].id if who in world.member else world.member["other"].id
        calls = {
            "see": ("GET", at, None),
            "history": ("GET", f"{at}/messages", None),
            "people": ("GET", f"{at}/members", None),
            "post": ("POST", f"{at}/messages", {"text": "hello"}),
            "join": ("POST", f"{at}/members", {}),
            "leave": ("DELETE", f"{at}/members/{own}", None),
            "add": ("POST", f"{at}/members", {"member_id": world.member["newbie"].id}),
            "remove": ("DELETE", f"{at}/members/{world.member['victim'].id}", None),
            "rename": ("PATCH", at, {"name": f"renamed {self.opened}"}),
            "hide": ("PATCH", at, {"visibility": Visibility.PUBLIC if "private" in self.kind else Visibility.PRIVATE}),
            "archive": ("POST", f"{at}/archive", None),
            "restore": ("POST", f"{at}/restore", None),
        }
        return world.call(caller, *calls[verb]).status


@pytest.mark.parametrize("kind", KINDS)
def test_who_may_what(kind: str) -> None:
    stage = Stage(kind)
    stage.shared = stage.scope()
    deactivate_member(user=stage.boss, workspace_id=stage.world.id, member_id=stage.world.member["gone"].id)
    stage.world.member["gone"].status = "deactivated"
    wrong = [
        f"{verb} by {who}: {status} instead of {expected}"
        for verb, who, expected in cells(kind)
        if (status := stage.play(verb, who)) != expected
    ]
    assert not wrong, "\n".join(wrong)


def test_the_table_is_complete() -> None:
    assert len(KINDS) == 8
    assert {len(list(cells(kind))) for kind in KINDS} == {12 * len(WHO)}
