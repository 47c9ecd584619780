from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from conversations.errors import Refusal
from conversations.importing.errors import BrokenExport
from conversations.importing.slack import WorkspaceBusy, import_slack

_SLUG = re.compile(r"[A-Za-z0-9_-]{1,64}")


class Command(BaseCommand):
    help = (
        "Imports a Slack export into a workspace as history that everybody has read; a second run adds nothing. "
        "The archive is checked as a whole before the first write."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("export", type=Path, help="the zip file that Slack gave")
        parser.add_argument("--workspace", required=True, metavar="SLUG", help="made where it is missing")

    def handle(self, *args: Any, **options: Any) -> None:
        if not _SLUG.fullmatch(options["workspace"]):
            raise CommandError("--workspace: letters, digits, - and _ only, at most 64 of them")
        try:
            report = import_slack(options["export"], options["workspace"], self.stderr._out)
        except (BrokenExport, WorkspaceBusy) as refused:
            raise CommandError(str(refused)) from None
        except Refusal as refusal:
            raise CommandError(f"{refusal.message} What was written so far stays; run it again to go on.") from None
        for line in report.lines():
            self.stdout.write(line)
