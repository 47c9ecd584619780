"""Slack exports made for tests: a small team with one of everything, and big ones for speed."""

from __future__ import annotations

import json
import zipfile
from collections import defaultdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

START_S = 1_700_000_000
"""14 November 2023, in the evening (UTC)."""


class ExportMaker:
    """Collects users, channels and messages; `write` makes the archive. Times are seconds after `START_S`."""

    def __init__(self) -> None:
        self.users: list[dict[str, Any]] = []
        self.lists: dict[str, list[dict[str, Any]]] = defaultdict(list)
        self.said: dict[str, list[dict[str, Any]]] = defaultdict(list)
        self.extra: dict[str, bytes] = {}

    def user(self, user_id: str, name: str, shown: str = "", **more: Any) -> str:
        self.users.append({"id": user_id, "name": name, "profile": {"display_name": shown or name}, **more})
        return user_id

    def channel(self, channel_id: str, name: str, *members: str, kind: str = "channels", **more: Any) -> str:
        entry = {"id": channel_id, "name": name, "created": START_S, "members": list(members), **more}
        self.lists[f"{kind}.json"].append({key: value for key, value in entry.items() if value != ""})
        return name or channel_id

    def say(self, folder: str, user: str, text: str, at: float, **more: Any) -> str:
        stamp = f"{START_S + int(at)}.{round(at % 1 * 1_000_000):06}"
        message = {"type": "message", "user": user, "text": text, "ts": stamp, **more}
        self.said[folder].append({key: value for key, value in message.items() if value is not None})
        return stamp

    def files(self) -> dict[str, bytes]:
        found: dict[str, Any] = {"users.json": self.users, "channels.json": [], **self.lists}
        for folder, messages in self.said.items():
            days: dict[str, list[dict[str, Any]]] = defaultdict(list)
            for message in messages:
                days[datetime.fromtimestamp(float(message["ts"]), UTC).date().isoformat()].append(message)
            found |= {f"{folder}/{day}.json": said for day, said in days.items()}
        return {**{name: json.dumps(value).encode() for name, value in found.items()}, **self.extra}

    def write(self, path: Path) -> Path:
        return write_zip(path, self.files())


def write_zip(path: Path, files: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, body in files.items():
            archive.writestr(name, body)
    return path


def small_team(tag: str = "") -> ExportMaker:
    """Three people, one who left, one app; a busy channel, a private one, an archived one, a DM; one of everything.

    `tag` is a part of the user names, which are the site's.
    """
    made = ExportMaker()
    made.user("U1", f"ann{tag}", shown="Ann", is_admin=True)
    made.user("U2", f"ben{tag}", shown="Ben")
    made.user("U3", f"cat{tag}", shown="Cat")
    made.user("U4", f"old.timer{tag}", shown="Old Timer", deleted=True)
    made.user("U5", f"helper{tag}", shown="Helper", is_bot=True)
    general = made.channel("C1", "general", "U1", "U2", "U3", is_general=True, creator="U1")
    made.channel("C2", "closed", is_archived=True, creator="U4")
    made.channel("G1", "secret", "U1", "U2", kind="groups")
    made.channel("D1", "", "U1", "U3", kind="dms")

    made.say(general, "U1", "<@U1> has joined the channel", 1, subtype="channel_join")
    root = made.say(
        general, "U1", "Hello <@U2>, see <#C2|closed> &amp; <https://example.org/a?b=1&amp;c=2|the plan>", 10
    )
    made.say(
        general,
        "U2",
        "fixed",
        11.5,
        edited={"user": "U2", "ts": f"{START_S + 40}.000000"},
        reactions=[{"name": "thumbsup::skin-tone-2", "users": ["U1", "U3"]}, {"name": "tada", "users": ["U4"]}],
    )
    made.say(general, "U3", "in the thread", 20, thread_ts=root)
    made.say(general, "U2", "me too, <@U1>", 21, thread_ts=root)
    made.say(general, "U4", "I was here", 30)
    made.say(
        general,
        "U3",
        "the report",
        31,
        subtype="file_share",
        files=[{"title": "Report", "permalink": "https://example.org/r", "mimetype": "application/pdf", "size": 9}],
    )
    made.say(general, "", "deploy done", 32, subtype="bot_message", bot_id="B9", username="deployer")
    made.say(general, "U5", "beep", 33)
    made.say(general, "U1", "pinned", 34, subtype="pinned_item")
    made.say(general, "U2", "<@U2> set the topic", 35, subtype="channel_topic", topic="Work & play")
    made.say(general, "U9", "from a guest", 36, user_profile={"display_name": "Guest"})
    made.say(general, "U1", "next day", 90_000)
    made.say("closed", "U4", "so long", 5)
    made.say("secret", "U1", "psst", 6)
    made.say("D1", "U3", "hi ann", 7)
    return made


def big_team(people: int, channels: int, messages: int, *, replies_every: int = 10) -> ExportMaker:
    """`messages` spread over `channels`, every `replies_every`-th a reply to the message before it."""
    made = ExportMaker()
    ids = [made.user(f"U{n}", f"member{n}") for n in range(people)]
    names = [made.channel(f"C{n}", f"topic-{n}", *ids) for n in range(channels)]
    last: dict[str, str] = {}
    for n in range(messages):
        name = names[n % channels]
        reply = replies_every and n % replies_every == replies_every - 1 and name in last
        stamp = made.say(
            name,
            ids[n * 7 % people],
            f"message {n} with some words for <@{ids[n % people]}>",
            n * 60,
            thread_ts=last.get(name) if reply else None,
        )
        if not reply:
            last[name] = stamp
    return made
