from __future__ import annotations

import sys
from getpass import getpass
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from conversations.actions.users import set_user_password
from conversations.errors import Refusal


class Command(BaseCommand):
    help = "Sets the password of a person, who is made if needed. Asks for it, or reads one line with --password-stdin."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username")
        parser.add_argument("--password-stdin", action="store_true", help="read the password from standard input")

    def handle(self, *args: Any, **options: Any) -> None:
        password = sys.stdin.readline().rstrip("\r\n") if options["password_stdin"] else self._ask()
        try:
            user = set_user_password(username=options["username"], password=password)
        except Refusal as refusal:
            raise CommandError(refusal.message) from None
        self.stdout.write(f"{user.username} can log in.")

    def _ask(self) -> str:
        if not sys.stdin.isatty():
            raise CommandError("there is no terminal to ask for the password; use --password-stdin")
        password = getpass("Password: ")
        if getpass("Again: ") != password:
            raise CommandError("the two passwords differ")
        return password
