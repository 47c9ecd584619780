"""`manage.py prepare`: everything between an installed environment and a server that can start; safe to repeat."""

from __future__ import annotations

import fcntl
import hashlib
import os
import socket
import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError, connection

from conversations.errors import Refusal
from loopd import env
from loopd.demo import is_wanted, make_demo

from .demo import shown

_SORTS_IDS_SINCE = ((10, 11, 5), (11, 0, 3), (11, 1, 2))
"""The first good release of each line; later lines are good, earlier ones go up to the first here."""


class Command(BaseCommand):
    help = (
        "Migrates, collects static files, makes the demo workspace on first start, and says where the server will be."
    )
    requires_system_checks: list[str] = []
    requires_migrations_checks = False

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--no-demo", action="store_true", help="make no demo workspace, also on first start")

    def handle(self, *args: Any, **options: Any) -> None:
        host, port = env.listen_address()
        _refuse_taken(host, port)
        with _locked(env.home()):
            _migrate(self)
            _collect_static(self)
            logins = None if options["no_demo"] else _first_start(self)
        named = "localhost" if host in ("0.0.0.0", "::") else f"[{host}]" if ":" in host else host  # noqa: S104
        self.stdout.write(f"loopd: http://{named}:{port}/")
        for line in logins or ():
            self.stdout.write(line)
        self.stdout.flush()


def _first_start(command: BaseCommand) -> list[str] | None:
    """Makes the demo where nothing else is there; what it cannot make must not keep the server from starting."""
    if not is_wanted():
        return None
    try:
        return shown(make_demo())
    except Refusal as refusal:
        command.stderr.write(f"No demo workspace: {refusal.message}")
        return None


def _refuse_taken(host: str, port: int) -> None:
    """A clear word before any work, where somebody listens already; the server's own bind stays the judge."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            other = "8001" if port == 8000 else "8000"
            raise CommandError(
                f"port {port} on {host} cannot be used: {error.strerror}. Stop what listens there, "
                f"or choose another one: PORT={other} bin/run"
            ) from None


@contextmanager
def _locked(home: Path) -> Iterator[None]:
    """Two starts on one home prepare it one after the other."""
    handle = os.open(home, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _migrate(command: BaseCommand) -> None:
    try:
        _refuse_unsorted_ids()
        call_command("migrate", interactive=False, verbosity=0, stdout=command.stdout, stderr=command.stderr)
    except DatabaseError as error:
        target = connection.settings_dict
        where = target["NAME"] if connection.vendor == "sqlite" else f"{target['HOST'] or 'its socket'}"
        raise CommandError(f"the database at {where} cannot be used: {error.args[-1]}") from None


def _refuse_unsorted_ids() -> None:
    """Some MariaDB versions sort the column type of our ids in another order than that of time."""
    mysql = cast(Any, connection)
    if connection.vendor != "mysql" or not mysql.mysql_is_mariadb:
        return
    found = mysql.mysql_version
    first_good = next((good for good in _SORTS_IDS_SINCE if good[:2] >= found[:2]), found)
    if found < first_good:
        raise CommandError(
            f"MariaDB {'.'.join(map(str, found))} sorts ids wrongly; use {'.'.join(map(str, first_good))} or newer"
        )


def _collect_static(command: BaseCommand) -> None:
    """Copies static files anew whenever any source changed, which a signature of the sources tells."""
    stamp = Path(settings.STATIC_ROOT).with_name("static.signature")
    wanted = _signature()
    if stamp.exists() and stamp.read_text() == wanted and Path(settings.STATIC_ROOT).is_dir():
        return
    stamp.unlink(missing_ok=True)
    call_command("collectstatic", interactive=False, clear=True, verbosity=0, stdout=command.stdout)
    stamp.write_text(wanted)


def _signature() -> str:
    digest = hashlib.sha256(sys.version.encode())
    for finder in get_finders():
        for path, storage in finder.list([]):
            seen = os.stat(storage.path(path))  # noqa: PTH116 - one call a file, many files
            digest.update(f"{storage.path(path)}|{seen.st_size}|{seen.st_mtime_ns}\n".encode())
    return digest.hexdigest()
