from __future__ import annotations

import getpass
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError, CommandParser

from unread.repair.shadows import reconcile_task_shadows


class Command(BaseCommand):
    help = (
        "Writes what task shadows protect into the plain columns, before a version that does not read shadows starts. "
        "Stop every server first. Exits with an error, and writes nothing, where one shadow cannot be reconciled."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--check", action="store_true", help="only say what would be written or refused")
        parser.add_argument("--workspace", type=UUID, metavar="ID", help="of one workspace alone")

    def handle(self, *args: Any, **options: Any) -> None:
        found = reconcile_task_shadows(
            check=options["check"], username=getpass.getuser(), workspace_id=options["workspace"]
        )
        self.stdout.write(f"{found.shadows} shadows, {found.differing} differ, {found.written} written")
        if found.refused:
            raise CommandError(f"{found.refused} stand against it:\n" + "\n".join(found.refusals))
