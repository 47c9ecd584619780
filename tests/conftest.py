"""Real databases, real commits: each test makes a workspace of its own, so nothing is rolled back or truncated.

The database is the one of `DATABASE_URL` (a fresh, uniquely named one on MariaDB) or a fresh SQLite file, made once per
session and worker. Hooks after a commit therefore run as in production, and threads see each other's rows.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

_home = tempfile.mkdtemp(prefix="loopd-tests-")
atexit.register(shutil.rmtree, _home, ignore_errors=True)
os.environ["LOOPD_HOME"] = _home
os.environ.setdefault("SECRET_KEY", "tests-" + "x" * 40)
os.environ.setdefault("LOOPD_MESSAGES_PER_SECOND", "100000")

REQUIRED = {name for name in os.environ.get("LOOPD_TEST_REQUIRE", "").split(",") if name}


def missing(what: str, why: str) -> None:
    """Skip a test for want of `what`, or fail it where the run requires that (`LOOPD_TEST_REQUIRE`)."""
    if what in REQUIRED:
        pytest.fail(f"{what} is required here: {why}")
    pytest.skip(f"{what} is missing: {why}")


@pytest.fixture(scope="session", autouse=True)
def database(django_test_environment: None, django_db_blocker: Any) -> Iterator[None]:
    """One migrated database of a name of its own for the session and worker, open to every test, no transactions."""
    from django.db import connections
    from django.test.utils import setup_databases, teardown_databases

    worker = os.environ.get("PYTEST_XDIST_WORKER", "main")
    config = connections["default"].settings_dict
    if connections["default"].vendor == "sqlite":
        config["TEST"]["NAME"] = str(Path(_home) / f"test-{worker}.sqlite3")
    else:
        prefix = os.environ.get("LOOPD_TEST_DATABASE_PREFIX", "loopd_test")
        config["TEST"]["NAME"] = f"{prefix}_{os.getpid()}_{worker}"
        config["TEST"]["CHARSET"] = "utf8mb4"
    with django_db_blocker.unblock():
        made = setup_databases(verbosity=0, interactive=False, aliases={"default"}, serialized_aliases=set())
        yield
        connections.close_all()
        teardown_databases(made, verbosity=0)


@pytest.fixture
def on_mariadb() -> None:
    """For tests whose races only a database with row locks can stage."""
    from django.db import connection

    if connection.vendor != "mysql":
        pytest.skip("SQLite has one writer; this race is staged on MariaDB")
