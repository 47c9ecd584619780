"""Fresh databases for a benchmark: SQLite always, MariaDB where one answers; gone at the end.

The child process that measures calls `open_database()` first: Django, and the product's own migrations.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent


class NoDatabase(Exception):
    """Why there is none."""


@contextmanager
def sqlite() -> Iterator[dict[str, str]]:
    """The environment in which the product finds a new SQLite file."""
    home = tempfile.mkdtemp(prefix="loopd-bench-")
    try:
        yield {
            "LOOPD_HOME": home,
            "DATABASE_URL": "",
            "LOOPD_MESSAGES_PER_SECOND": "1000000",
            "ALLOWED_HOSTS": "127.0.0.1,testserver",
        }
    finally:
        shutil.rmtree(home, ignore_errors=True)


@contextmanager
def mariadb() -> Iterator[dict[str, str]]:
    """As above with a database of its own on the MariaDB that the suite would use; raises NoDatabase."""
    sys.path.insert(0, str(PROJECT / "bin"))
    try:
        import suite
    finally:
        sys.path.pop(0)
    with sqlite() as environment:
        try:
            opened = suite.mariadb(dict(os.environ))
            url = opened.__enter__()
        except suite.Unavailable as error:
            raise NoDatabase(str(error)) from None
        try:
            yield {**environment, "DATABASE_URL": url}
        finally:
            opened.__exit__(None, None, None)


DATABASES = {"SQLite": sqlite, "MariaDB": mariadb}


def open_database() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "loopd.settings")
    os.environ.setdefault("LOOPD_LOG_LEVEL", "WARNING")
    import django

    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
