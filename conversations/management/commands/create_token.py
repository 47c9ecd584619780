from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from conversations.actions.tokens import create_token
from conversations.actions.users import ensure_user
from conversations.errors import Refusal


class Command(BaseCommand):
    help = "Makes a bearer token for a user (made if needed) and prints it, alone, on standard output."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username")
        parser.add_argument("--service", action="store_true", help="a service account: it cannot log in")
        parser.add_argument("--label", default="", help="what the token is for, shown in the admin")

    def handle(self, *args: Any, **options: Any) -> None:
        if len(options["label"]) > 120:
            raise CommandError("--label: at most 120 characters")
        try:
            user = ensure_user(username=options["username"], service=options["service"])
        except Refusal as refusal:
            raise CommandError(refusal.message) from None
        self.stdout.write(create_token(user=user, label=options["label"]))
