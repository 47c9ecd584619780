"""A database of its own for a real server, on the MariaDB of `LOOPD_TEST_MARIADB_URL`."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import pytest


@contextmanager
def mariadb_database() -> Iterator[str]:
    """The `DATABASE_URL` of a new database, dropped at the end; skips where there is no MariaDB to make it in."""
    from tests.conftest import missing

    given = os.environ.get("LOOPD_TEST_MARIADB_URL", "mysql://root@127.0.0.1:3306/")
    driver = pytest.importorskip("MySQLdb", reason="mysqlclient is missing")
    parts = urlsplit(given)
    arguments: dict[str, Any] = {"user": unquote(parts.username or "root"), "password": unquote(parts.password or "")}
    if socket := parse_qs(parts.query).get("unix_socket"):
        arguments["unix_socket"] = socket[0]
    else:
        arguments |= {"host": parts.hostname or "127.0.0.1", "port": parts.port or 3306}
    try:
        connection = driver.connect(connect_timeout=5, **arguments)
    except driver.Error as error:
        missing("mariadb", str(error))
    name = f"{os.environ.get('LOOPD_TEST_DATABASE_PREFIX', 'loopd_test')}_{secrets.token_hex(4)}"
    try:
        with connection.cursor() as cursor:
            cursor.execute(f"CREATE DATABASE {name} CHARACTER SET utf8mb4")
        yield parts._replace(path=f"/{name}").geturl()
    finally:
        connection.close()
        connection = driver.connect(connect_timeout=5, **arguments)
        with connection.cursor() as cursor:
            cursor.execute(f"DROP DATABASE IF EXISTS {name}")
        connection.close()
