"""A named cast in a workspace of its own: `world = World("ann", "ben", "cat")`; ann, the first, is its admin.

People, members and tokens are written as rows (a few statements for any number); scopes are opened by the actions, so
that their facts reach whoever listens. Everything is looked up by name: `world.user["ann"]`, `world.member["ann"]`,
`world.channel("x", "ann", "ben")` and from then on `world.scope["x"]`.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

from django.contrib.auth import get_user_model
from django.contrib.auth.models import AbstractUser
from django.test import Client

from conversations.actions.scopes import create_channel, create_conversation, open_dm
from conversations.events import Fact
from conversations.ids import new_id
from conversations.models import ApiToken, Member, Scope, Workspace
from conversations.models.scope import Visibility
from conversations.models.token import token_digest
from conversations.models.workspace import Role
from conversations.publish import subscribe

NO_PASSWORD_YET = "unset$"
"""Usable in Django's sense (a person, not a service account), and matched by no password."""


class World:
    """`agents`: service accounts, each speaking as `operator/<name>`. `strangers` are users of no workspace."""

    def __init__(self, *people: str, agents: tuple[str, ...] = (), strangers: tuple[str, ...] = ()) -> None:
        self.tag = secrets.token_hex(4)
        self.user: dict[str, AbstractUser] = {}
        self.token: dict[str, str] = {}
        self.member: dict[str, Member] = {}
        self.scope: dict[str, Scope] = {}
        self.workspace = Workspace.objects.create(id=new_id(), slug=f"w-{self.tag}", name=f"World {self.tag}")
        self._make_users([*people, *agents, *strangers], services=agents)
        self._make_members([*people, *agents], admin=people[0] if people else "")

    @property
    def id(self) -> UUID:
        return self.workspace.id

    def add(self, *people: str) -> str:
        """More people, who come later; returns the last one's name."""
        self._make_users([*people], services=())
        self._make_members([*people], admin="")
        return people[-1]

    def channel(self, name: str, *members: str, private: bool = False) -> Scope:
        """The first member named opens it."""
        self.scope[name] = create_channel(
            user=self.user[members[0]],
            workspace_id=self.id,
            name=name,
            visibility=Visibility.PRIVATE if private else Visibility.PUBLIC,
            member_ids=[self.member[m].id for m in members[1:]],
        )
        return self.scope[name]

    def dm(self, name: str, *members: str) -> Scope:
        self.scope[name], _ = open_dm(
            user=self.user[members[0]], workspace_id=self.id, member_ids=[self.member[m].id for m in members[1:]]
        )
        return self.scope[name]

    def conversation(self, name: str, *members: str) -> Scope:
        self.scope[name] = create_conversation(
            user=self.user[members[0]],
            workspace_id=self.id,
            name=name,
            member_ids=[self.member[m].id for m in members[1:]],
        )
        return self.scope[name]

    def call(self, who: str | None, method: str, path: str, body: Any = None, **query: Any) -> Answer:
        """One HTTP call under `/v1` by a token (None: nobody), through the whole middleware."""
        headers = {"Authorization": f"Bearer {self.token[who]}"} if who else {}
        given = None if body is None else json.dumps(body, default=str)
        raised = Client(raise_request_exception=False)
        response = raised.generic(
            method,
            f"/v1{path}",
            given or "",
            content_type="application/json",
            headers=headers,
            query_params={k: v for k, v in query.items() if v is not None} or None,
        )
        return Answer(response)

    def _make_users(self, names: list[str], services: tuple[str, ...]) -> None:
        model = get_user_model()
        model.objects.bulk_create(
            model(username=f"{name}-{self.tag}", password="!" if name in services else NO_PASSWORD_YET)
            for name in names
        )
        wanted = [f"{name}-{self.tag}" for name in names]
        made = {user.username: user for user in model.objects.filter(username__in=wanted)}
        self.user |= {name: made[f"{name}-{self.tag}"] for name in names}
        self.token |= {name: secrets.token_urlsafe(24) for name in names}
        ApiToken.objects.bulk_create(
            ApiToken(user_id=self.user[name].pk, digest=token_digest(self.token[name])) for name in names
        )

    def _make_members(self, names: list[str], admin: str) -> None:
        made = {
            name: Member(
                id=new_id(),
                workspace=self.workspace,
                user=self.user[name],
                actor_kind="user" if self.user[name].has_usable_password() else "operator",
                actor_key=name,
                display_name=name.capitalize(),
                role=Role.ADMIN if name == admin else Role.MEMBER,
            )
            for name in names
        }
        Member.objects.bulk_create(made.values())
        self.member |= made


class Answer:
    """An HTTP answer, as a test reads it: `answer.status`, `answer["id"]`, `answer.error`."""

    def __init__(self, response: Any) -> None:
        self.response = response
        self.status: int = response.status_code
        body = response.content
        self.body: Any = json.loads(body) if "json" in response.get("Content-Type", "") and body else None

    def __getitem__(self, key: str) -> Any:
        return self.body[key]

    @property
    def error(self) -> dict[str, Any]:
        return self.body["error"]

    def ok(self) -> Answer:
        assert 200 <= self.status < 300, (self.status, self.body)
        return self

    def __repr__(self) -> str:
        return f"<{self.status} {self.body}>"


@contextmanager
def facts_of(world: World) -> Iterator[list[tuple[Fact, ...]]]:
    """The batches that are published for this workspace inside the block."""
    batches: list[tuple[Fact, ...]] = []

    def listen(batch: Any) -> None:
        if any(fact.workspace_id == world.id for fact in batch):
            batches.append(tuple(batch))

    end = subscribe(listen)
    try:
        yield batches
    finally:
        end()
