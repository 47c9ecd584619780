"""Two years of a real team, words and people replaced: everything arrives, everything can be read, once."""

from __future__ import annotations

import io
import json
import secrets
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import AbstractUser
from django.core.management import call_command
from django.test import Client

from conversations.actions.tokens import create_token
from conversations.models import Activity, Member, Membership, Message, Scope, Workspace

EXPORT = Path(__file__).parents[2] / "data" / "slack-export-anonymised.zip"
ACTIVITIES = ("channel_join", "channel_leave", "channel_topic", "channel_purpose", "channel_name", "channel_archive")
NOT_IMPORTED = ("pinned_item", "bot_add")


@pytest.fixture(scope="module")
def archive() -> dict[str, Any]:
    """The archive as plain JSON, read here apart from the importer."""
    with zipfile.ZipFile(EXPORT) as whole:
        return {name: json.loads(whole.read(name)) for name in whole.namelist() if name.endswith(".json")}


@pytest.fixture(scope="module")
def workspace(database: None) -> Workspace:
    slug = f"w-{secrets.token_hex(4)}"
    call_command("import_slack", EXPORT, workspace=slug, stdout=io.StringIO(), stderr=io.StringIO())
    return Workspace.objects.get(slug=slug)


def messages_of(archive: dict[str, Any], channel: str) -> list[dict[str, Any]]:
    days = [said for name, said in archive.items() if name.startswith(f"{channel}/")]
    return sorted((message for day in days for message in day), key=lambda message: float(message["ts"]))


def test_every_record_is_accounted_for(archive: dict[str, Any], workspace: Workspace) -> None:
    kinds = Counter(m.get("subtype", "") for name in archive if "/" in name for m in archive[name])
    said = Message.objects.filter(scope__workspace=workspace).count()
    happened = Activity.objects.filter(scope__workspace=workspace).count()
    left_out = sum(kinds[kind] for kind in NOT_IMPORTED)
    assert happened == sum(kinds[kind] for kind in ACTIVITIES)
    assert said + happened + left_out == kinds.total() == 1382


def test_people_and_channels_are_those_of_the_archive(archive: dict[str, Any], workspace: Workspace) -> None:
    assert Member.objects.filter(workspace=workspace).count() == len(archive["users.json"]) == 71
    gone = {user["id"] for user in archive["users.json"] if user["deleted"]}
    wanted = {
        channel["name"]: ("archived" if channel["is_archived"] else "active", len(set(channel["members"]) - gone))
        for channel in archive["channels.json"]
    }
    here = {
        scope.name: (scope.status, Membership.objects.filter(scope=scope, status="active").count())
        for scope in Scope.objects.filter(workspace=workspace, type="channel")
    }
    assert here == wanted
    assert len(here) == 16


def test_every_channel_can_be_read_over_http_from_end_to_end(archive: dict[str, Any], workspace: Workspace) -> None:
    """By an admin of the imported team, page after page, in the order of the archive."""
    admin = Member.objects.select_related("user").filter(workspace=workspace, role="admin")[0]
    reader = Reader(admin.user)
    for channel in archive["channels.json"]:
        scope = Scope.objects.get(workspace=workspace, name=channel["name"])
        expected = [
            message["ts"]
            for message in messages_of(archive, channel["name"])
            if message.get("subtype") not in (*ACTIVITIES, *NOT_IMPORTED)
        ]
        read = reader.history(scope)
        assert [item["client_message_id"].rsplit(":", 1)[1] for item in read] == expected
        assert [item["seq"] for item in read] == list(range(1, len(expected) + 1))
        assert all(item["content"]["blocks"] for item in read)


def test_a_second_import_adds_nothing(workspace: Workspace) -> None:
    def rows() -> list[Any]:
        found: list[Any] = []
        for model, path in (
            (Member, ""),
            (Scope, ""),
            (Membership, "scope__"),
            (Message, "scope__"),
            (Activity, "scope__"),
        ):
            found.append(sorted(model.objects.filter(**{f"{path}workspace": workspace}).values_list(), key=str))
        return found

    before, out = rows(), io.StringIO()
    call_command("import_slack", EXPORT, workspace=workspace.slug, stdout=out, stderr=io.StringIO())
    assert out.getvalue().startswith("Added: nothing.\nHere already: 1380 messages and activities.")
    assert rows() == before


def test_nobody_has_anything_unread(workspace: Workspace) -> None:
    rows = Membership.objects.filter(scope__workspace=workspace).select_related("scope")
    behind = [row for row in rows if row.last_read_seq != row.scope.latest_seq]
    behind += [row for row in rows if row.last_activity_read_seq != row.scope.latest_activity_seq]
    assert rows
    assert behind == []


class Reader:
    """Pages through histories by a token."""

    def __init__(self, user: AbstractUser) -> None:
        self._headers = {"Authorization": f"Bearer {create_token(user=user)}"}

    def history(self, scope: Scope) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        before = None
        while True:
            query = {"limit": "100", **({"before": before} if before else {})}
            response = Client().get(f"/v1/conversations/{scope.id}/messages", query, headers=self._headers)
            assert response.status_code == 200, response.content
            page = response.json()
            found = page["items"] + found
            if not page["has_more_before"]:
                return found
            before = page["items"][0]["id"]
