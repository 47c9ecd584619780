"""Settings from the environment: read once, validated at start, refused with the variable's name.

Every process (server and `manage.py`) finds its database and secret the same way: `DATABASE_URL`, else SQLite under
`LOOPD_HOME` (default `./.loopd`), where a generated secret key lies too.
"""

from __future__ import annotations

import math
import os
import re
import secrets
import socket
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from uuid import UUID

import environ
from django.core.exceptions import ImproperlyConfigured
from redis.connection import parse_url

BASE_DIR = Path(__file__).resolve().parent.parent
SHORTEST_SECRET = 32
LOG_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
PROFILES = ("all", "workspace", "central")
_DURATION = re.compile(r"(\d+(?:\.\d+)?|\.\d+)(ms|s|m|h)", re.ASCII)
_UNIT_S = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_HOST = re.compile(r"\*|\.?[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*|\[[0-9A-Fa-f:.]+\]")
_ORIGIN = re.compile(r"https?://(\*\.)?[A-Za-z0-9_.-]+(:[0-9]{1,5})?")
_TRUE, _FALSE = {"1", "true", "yes", "on"}, {"0", "false", "no", "off"}

LOCK_WAIT_S = 10
"""For a row that another transaction holds, on MariaDB, MySQL and TiDB; their default would keep threads for 50 s."""
IDLE_TRANSACTION_S = 30
"""After which MariaDB ends the transaction of a process that stands still, with the locks that others wait for."""
_SESSION = (
    f"SET SESSION innodb_lock_wait_timeout = {LOCK_WAIT_S}, sql_mode = CONCAT(@@sql_mode, ',STRICT_TRANS_TABLES')"
    f" /*M!100300 , idle_transaction_timeout = {IDLE_TRANSACTION_S} */"
)

# Connections live as long as the few threads that use them: those of the request pool and the workers.
_KEPT = {"CONN_MAX_AGE": 300, "CONN_HEALTH_CHECKS": True}

env = environ.Env()


def _refuse(name: str, message: str) -> ImproperlyConfigured:
    return ImproperlyConfigured(f"{name}: {message}")


def text(name: str, default: str) -> str:
    return os.environ.get(name, default).strip()


def flag(name: str, default: bool) -> bool:
    """A boolean: 1/true/yes/on or 0/false/no/off."""
    raw = text(name, "1" if default else "0").lower()
    if raw in _TRUE:
        return True
    if raw in _FALSE:
        return False
    raise _refuse(name, f"{raw!r} is not a boolean; use true or false")


def positive_int(name: str, default: int, at_most: int = 2**31 - 1, at_least: int = 1) -> int:
    raw = text(name, str(default))
    if not re.fullmatch(r"[0-9]{1,20}", raw, re.ASCII) or not at_least <= int(raw) <= at_most:
        raise _refuse(name, f"{raw[:40]!r} is not a whole number from {at_least} to {at_most}")
    return int(raw)


def duration_s(name: str, default: str, at_most_s: float = 7 * 24 * 3600) -> float:
    """A positive duration with a unit (`500ms`, `30s`, `5m`, `1h`), in seconds."""
    raw = text(name, default)
    match = _DURATION.fullmatch(raw)
    if not match:
        raise _refuse(name, f"{raw!r} is not a duration; write a positive number with ms, s, m or h, like 30s")
    value = float(match[1]) * _UNIT_S[match[2]]
    if not math.isfinite(value) or not 0 < value <= at_most_s:
        raise _refuse(name, f"{raw!r} must be more than zero and at most {at_most_s:g} s")
    return value


def choice(name: str, default: str, allowed: Sequence[str]) -> str:
    value = text(name, default)
    if value not in allowed:
        raise _refuse(name, f"{value[:40]!r} is not one of {', '.join(allowed)}")
    return value


def listed(name: str) -> list[str]:
    return [item.strip() for item in text(name, "").split(",") if item.strip()]


def hosts(name: str, default: Sequence[str]) -> list[str]:
    """Host names that the site answers to, comma separated; `.example.org` stands for all below, `*` for any."""
    found = listed(name)
    for host in found:
        if not _HOST.fullmatch(host):
            raise _refuse(name, f"{host!r} is not a host name; write example.org, without http:// and port")
    return found or list(default)


def origins(name: str) -> list[str]:
    """Origins like `https://example.org`, comma separated."""
    found = listed(name)
    for origin in found:
        if not _ORIGIN.fullmatch(origin):
            raise _refuse(name, f"{origin!r} is not an origin like https://example.org")
    return found


def home() -> Path:
    """`LOOPD_HOME`, created when missing."""
    path = Path(text("LOOPD_HOME", "") or BASE_DIR / ".loopd").resolve()
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise _refuse("LOOPD_HOME", f"cannot make {path}: {error.strerror}") from None
    if not os.access(path, os.R_OK | os.W_OK | os.X_OK):
        raise _refuse("LOOPD_HOME", f"{path} cannot be written to")
    return path


def listen_address() -> tuple[str, int]:
    """Where the server listens: `LOOPD_HOST` (127.0.0.1), `PORT` (8000)."""
    host = text("LOOPD_HOST", "127.0.0.1")
    try:
        socket.getaddrinfo(host, None, flags=socket.AI_NUMERICHOST)
    except (OSError, UnicodeError):
        raise _refuse("LOOPD_HOST", f"{host!r} is not an IP address; use 127.0.0.1, or 0.0.0.0 for all") from None
    return host, positive_int("PORT", 8000, 65_535)


def secret_key() -> str:
    """`SECRET_KEY`, else one generated once under `LOOPD_HOME`, safe against two processes that start together."""
    given = os.environ.get("SECRET_KEY")
    if given is not None:
        if len(given) < SHORTEST_SECRET:
            raise _refuse("SECRET_KEY", f"must have at least {SHORTEST_SECRET} characters")
        return given
    path = home() / "secret_key"
    if not path.exists():
        draft = path.with_name(f".secret_key.{os.getpid()}")
        draft.touch(mode=0o600)
        draft.write_text(secrets.token_urlsafe(48))
        try:
            os.link(draft, path)
        except FileExistsError:
            pass
        finally:
            draft.unlink()
    found = path.read_text().strip()
    if len(found) < SHORTEST_SECRET:
        raise _refuse("SECRET_KEY", f"the key in {path} is damaged; remove that file, and everybody logs in again")
    return found


def database() -> dict[str, Any]:
    """Django's `DATABASES["default"]`."""
    url = text("DATABASE_URL", "")
    if not url:
        return _sqlite(str(home() / "loopd.sqlite3"))
    scheme = url.split(":", 1)[0]
    if scheme not in ("sqlite", "mysql", "mysql2", "tidb"):
        raise _refuse("DATABASE_URL", f"{scheme[:20]!r} is not supported; use sqlite, mysql (also MariaDB) or tidb")
    if scheme == "tidb" and find_spec("django_tidb") is None:
        raise _refuse(
            "DATABASE_URL", "tidb needs one more package: .venv/bin/python -m pip install 'django-tidb~=5.2.0'"
        )
    try:
        config = dict(env.db_url_config(url, engine="django_tidb" if scheme == "tidb" else None))
    except Exception:  # its text may show the password
        config = {}
    name = str(config.get("NAME") or "")
    if not name or name == ":memory:":
        raise _refuse(
            "DATABASE_URL",
            "cannot be read; write mysql://user:password@host:3306/name, with special characters of the password "
            "percent-encoded, or sqlite:////path/to/file",
        )
    if scheme == "sqlite":
        return _sqlite(str(BASE_DIR / name))
    options = {
        "charset": "utf8mb4",
        "isolation_level": "read committed",
        "init_command": _SESSION,
        **config.get("OPTIONS", {}),
    }
    return {**config, "OPTIONS": options, **_KEPT}


def _sqlite(name: str) -> dict[str, Any]:
    return {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": name,
        "OPTIONS": {
            "timeout": 20,
            "transaction_mode": "IMMEDIATE",
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON;",
        },
        **_KEPT,
    }


def redis_url() -> str:
    """`REDIS_URL`, or an empty string where everything stays in process."""
    url = text("REDIS_URL", "")
    if url:
        try:
            parse_url(url)
        except ValueError:
            raise _refuse("REDIS_URL", "cannot be read; write redis://host:6379/0 (or rediss://, unix://)") from None
    return url


def profile() -> str:
    return choice("LOOPD_PROFILE", "all", PROFILES)


def managed_workspaces() -> frozenset[UUID]:
    """The workspace ids of `LOOPD_MANAGED_WORKSPACES`, comma separated."""
    found = set()
    for item in listed("LOOPD_MANAGED_WORKSPACES"):
        try:
            found.add(UUID(item))
        except ValueError:
            raise _refuse("LOOPD_MANAGED_WORKSPACES", f"{item!r} is not a workspace id") from None
    return frozenset(found)
