from __future__ import annotations

import math
import re
from argparse import ArgumentTypeError
from pathlib import Path
from typing import Any, TextIO, cast

from django.core.management.base import BaseCommand, CommandError, CommandParser

from conversations.errors import Refusal
from conversations.importing.archive import Archive
from conversations.importing.client import CallFailed, Client
from conversations.importing.errors import BrokenExport
from conversations.importing.progress import Progress
from conversations.importing.replay import Replay
from conversations.importing.slack import WorkspaceBusy, import_slack, inspected
from conversations.importing.speakers import given_speakers, local_speakers

_SLUG = re.compile(r"[A-Za-z0-9_-]{1,64}")
MAX_REPLAYED = 1_000_000


class Command(BaseCommand):
    help = (
        "Imports a Slack export into a workspace as history that everybody has read; a second run adds nothing. The "
        "archive is checked as a whole before the first write. With --replay-speed nothing is imported: the messages "
        "are played over HTTP as live traffic from their authors."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("export", type=Path, help="the zip file that Slack gave")
        parser.add_argument("--workspace", required=True, metavar="SLUG", help="made where it is missing")
        replay = parser.add_argument_group("replay")
        replay.add_argument("--replay-speed", type=_positive, metavar="N", help="seconds of history per second")
        replay.add_argument("--url", help="of a running server, like http://127.0.0.1:8000")
        replay.add_argument("--tokens", type=Path, metavar="FILE", help='JSON: {"U123": "token"}; else made here')
        replay.add_argument(
            "--max-gap", type=_positive, default=2.0, metavar="S", help="longest silence, in seconds (2)"
        )
        replay.add_argument("--limit", type=_count, default=10_000, metavar="N", help="messages at most (10000)")
        replay.add_argument("--allow-remote", action="store_true", help="play to another machine, by https")

    def handle(self, *args: Any, **options: Any) -> None:
        if not _SLUG.fullmatch(options["workspace"]):
            raise CommandError("--workspace: letters, digits, - and _ only, at most 64 of them")
        if (options["replay_speed"] is None) != (options["url"] is None):
            raise CommandError("--replay-speed and --url belong together")
        try:
            report = self._replay(**options) if options["url"] else self._import(**options)
        except (BrokenExport, WorkspaceBusy, CallFailed) as refused:
            raise CommandError(str(refused)) from None
        except Refusal as refusal:
            raise CommandError(f"{refusal.message} What was written so far stays; run it again to go on.") from None
        for line in report.lines():
            self.stdout.write(line)

    def _terminal(self) -> TextIO:
        """Standard error without Django's colours and line ends, for the bar."""
        return cast(TextIO, self.stderr._out)

    def _import(self, export: Path, workspace: str, **_: Any) -> Any:
        return import_slack(export, workspace, self._terminal())

    def _replay(self, export: Path, workspace: str, url: str, allow_remote: bool, **options: Any) -> Any:
        output = self._terminal()
        with Client(url, allow_remote=allow_remote) as client, Archive(export) as archive:
            checked = inspected(archive, output)

            def play(workspace_id: str, speakers: Any) -> Any:
                replay = Replay(
                    client,
                    checked,
                    workspace_id,
                    speakers,
                    speed=options["replay_speed"],
                    max_gap_s=options["max_gap"],
                    limit=options["limit"],
                )
                progress = Progress("Playing", min(checked.messages, options["limit"]), output)
                try:
                    return replay.play(archive, progress.advance)
                finally:
                    progress.close()

            if options["tokens"]:
                return play(*given_speakers(options["tokens"], workspace, client))
            with local_speakers(workspace, checked) as (workspace_id, speakers):
                return play(workspace_id, speakers)


def _positive(raw: str) -> float:
    try:
        value = float(raw)
    except ValueError:
        value = math.nan
    if not 0 < value < 1e9:
        raise ArgumentTypeError(f"{raw!r} is not a number above zero")
    return value


def _count(raw: str) -> int:
    if not raw.isascii() or not raw.isdigit() or not 0 < int(raw[:12]) <= MAX_REPLAYED:
        raise ArgumentTypeError(f"{raw!r} is not a whole number from 1 to {MAX_REPLAYED}")
    return int(raw)
