"""The demo workspace: a few people who talked before you came, made through the same actions as everything else.

Making it again repeats the same sends under the same keys, which changes nothing. Its accounts carry an e-mail address
under `demo.invalid`; an account that does not is never touched.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from django.contrib.auth import get_user_model
from django.contrib.auth.models import AbstractUser
from django.db import transaction

from conversations.actions.messages import send_message
from conversations.actions.reactions import react
from conversations.actions.scopes import create_channel, open_dm
from conversations.actions.threads import open_thread
from conversations.actions.tokens import create_token
from conversations.actions.users import ensure_user, set_user_password
from conversations.actions.workspace_members import add_member
from conversations.actions.workspaces import create_workspace
from conversations.errors import Conflict
from conversations.models import ApiToken, Member, Message, Scope, Workspace
from conversations.ownership import current_owner
from unread.app import UnreadWorker, unread_app

SLUG = "demo"
PEOPLE = {"ann": "Ann Arbor", "ben": "Ben Nevis", "cat": "Cat Bells"}
"""The first is the workspace's admin, and the one whose token is shown."""
AGENT, AGENT_NAME = "scout", "Scout"
DOMAIN = "demo.invalid"
TOKEN_LABEL = "demo"  # noqa: S105 - a label
STOP_S = 10.0


@dataclass(frozen=True, slots=True)
class Logins:
    """Shown once: neither passwords nor the token can be read again."""

    passwords: dict[str, str]
    token: str


def is_wanted() -> bool:
    """True on a first start, and after one that did not get to its end."""
    return not _is_finished() and not Workspace.objects.exclude(slug=SLUG).exists()


def make_demo(*, new_passwords: bool = False) -> Logins | None:
    """Make what is missing; the logins where they are new. `Conflict` where somebody else has one of the names."""
    users = _accounts()
    with _accounted():
        _fill(users)
    if _is_finished() and not new_passwords:
        return None
    return _open_doors(users)


def _is_finished() -> bool:
    return ApiToken.objects.filter(label=TOKEN_LABEL, user__email=f"{next(iter(PEOPLE))}@{DOMAIN}").exists()


def _accounts() -> dict[str, AbstractUser]:
    """The demo's users by name; none is made where one of the names is taken by somebody else."""
    names = (*PEOPLE, AGENT)
    emails = dict(get_user_model().objects.filter(username__in=names).values_list("username", "email"))
    if foreign := [name for name in names if name in emails and emails[name] != f"{name}@{DOMAIN}"]:
        raise Conflict(f"There is an account {foreign[0]} that is not of the demo; the demo is not made.")
    return {name: _account(name) for name in names}


def _account(name: str) -> AbstractUser:
    user = ensure_user(username=name, service=name == AGENT)
    if not user.email:
        user.email, user.first_name = f"{name}@{DOMAIN}", PEOPLE.get(name, AGENT_NAME)
        user.save(update_fields=["email", "first_name"])
    return user


@contextmanager
def _accounted() -> Iterator[None]:
    """Unread is accounted and flushed as in a server, so that the first page shows what is new."""
    worker = UnreadWorker(unread_app(), current_owner())
    worker.start()
    try:
        yield
    finally:
        worker.stop(STOP_S)
        current_owner().release_all()


@transaction.atomic
def _open_doors(users: dict[str, AbstractUser]) -> Logins:
    passwords = {name: secrets.token_hex(5) for name in PEOPLE}
    for name, password in passwords.items():
        set_user_password(username=name, password=password)
    return Logins(passwords, create_token(user=users[next(iter(PEOPLE))], label=TOKEN_LABEL))


def _fill(users: dict[str, AbstractUser]) -> None:
    ann, ben, cat, scout = (users[name] for name in (*PEOPLE, AGENT))
    workspace = Workspace.objects.filter(slug=SLUG).first()
    if workspace is None:
        workspace = create_workspace(user=ann, slug=SLUG, name="Demo")
    members = {name: _member(workspace, ann, users[name]) for name in users}

    general = _channel(workspace, "general", ann, [members[name] for name in ("ben", "cat", AGENT)])
    _say(general, ann, "Welcome to loopd. Open this page in a second browser, log in as ben there, and write.")
    _say(general, ben, "Hello @ann, here I am.")
    plan = _say(general, cat, "The plan for Friday: freeze at noon, ship at three. Questions in the thread, please.")
    react(user=ben, message_id=plan.id, emoji="thumbsup")
    thread, _ = open_thread(user=ben, message_id=plan.id)
    _say(thread, ben, "Who writes the release notes?")
    _say(thread, cat, "I do. @ann, would you read them?")
    _say(
        general,
        scout,
        content={
            "version": "1.1",
            "biz": "chat",
            "meta": {},
            "blocks": [
                {"id": "text", "type": "text", "content": "The nightly build is green: 1 284 tests, 0 failures."},
                {"id": "log", "type": "link", "title": "Build log", "url": "https://example.org/builds/1284"},
            ],
        },
    )

    design = _channel(workspace, "design", cat, [members["ann"], members["ben"]])
    _say(design, cat, "Two drafts of the sidebar; the second one has the quieter badges.")
    _say(design, ben, "The second one. Numbers should whisper.")

    random = _channel(workspace, "random", ben, [members["ann"], members["cat"]])
    _say(random, ben, "Found a café that plays nothing but rain.")

    lunch, _ = open_dm(user=ben, workspace_id=workspace.id, member_ids=[members["ann"].id])
    _say(lunch, ben, "Lunch at noon?")


def _member(workspace: Workspace, admin: AbstractUser, user: AbstractUser) -> Member:
    found = Member.objects.filter(workspace=workspace, user_id=user.pk).first()
    return found or add_member(
        user=admin,
        workspace_id=workspace.id,
        username=user.username,
        display_name=PEOPLE.get(user.username, AGENT_NAME),
    )


def _channel(workspace: Workspace, name: str, creator: AbstractUser, members: list[Member]) -> Scope:
    found = Scope.objects.filter(workspace=workspace, type="channel", name=name).first()
    ids = [member.id for member in members]
    return found or create_channel(user=creator, workspace_id=workspace.id, name=name, member_ids=ids)


def _say(scope: Scope, user: AbstractUser, text: str | None = None, content: object = None) -> Message:
    """Under a key made of what is said, so that saying it again is a retry."""
    key = f"demo:{scope.id}:{(text or 'build')[:40]}"
    return send_message(user=user, scope_id=scope.id, text=text, content=content, client_message_id=key).message
