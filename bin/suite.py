"""Runs the suite in parts, with the real MariaDB, Redis and Chromium where they answer; `bin/test` calls it.

Prints what could not be had, and pytest's usual closing line (summed over the parts) last. MariaDB is used through a
user and databases of this run alone, which are dropped at the end, also after a failure or a signal.
"""

from __future__ import annotations

import argparse
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit
from xml.etree import ElementTree

PROJECT = Path(__file__).resolve().parent.parent
SOCKETS = ("/run/mysqld/mysqld.sock", "/var/run/mysqld/mysqld.sock", "/tmp/mysql.sock")  # noqa: S108 - where they lie
REDIS = "redis://127.0.0.1:6379"
WORKERS = os.environ.get("LOOPD_TEST_WORKERS", "2")
REQUIRED = {name for name in os.environ.get("LOOPD_TEST_REQUIRE", "").split(",") if name}
OUTCOMES = ("failed", "passed", "skipped", "errors")
AGAIN = ("--reruns", "1", "-rR")
"""Real servers, browsers and races on a busy machine: what fails is tried once more, and listed as "rerun" where that
passed. Each of those is a defect to be found, of the test or of the product."""


class Unavailable(Exception):
    """Why something could not be had."""


@dataclass(frozen=True, slots=True)
class Part:
    """One run of pytest. `needs`: without it the part is left out."""

    name: str
    title: str
    arguments: tuple[str, ...]
    needs: str = ""
    on_mariadb: bool = False


def parts() -> list[Part]:
    """The whole suite; each folder belongs to one part, what is about databases to two."""
    folders = [f"tests/{name}" for name in ("conversations", "unread", "realtime") if _has_tests(f"tests/{name}")]
    files = sorted(str(path.relative_to(PROJECT)) for path in (PROJECT / "tests").glob("test_*.py"))
    without_database = ("tests/test_docs.py", "tests/test_env.py")
    by_database = [*folders, *(name for name in files if name not in without_database)]
    parallel = ("-n", WORKERS)
    found = [
        Part("core", "pure core", ("-c", "tests/core/pytest.ini", "--rootdir", str(PROJECT), "tests/core")),
        Part("sqlite", "SQLite", (*parallel, *folders, *files)),
        Part("mariadb", "MariaDB", (*parallel, *by_database), needs="mariadb", on_mariadb=True),
        Part("browser", "browser", ("tests/web",), needs="chromium"),
        Part("server", "real servers", ("tests/acceptance",)),
        Part("faults", "faults on SQLite", ("tests/faults",)),
        Part("faults-mariadb", "faults on MariaDB", ("tests/faults",), needs="mariadb", on_mariadb=True),
    ]
    return [part for part in found if not part.arguments[-1].startswith("tests") or _has_tests(part.arguments[-1])]


def _has_tests(path: str) -> bool:
    return path.endswith(".py") or any((PROJECT / path).rglob("test_*.py"))


def main() -> int:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--part", default="")
    parser.add_argument("--mariadb", action="store_true")
    options, rest = parser.parse_known_args()
    known = {part.name for part in parts()}
    chosen = {name for name in options.part.split(",") if name}
    if chosen - known:
        sys.exit(
            f"bin/test: there is no part {', '.join(sorted(chosen - known))}; there are {', '.join(sorted(known))}"
        )

    missing: dict[str, str] = {}
    environment = dict(os.environ)
    with ExitStack() as stack:
        database_url = ""
        try:
            database_url = stack.enter_context(mariadb(environment))
        except Unavailable as error:
            missing["mariadb"] = str(error)
        for name, find in (("redis", redis), ("chromium", chromium), ("node", node)):
            try:
                find(environment)
            except Unavailable as error:
                missing[name] = str(error)
        if rest and not chosen:
            return _just(rest, options.mariadb, database_url, environment, missing)
        return _suite(
            [part for part in parts() if not chosen or part.name in chosen], rest, database_url, environment, missing
        )


def _just(
    rest: list[str], on_mariadb: bool, database_url: str, environment: dict[str, str], missing: dict[str, str]
) -> int:
    """What was named, once, with pytest's own output."""
    if on_mariadb and not database_url:
        sys.exit(f"bin/test: no MariaDB: {missing['mariadb']}")
    core = all("tests/core" in word for word in rest if word.startswith("tests"))
    if core and any(word.startswith("tests") for word in rest):
        rest = ["-c", "tests/core/pytest.ini", "--rootdir", str(PROJECT), *rest]
    return _pytest(rest, {**environment, **({"DATABASE_URL": database_url} if on_mariadb else {})})


def _suite(
    wanted: list[Part], rest: list[str], database_url: str, environment: dict[str, str], missing: dict[str, str]
) -> int:
    started, totals, failed = time.monotonic(), Counter[str](), []
    with tempfile.TemporaryDirectory(prefix="loopd-suite-") as folder:
        for part in wanted:
            print(f"\n--- {part.title}", flush=True)
            if part.needs in missing:
                print(f"left out: {missing[part.needs]}")
                continue
            report = Path(folder) / f"{part.name}.xml"
            own = {"DATABASE_URL": database_url} if part.on_mariadb else {}
            if part.name == "faults":  # what only MariaDB can stage is staged in the part after it
                own["LOOPD_TEST_REQUIRE"] = ",".join(sorted(REQUIRED - {"mariadb"}))
            status = _pytest([*part.arguments, *AGAIN, f"--junit-xml={report}", *rest], {**environment, **own})
            if status not in (0, 5):  # 5: nothing was selected here
                failed.append(part.title)
            totals += _counted(report)
    print()
    for name, why in missing.items():
        print(f"not available: {name}: {why}")
    required = sorted(REQUIRED & missing.keys())
    if required:
        print(f"required here and missing: {', '.join(required)} (LOOPD_TEST_REQUIRE)")
    if failed:
        print(f"failed parts: {', '.join(failed)}")
    seconds = time.monotonic() - started
    long = f" ({timedelta(seconds=int(seconds))})" if seconds >= 60 else ""
    counted = [f"{totals[name]} {name}" for name in OUTCOMES if totals[name]] or ["no tests ran"]
    print(f"{', '.join(counted)} in {seconds:.2f}s{long}", flush=True)
    return 1 if failed or required or not totals["passed"] else 0


def _pytest(arguments: list[str], environment: dict[str, str]) -> int:
    running = subprocess.Popen([sys.executable, "-m", "pytest", *arguments], cwd=PROJECT, env=environment)
    try:
        return running.wait()
    except BaseException:  # also SIGTERM and Ctrl-C: pytest cleans up after itself before databases are dropped
        running.send_signal(signal.SIGINT)
        try:
            running.wait(20)
        except subprocess.TimeoutExpired:
            running.kill()
            running.wait()
        raise


def _counted(report: Path) -> Counter[str]:
    if not report.exists():
        return Counter()
    found: Counter[str] = Counter()
    for suite in ElementTree.parse(report).iter("testsuite"):  # noqa: S314 - written by pytest just now
        number = {name: int(suite.get(name, "0")) for name in ("tests", "failures", "errors", "skipped")}
        found["failed"] += number["failures"]
        found["errors"] += number["errors"]
        found["skipped"] += number["skipped"]
        found["passed"] += number["tests"] - number["failures"] - number["errors"] - number["skipped"]
    return found


@contextmanager
def mariadb(environment: dict[str, str]) -> Iterator[str]:
    """The URL of a database of this run's own user; all names begin with one prefix, and all are dropped at the end.

    Tests that need further databases name them `LOOPD_TEST_DATABASE_PREFIX` + `_` + anything.
    """
    try:
        import MySQLdb
    except ImportError:
        raise Unavailable("mysqlclient could not be installed (pkg-config, libmariadb-dev, a C compiler)") from None
    admin, where = _administrator(MySQLdb)
    prefix, password = f"loopd_t_{secrets.token_hex(4)}", secrets.token_urlsafe(18)
    try:
        with admin.cursor() as cursor:
            _drop_what_killed_runs_left(cursor)
            cursor.execute("SET SESSION wait_timeout = 86400")
            cursor.execute(f"DO GET_LOCK('{prefix}', 0)")
            for account in _accounts(prefix):
                cursor.execute(f"CREATE USER {account} IDENTIFIED BY '{password}'")
                cursor.execute(f"GRANT ALL ON `{_pattern(prefix)}`.* TO {account}")
                # Some tests look who waits for whose lock.
                cursor.execute(f"GRANT PROCESS ON *.* TO {account}")
            cursor.execute(f"CREATE DATABASE {prefix}_main CHARACTER SET utf8mb4")
        url = f"mysql://{prefix}:{password}@{where}/{prefix}_main" if "/" not in where else ""
        url = url or f"mysql://{prefix}:{password}@/{prefix}_main?unix_socket={where}"
        environment["LOOPD_TEST_MARIADB_URL"] = url
        environment["LOOPD_TEST_DATABASE_PREFIX"] = prefix
        yield url
    finally:
        admin.close()
        admin, _ = _administrator(MySQLdb)  # the first connection may have been idle for too long
        with admin.cursor() as cursor:
            _drop(cursor, prefix)
        admin.close()


def _accounts(prefix: str) -> list[str]:
    return [f"'{prefix}'@'{host}'" for host in ("localhost", "127.0.0.1", "%")]


def _pattern(prefix: str) -> str:
    return prefix.replace("_", r"\_") + r"\_%"


def _drop(cursor: Any, prefix: str) -> None:
    pattern = _pattern(prefix)
    cursor.execute("SELECT schema_name FROM information_schema.schemata WHERE schema_name LIKE %s", [pattern])
    for (name,) in cursor.fetchall():
        cursor.execute(f"DROP DATABASE IF EXISTS `{name}`")
    for account in _accounts(prefix):
        cursor.execute(f"DROP USER IF EXISTS {account}")


def _drop_what_killed_runs_left(cursor: Any) -> None:
    """A run holds the lock of its prefix as long as it lives, wherever it runs."""
    try:
        cursor.execute("SELECT DISTINCT user FROM mysql.user WHERE user REGEXP '^loopd_t_[0-9a-f]{8}$'")
    except Exception:  # an administrator who may make users and not see all of them
        return
    for (prefix,) in cursor.fetchall():
        cursor.execute(f"SELECT IS_FREE_LOCK('{prefix}')")
        if cursor.fetchone() == (1,):
            _drop(cursor, prefix)


def _administrator(driver: Any) -> tuple[Any, str]:
    """A connection that may make users, and where it leads: `host:port` or the path of a socket."""
    given = os.environ.get("LOOPD_TEST_MARIADB_URL", "")
    tries: list[tuple[dict[str, Any], str]] = []
    if given:
        parsed = urlsplit(given)
        host, port = parsed.hostname or "127.0.0.1", parsed.port or 3306
        account = {"user": unquote(parsed.username or "root"), "password": unquote(parsed.password or "")}
        tries.append(({"host": host, "port": port, **account}, f"{host}:{port}"))
    else:
        tries.append(({"host": "127.0.0.1", "port": 3306, "user": "root"}, "127.0.0.1:3306"))
        tries += [({"unix_socket": path, "user": "root"}, path) for path in SOCKETS if Path(path).exists()]
    reasons = []
    for arguments, where in tries:
        try:
            return driver.connect(connect_timeout=5, charset="utf8mb4", **arguments), where
        except Exception as error:
            reasons.append(f"{where}: {error.args[-1] if error.args else error}")
    raise Unavailable("no MariaDB answers (" + "; ".join(reasons) + ")")


def redis(environment: dict[str, str]) -> None:
    import redis as client

    url = os.environ.get("LOOPD_TEST_REDIS_URL", REDIS)
    try:
        with client.Redis.from_url(url, socket_timeout=5, socket_connect_timeout=5) as connection:
            connection.ping()
    except (client.RedisError, ValueError, OSError) as error:
        environment.pop("LOOPD_TEST_REDIS_URL", None)
        raise Unavailable(f"no Redis answers at {url} ({error})") from None
    environment["LOOPD_TEST_REDIS_URL"] = url


def chromium(environment: dict[str, str]) -> None:
    """`LOOPD_TEST_CHROMIUM`, else the first that the path knows."""
    names = ("chromium", "chromium-browser", "google-chrome")
    found = os.environ.get("LOOPD_TEST_CHROMIUM") or next(filter(None, map(shutil.which, names)), None)
    if not found:
        raise Unavailable("no Chromium is on the path (apt-get install chromium)")
    environment["LOOPD_TEST_CHROMIUM"] = found


def node(environment: dict[str, str]) -> None:
    if not shutil.which("node"):
        raise Unavailable("no Node.js is on the path (apt-get install nodejs); the page's reducer is not tested")


if __name__ == "__main__":
    sys.exit(main())
