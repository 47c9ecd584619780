"""The people and apps of an export as users and members, made in bulk; found again by ids derived from Slack's.

A person's account has a password that nobody knows: `manage.py create_user` sets one. Accounts that exist are never
taken over, whatever they are called: an archive from elsewhere must not speak in the name of somebody here.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.contrib.auth import get_user_model
from django.contrib.auth.hashers import make_password
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction

from ..ids import derived_id, id_ms
from ..models import Member, Workspace
from ..models.workspace import MemberStatus, Role
from .inspection import Export
from .records import SlackUser
from .report import Report

BATCH = 500
BOT_KIND = "bot"
"""The actor kind of imported apps: service accounts, which are not people and cannot log in."""
MAX_USERNAME_CHARS = 100
_NOT_IN_NAMES = re.compile(r"[^\w.@+-]+", re.ASCII)


@dataclass(frozen=True, slots=True)
class Person:
    """One member that an import knows by its Slack id."""

    member_id: UUID
    username: str
    actor: tuple[str, str]
    active: bool
    made: bool
    """By this run."""


def import_people(workspace: Workspace, export: Export, report: Report) -> dict[str, Person]:
    """Slack id to member. Makes those that are missing, a bounded transaction at a time."""
    wanted = list(_everybody(export))
    found: dict[str, Person] = {}
    for start in range(0, len(wanted), BATCH):
        batch = wanted[start : start + BATCH]
        found |= _present(workspace, [user.id for user in batch])
        missing = [user for user in batch if user.id not in found]
        if missing:
            found |= _make(workspace, missing, report)
    return found


def _everybody(export: Export) -> Iterator[SlackUser]:
    yield from export.users.values()
    for user_id, shown in sorted(export.strangers.items()):
        yield SlackUser(
            id=user_id,
            name=shown or user_id.lower(),
            shown=shown or user_id,
            email="",
            deleted=user_id != "USLACKBOT",
            bot=user_id == "USLACKBOT",
            admin=False,
        )
    for bot_id, shown in sorted(export.bots.items()):
        named = shown or f"app {bot_id}"
        yield SlackUser(id=bot_id, name=named, shown=named, email="", deleted=False, bot=True, admin=False)


def member_id_of(workspace: Workspace, slack_id: str) -> UUID:
    return derived_id(id_ms(workspace.id), "slack member", str(workspace.id), slack_id)


def _present(workspace: Workspace, slack_ids: Sequence[str]) -> dict[str, Person]:
    by_id = {member_id_of(workspace, slack_id): slack_id for slack_id in slack_ids}
    rows = Member.objects.select_related("user").filter(id__in=by_id, workspace=workspace)
    return {by_id[row.id]: _person(row, made=False) for row in rows}


def _person(row: Member, *, made: bool) -> Person:
    return Person(row.id, row.user.username, (row.actor_kind, row.actor_key), row.active, made)


@transaction.atomic
def _make(workspace: Workspace, users: Sequence[SlackUser], report: Report) -> dict[str, Person]:
    accounts = get_user_model()
    names = _free_names(workspace, users)
    unknown = make_password(secrets.token_urlsafe(32))
    accounts.objects.bulk_create(
        accounts(
            username=names[user.id],
            first_name=user.shown[:150],
            email=_email(user.email),
            password=make_password(None) if user.bot else unknown,
        )
        for user in users
    )
    made = {row.username: row for row in accounts.objects.filter(username__in=names.values())}
    members = [
        Member(
            id=member_id_of(workspace, user.id),
            workspace=workspace,
            user=made[names[user.id]],
            actor_kind=BOT_KIND if user.bot else "user",
            actor_key=names[user.id],
            display_name=user.shown[:120].strip() or names[user.id],
            role=Role.ADMIN if user.admin and not user.deleted and not user.bot else Role.MEMBER,
            status=MemberStatus.DEACTIVATED if user.deleted else MemberStatus.ACTIVE,
        )
        for user in users
    ]
    Member.objects.bulk_create(members)
    for user in users:
        report.bots, report.people = report.bots + user.bot, report.people + (not user.bot)
        if names[user.id] != _username(user):
            report.notes[f"the user name {_username(user)} is taken; now {names[user.id]}"] += 1
    return {user.id: _person(row, made=True) for user, row in zip(users, members, strict=True)}


def _free_names(workspace: Workspace, users: Sequence[SlackUser]) -> dict[str, str]:
    """A user name for each that no account has, in any case, and no actor of the workspace."""
    chosen: dict[str, str] = {}
    open_users, attempt = list(users), 0
    taken: set[str] = set()
    while open_users:
        attempt += 1
        tried = {user.id: _candidate(user, attempt) for user in open_users}
        taken |= _taken(workspace, set(tried.values()))
        still_open = []
        for user in open_users:
            name = tried[user.id]
            if name.casefold() in taken:
                still_open.append(user)
            else:
                chosen[user.id] = name
                taken.add(name.casefold())
        open_users = still_open
    return chosen


def _candidate(user: SlackUser, attempt: int) -> str:
    """The name, then with a mark, then with the id that nobody else has, then with numbers."""
    base = _username(user)
    if attempt == 1:
        return base
    if attempt == 2:
        return f"{base}-slack"
    return f"{base}-{user.id.lower()}" + (f"-{attempt - 2}" if attempt > 3 else "")


def _username(user: SlackUser) -> str:
    return _NOT_IN_NAMES.sub("-", user.name.lower()).strip("-.")[:MAX_USERNAME_CHARS] or user.id.lower()


def _taken(workspace: Workspace, names: Iterable[str]) -> set[str]:
    wanted = list(names)
    users = get_user_model().objects.filter(username__in=wanted).values_list("username", flat=True)
    keys = Member.objects.filter(workspace=workspace, actor_key__in=wanted).values_list("actor_key", flat=True)
    return {str(name).casefold() for name in (*users, *keys)}


def _email(address: str) -> str:
    try:
        validate_email(address)
    except ValidationError:
        return ""
    return address if len(address) <= 254 else ""
