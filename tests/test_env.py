"""Settings from the environment: defaults, legal forms, and each illegal value stopping the start by its name."""

from __future__ import annotations

import importlib.util
import os
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured

PROJECT = Path(__file__).resolve().parents[1]
NUMBERS = ["", "0", "-1", "1.5", "ten", "1e3", "0x10", "٣", "9" * 30, " "]
DURATIONS = ["", "0s", "-1s", "30", "30 s", "s", "1d", "1m30s", "inf", "nan", "NaNs", "1e3s", "9" * 400 + "h", "٣s"]
ID = "01890a5d-ac96-774b-bcce-b302099a8057"

ILLEGAL: dict[str, list[str]] = {
    "DEBUG": ["", "maybe", "2"],
    "SECRET_KEY": ["", "short", "x" * 31],
    "ALLOWED_HOSTS": ["http://example.org", "example.org:8000", "a b", "example..org"],
    "CSRF_TRUSTED_ORIGINS": ["example.org", "https://", "ftp://example.org", "https://example.org/path"],
    "DATABASE_URL": [
        "postgres://u:p@h/n",
        "mysql://u:p@h",
        "mysql://u:p@h:port/n",
        "sqlite://",
        "sqlite://:memory:",
        "nonsense",
    ],
    "REDIS_URL": ["localhost:6379", "http://localhost", "redis://h:port"],
    "LOOPD_SECURE_COOKIES": ["", "maybe"],
    "LOOPD_LOG_LEVEL": ["", "debug", "LOUD"],
    "LOOPD_PROFILE": ["", "everything", "All"],
    "LOOPD_MANAGED_WORKSPACES": ["demo", f"{ID},x"],
    "LOOPD_LEASE_TTL": DURATIONS,
    "LOOPD_HTTP_THREADS": [*NUMBERS, "257"],
    "LOOPD_HEARTBEAT": [*DURATIONS, "61m"],
    "LOOPD_STOP_DEADLINE": [*DURATIONS, "11m"],
    "LOOPD_UNREAD_RUNTIME_SNAPSHOT_FLUSH_INTERVAL": DURATIONS,
    "LOOPD_UNREAD_RUNTIME_SNAPSHOT_FLUSH_BATCH_SIZE": [*NUMBERS, "1001"],
    "LOOPD_UNREAD_RUNTIME_HYDRATE_MAX_CONCURRENCY": [*NUMBERS, "65"],
    "LOOPD_UNREAD_RUNTIME_HYDRATE_BATCH_SIZE": [*NUMBERS, "10001"],
    "LOOPD_MESSAGES_PER_SECOND": NUMBERS,
    "LOOPD_MESSAGE_TTL": DURATIONS,
    "MESSAGE_INLINE_BLOCKS": NUMBERS,
    "MESSAGE_INLINE_BYTES": [*NUMBERS, "6225921"],
    "MESSAGE_PART_BYTES": [*NUMBERS, "6291457"],
    "MESSAGE_ROW_BYTES": NUMBERS,
    "MESSAGE_META_BYTES": NUMBERS,
    "MESSAGE_CONTENT_BYTES": NUMBERS,
    "MESSAGE_RESPONSE_BYTES": [*NUMBERS, "6225919"],
}
LISTENING: dict[str, list[str]] = {
    "LOOPD_HOST": ["", "example.org", "127.0.0.1:80", "300.1.1.1"],
    "PORT": [*NUMBERS, "65536", "http"],
}
LEGAL: list[tuple[str, str, str, Any]] = [
    ("DEBUG", "true", "DEBUG", True),
    ("DEBUG", "OFF", "DEBUG", False),
    (
        "ALLOWED_HOSTS",
        "example.org, .example.net,[::1],*",
        "ALLOWED_HOSTS",
        ["example.org", ".example.net", "[::1]", "*"],
    ),
    ("CSRF_TRUSTED_ORIGINS", "https://example.org:8443", "CSRF_TRUSTED_ORIGINS", ["https://example.org:8443"]),
    ("LOOPD_UNREAD_RUNTIME_SNAPSHOT_FLUSH_INTERVAL", "500ms", "LOOPD_UNREAD_RUNTIME_SNAPSHOT_FLUSH_INTERVAL_S", 0.5),
    ("LOOPD_UNREAD_RUNTIME_SNAPSHOT_FLUSH_INTERVAL", "1.5m", "LOOPD_UNREAD_RUNTIME_SNAPSHOT_FLUSH_INTERVAL_S", 90.0),
    ("LOOPD_UNREAD_RUNTIME_SNAPSHOT_FLUSH_INTERVAL", "2h", "LOOPD_UNREAD_RUNTIME_SNAPSHOT_FLUSH_INTERVAL_S", 7200.0),
    ("LOOPD_UNREAD_RUNTIME_HYDRATE_BATCH_SIZE", "250", "LOOPD_UNREAD_RUNTIME_HYDRATE_BATCH_SIZE", 250),
    ("LOOPD_PROFILE", "central", "LOOPD_PROFILE", "central"),
    ("REDIS_URL", "redis://h:6380/2", "REDIS_URL", "redis://h:6380/2"),
    ("MESSAGE_PART_BYTES", "1000", "MESSAGE_PART_BYTES", 1000),
]


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nothing in the environment but a home."""
    for name in [*ILLEGAL, *LISTENING]:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LOOPD_HOME", str(tmp_path / "home"))


def settings() -> ModuleType:
    """The settings module, read anew under another name."""
    spec = importlib.util.spec_from_file_location("loopd.settings_anew", PROJECT / "loopd" / "settings.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in ILLEGAL.items() for value in values])
def test_an_illegal_value_stops_the_start_by_name(name: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if name in ("DATABASE_URL", "REDIS_URL", "ALLOWED_HOSTS", "CSRF_TRUSTED_ORIGINS"):
        assert value, "empty means the default here"
    monkeypatch.setenv(name, value)
    with pytest.raises(ImproperlyConfigured) as refused:
        settings()
    assert str(refused.value).startswith(f"{name}: ")


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in LISTENING.items() for value in values])
def test_an_illegal_address_stops_the_start_by_name(name: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from loopd import env

    monkeypatch.setenv(name, value)
    with pytest.raises(ImproperlyConfigured) as refused:
        env.listen_address()
    assert str(refused.value).startswith(f"{name}: ")


@pytest.mark.parametrize(("name", "value", "setting", "expected"), LEGAL)
def test_legal_forms(name: str, value: str, setting: str, expected: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, value)
    assert getattr(settings(), setting) == expected


def test_a_refusal_shows_no_password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "mysql://user:hush/hush@host:99999999/name")
    with pytest.raises(ImproperlyConfigured) as refused:
        settings()
    assert "hush" not in str(refused.value)


def test_without_anything_sqlite_lies_under_the_home_and_a_secret_is_kept_there(tmp_path: Path) -> None:
    first, again = settings(), settings()
    home = tmp_path / "home"
    assert first.DATABASES["default"]["NAME"] == str(home / "loopd.sqlite3")
    assert len(first.SECRET_KEY) >= 32
    assert first.SECRET_KEY == again.SECRET_KEY == (home / "secret_key").read_text()
    assert (home / "secret_key").stat().st_mode & 0o077 == 0
    assert home.stat().st_mode & 0o077 == 0


def test_a_damaged_secret_is_not_used(tmp_path: Path) -> None:
    settings()
    (tmp_path / "home" / "secret_key").write_text("")
    with pytest.raises(ImproperlyConfigured, match=r"SECRET_KEY: .* is damaged"):
        settings()


def test_a_home_that_cannot_be_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    for place in (tmp_path / "file", tmp_path / "file" / "below"):
        monkeypatch.setenv("LOOPD_HOME", str(place))
        with pytest.raises(ImproperlyConfigured, match="LOOPD_HOME: cannot make"):
            settings()


def test_mysql_gets_what_every_connection_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "mysql://user:p%40ss@db.example.org:3307/loopd?ssl_ca=/ca.pem")
    found = settings().DATABASES["default"]
    assert (found["USER"], found["PASSWORD"], found["HOST"], found["PORT"]) == ("user", "p@ss", "db.example.org", 3307)
    assert found["OPTIONS"]["isolation_level"] == "read committed"
    assert found["OPTIONS"]["charset"] == "utf8mb4"


def test_every_setting_is_tried_here() -> None:
    """Whoever adds a setting adds what is illegal for it."""
    source = (PROJECT / "loopd" / "settings.py").read_text() + (PROJECT / "loopd" / "env.py").read_text()
    reads = r'(?:text|flag|positive_int|duration_s|listed|choice|hosts|origins|environ\.get)\(\s*"([A-Z][A-Z_]+)"'
    known = {*ILLEGAL, *LISTENING, "LOOPD_HOME"}
    assert set(re.findall(reads, source)) == known
    assert not [name for name in os.environ if name.startswith("LOOPD_UNREAD")]
