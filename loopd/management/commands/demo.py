from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from conversations.errors import Misdirected, Refusal
from loopd.demo import PEOPLE, Logins, make_demo


class Command(BaseCommand):
    help = "Makes the demo workspace, or what is missing of it. Shows its logins once."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--new-passwords", action="store_true", help="give its people new passwords, and show them")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            logins = make_demo(new_passwords=options["new_passwords"])
        except Misdirected as refused:
            holder = refused.fields.get("owner")
            raise CommandError(
                f"{refused.message} {f'It is {holder}; stop it first.' if holder else ''}".strip()
            ) from None
        except Refusal as refusal:
            raise CommandError(refusal.message) from None
        for line in shown(logins):
            self.stdout.write(line)


def shown(logins: Logins | None) -> list[str]:
    """The logins as they are printed."""
    if logins is None:
        return [f"The demo is here: log in as {', '.join(PEOPLE)}. New passwords: manage.py demo --new-passwords"]
    lines = ["Demo logins (shown once):"]
    lines += [f"    {name}  {password}" for name, password in logins.passwords.items()]
    return [*lines, f"API token of {next(iter(PEOPLE))} (shown once): {logins.token}"]
