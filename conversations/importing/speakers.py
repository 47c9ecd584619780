"""The tokens by which authors of an export speak in a replay: made here for the time of it, or given in a file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.contrib.auth import get_user_model
from django.utils import timezone

from ..actions.tokens import create_token
from ..models import ApiToken, Member, Workspace
from .client import Client
from .errors import BrokenExport
from .inspection import Export
from .people import import_people
from .replay import Speaker
from .report import Report

LABEL = "slack replay"
MAX_TOKEN_FILE_BYTES = 16 * 1024**2


@contextmanager
def local_speakers(slug: str, export: Export) -> Iterator[tuple[str, dict[str, Speaker]]]:
    """The workspace's id and a speaker for each active author, with a token that is revoked at the end.

    The workspace and its people are made where they are missing: they are no facts of unread, so that any process may.
    """
    workspace, _ = Workspace.objects.get_or_create(slug=slug, defaults={"name": slug})
    people = import_people(workspace, export, Report())
    members = Member.objects.in_bulk([person.member_id for person in people.values() if person.active])
    users = get_user_model().objects.in_bulk([member.user_id for member in members.values()])
    try:
        speakers = {}
        for slack_id, person in people.items():
            if (member := members.get(person.member_id)) is not None:
                token = create_token(user=users[member.user_id], label=LABEL)
                speakers[slack_id] = Speaker(token, person.username, str(person.member_id))
        yield str(workspace.id), speakers
    finally:
        mine = ApiToken.objects.filter(label=LABEL, user__in=users.values(), revoked_at=None)
        mine.update(revoked_at=timezone.now())


def given_speakers(path: Path, slug: str, client: Client) -> tuple[str, dict[str, Speaker]]:
    """From a JSON object of Slack id to token; asks the server who each of them is."""
    try:
        if path.stat().st_size > MAX_TOKEN_FILE_BYTES:
            raise BrokenExport(f"{path} is too large for a file of tokens.")
        tokens = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise BrokenExport(f"{path} cannot be read: {error}.") from None
    if not isinstance(tokens, dict) or not tokens or not all(isinstance(token, str) for token in tokens.values()):
        raise BrokenExport(f'{path} must hold an object like {{"U123": "loopd_…"}}.')
    first = next(iter(tokens.values()))
    found = [each["id"] for each in client.pages(first, "/workspaces") if each["slug"] == slug]
    if not found:
        raise BrokenExport(f"The first token's user is in no workspace {slug!r}.")
    speakers = {}
    for slack_id, token in tokens.items():
        me = client.call(token, "GET", f"/me?workspace_id={found[0]}")
        speakers[slack_id] = Speaker(token, me["user"]["username"], me["member"]["id"])
    return found[0], speakers
