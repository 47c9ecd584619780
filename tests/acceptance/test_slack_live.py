"""A real team's history imported, then life on top of it: badges move by what is new alone, whatever is run again."""

from __future__ import annotations

import json
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from .servers import Server

pytestmark = pytest.mark.server

EXPORT = Path(__file__).parents[1] / "data" / "slack-export-anonymised.zip"
PATIENCE_S = 15.0
WORKSPACE = "team"


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    home = tmp_path_factory.mktemp("slack") / "home"
    home.mkdir()
    running = Server(home)
    for arguments in (["migrate", "-v0"], ["import_slack", str(EXPORT), "--workspace", WORKSPACE]):
        done = running.manage(*arguments)
        assert done.returncode == 0, done.stderr
    running.start()
    yield running
    running.close()


class Person:
    def __init__(self, server: Server, username: str) -> None:
        self.server, self.token = server, server.token(username)
        listed = server.ask(self.token, "GET", "/workspaces")["items"]
        self.workspace = next(each["id"] for each in listed if each["slug"] == WORKSPACE)

    def conversations(self) -> dict[str, str]:
        path = f"/conversations?workspace_id={self.workspace}&type=channel&limit=200"
        return {each["name"]: each["id"] for each in self.server.ask(self.token, "GET", path)["items"]}

    def badges(self) -> dict[str, int]:
        """Once everything is in: channel name to unread messages."""
        deadline = time.monotonic() + PATIENCE_S
        while True:
            answer = self.server.ask(self.token, "GET", f"/workspaces/{self.workspace}/unread")
            if answer["state"] in ("ready", "snapshot_serving"):
                break
            assert time.monotonic() < deadline, answer
            time.sleep(0.05)
        names = {scope: name for name, scope in self.conversations().items()}
        return {names.get(scope, scope): entry["messages"] for scope, entry in answer["counts"].items()}

    def badges_become(self, expected: dict[str, int]) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while (shown := self.badges()) != expected:
            assert time.monotonic() < deadline, shown
            time.sleep(0.05)

    def post(self, channel: str, text: str) -> dict[str, Any]:
        path = f"/conversations/{self.conversations()[channel]}/messages"
        made: dict[str, Any] = self.server.ask(self.token, "POST", path, {"text": text})
        return made


def members_of(channel: str) -> list[str]:
    """User names of members who did not leave the team."""
    with zipfile.ZipFile(EXPORT) as archive:
        users = {user["id"]: user for user in json.loads(archive.read("users.json"))}
        listed = next(c for c in json.loads(archive.read("channels.json")) if c["name"] == channel)["members"]
    return [users[user]["name"] for user in listed if not users[user]["deleted"]]


def test_live_messages_move_badges_on_top_of_the_history(imported: Server) -> None:
    ann, ben, cat = (Person(imported, name) for name in members_of("general")[:3])
    assert [each.badges() for each in (ann, ben, cat)] == [{}, {}, {}]
    ann.post("general", "good morning")
    ann.post("general", "anybody here?")
    ben.badges_become({"general": 2})
    cat.badges_become({"general": 2})
    ben.post("general", "yes")
    ann.badges_become({"general": 1})
    ben.badges_become({})
    cat.badges_become({"general": 3})


def test_new_messages_stand_behind_the_history(imported: Server) -> None:
    ann = Person(imported, members_of("general")[0])
    page = imported.ask(ann.token, "GET", f"/conversations/{ann.conversations()['general']}/messages?limit=5")
    texts = [item["content"]["blocks"][0]["content"] for item in page["items"]]
    assert texts[-3:] == ["good morning", "anybody here?", "yes"]
    assert page["has_more_before"] is True


def test_an_import_beside_the_running_server_is_refused_by_its_name(imported: Server) -> None:
    refused = imported.manage("import_slack", str(EXPORT), "--workspace", WORKSPACE)
    assert refused.returncode != 0
    assert "|server owns it; stop that process first" in refused.stderr
    assert "Traceback" not in refused.stderr


def test_a_second_import_adds_nothing_and_keeps_the_badges(imported: Server) -> None:
    cat = Person(imported, members_of("general")[2])
    cat.badges_become({"general": 3})
    imported.stop()
    again = imported.manage("import_slack", str(EXPORT), "--workspace", WORKSPACE)
    assert again.stdout.startswith("Added: nothing."), again.stdout + again.stderr
    imported.start()
    cat.badges_become({"general": 3})


def test_a_later_export_leaves_everybodys_unread_as_it_was(imported: Server, tmp_path: Path) -> None:
    """History grows under the live messages; what was unread stays unread, what was read stays read, and both go on."""
    ann, ben, cat = (Person(imported, name) for name in members_of("general")[:3])
    before = [each.badges() for each in (ann, ben, cat)]
    assert before == [{"general": 1}, {}, {"general": 3}]
    imported.stop()
    later = tmp_path / "later.zip"
    with zipfile.ZipFile(EXPORT) as old, zipfile.ZipFile(later, "w") as new:
        for name in old.namelist():
            new.writestr(name, old.read(name))
        user = json.loads(old.read("users.json"))[0]["id"]
        said = [
            {"type": "message", "user": user, "text": f"later {n}", "ts": f"1470000{n:03}.000100"} for n in range(40)
        ]
        new.writestr("general/2016-08-01.json", json.dumps(said))
    done = imported.manage("import_slack", str(later), "--workspace", WORKSPACE)
    assert done.stdout.startswith("Added: 40 messages."), done.stdout + done.stderr
    imported.start()
    assert [each.badges() for each in (ann, ben, cat)] == before
    ben.post("general", "one more")
    ann.badges_become({"general": 2})
    ben.badges_become({})
    cat.badges_become({"general": 4})
    cat.server.ask(cat.token, "PUT", f"/conversations/{cat.conversations()['general']}/read", {})
    cat.badges_become({})


def test_a_replay_is_live_traffic_from_its_authors(imported: Server) -> None:
    """Into a workspace of its own, over HTTP, while the server runs; its tokens are worth nothing afterwards."""
    done = imported.manage(
        *("import_slack", str(EXPORT), "--workspace", "again", "--url", f"http://127.0.0.1:{imported.port}"),
        *("--replay-speed", "100000000", "--max-gap", "0.001", "--limit", "150"),
    )
    assert done.returncode == 0, done.stderr
    played = int(done.stdout.split("Played: ")[1].split()[0])
    assert played > 30
    unknown = imported.manage("shell", "-c", _COUNT_OPEN_TOKENS)
    assert unknown.stdout.strip().splitlines()[-1] == f"0 {played}"


_COUNT_OPEN_TOKENS = """
from conversations.models import ApiToken, Message
live = Message.objects.filter(scope__workspace__slug="again", silent=False)
print(ApiToken.objects.filter(label="slack replay", revoked_at=None).count(), live.count())
"""
