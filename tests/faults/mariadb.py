"""A MariaDB of the test's own: a fresh data directory, a port of its own, stopped, killed and started at will."""

from __future__ import annotations

import contextlib
import getpass
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tests.conftest import missing
from tests.server import free_port, wait_until

INSTALL, DAEMON = "mariadb-install-db", "mariadbd"
START_S, STOP_S = 60.0, 30.0


class PrivateMariaDB:
    def __init__(self, home: Path) -> None:
        self.home, self.port = home, free_port()
        self._process: subprocess.Popen[bytes] | None = None

    def install(self) -> None:
        done = subprocess.run(
            [
                INSTALL,
                "--no-defaults",
                f"--datadir={self.home / 'data'}",
                *_as_me(),
                "--skip-test-db",
                "--skip-name-resolve",
                "--auth-root-authentication-method=normal",
            ],
            capture_output=True,
            text=True,
            timeout=START_S,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-2000:] + done.stdout[-2000:]

    def start(self) -> None:
        options = {
            "datadir": self.home / "data",
            "socket": self.home / "db.sock",
            "pid-file": self.home / "db.pid",
            "bind-address": "127.0.0.1",
            "port": self.port,
            "innodb-buffer-pool-size": "32M",
            "innodb-log-file-size": "16M",
            "innodb-flush-log-at-trx-commit": 2,  # outlives the process, which is all that is killed here
        }
        given = [f"--{name}={value}" for name, value in options.items()]
        with (self.home / "db.log").open("ab") as log:
            self._process = subprocess.Popen(
                [_daemon(), "--no-defaults", "--skip-name-resolve", *_as_me(), *given], stdout=log, stderr=log
            )
        wait_until(self._answers, START_S, lambda: (self.home / "db.log").read_text()[-3000:])

    def stop(self) -> None:
        """Orderly; every connection breaks."""
        assert self._process is not None
        self._process.send_signal(signal.SIGTERM)
        self._process.wait(STOP_S)

    def kill(self) -> None:
        """As in a power cut; what was committed is there after the next start."""
        if self._process is not None and self._process.poll() is None:
            self._process.kill()
            self._process.wait(STOP_S)

    def connect(self, database: str = "") -> Any:
        import MySQLdb

        return MySQLdb.connect(host="127.0.0.1", port=self.port, user="root", db=database, autocommit=True)

    def run(self, database: str, sql: str, parameters: Sequence[Any] = ()) -> Sequence[Sequence[Any]]:
        """One statement on a connection of its own."""
        with (
            contextlib.closing(self.connect(database)) as connection,
            contextlib.closing(connection.cursor()) as cursor,
        ):
            cursor.execute(sql, list(parameters))
            found: Sequence[Sequence[Any]] = cursor.fetchall()
            return found

    def _answers(self) -> bool:
        import MySQLdb

        assert self._process is not None
        assert self._process.poll() is None, (self.home / "db.log").read_text()[-3000:]
        try:
            self.connect().close()
        except MySQLdb.Error:
            return False
        return True


@contextlib.contextmanager
def private_mariadb() -> Iterator[PrivateMariaDB]:
    """Started, with a database `loopd` in it; skips where no MariaDB is installed."""
    if shutil.which(INSTALL) is None or _daemon() == "":
        missing("mariadb", f"{INSTALL} and {DAEMON} are not installed")
    try:
        import MySQLdb  # noqa: F401
    except ImportError:
        missing("mariadb", "mysqlclient is not installed")
    home = Path(tempfile.mkdtemp(prefix="loopd-mariadb-"))
    database = PrivateMariaDB(home)
    try:
        database.install()
        database.start()
        database.run("", "CREATE DATABASE loopd CHARACTER SET utf8mb4")
        yield database
    finally:
        database.kill()
        shutil.rmtree(home, ignore_errors=True)


def _daemon() -> str:
    return shutil.which(DAEMON) or shutil.which(DAEMON, path="/usr/sbin:/usr/local/sbin") or ""


def _as_me() -> list[str]:
    return [f"--user={getpass.getuser()}"]
