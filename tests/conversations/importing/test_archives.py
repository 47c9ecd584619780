"""A broken, hostile or foreign archive is refused with a message that says what is wrong, and nothing is written."""

from __future__ import annotations

import io
import json
import secrets
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.core.management import CommandError, call_command

from conversations.importing import archive, inspection
from conversations.models import Workspace

from .exports import START_S, small_team, write_zip

Files = dict[str, bytes]


def refusal(path: Path) -> str:
    """The message with which the command refuses; proves that no row was written."""
    slug, users = f"w-{secrets.token_hex(4)}", get_user_model().objects.count()
    with pytest.raises(CommandError) as refused:
        call_command("import_slack", path, workspace=slug, stdout=io.StringIO(), stderr=io.StringIO())
    assert not Workspace.objects.filter(slug=slug).exists()
    assert get_user_model().objects.count() == users
    return str(refused.value)


def changed(**files: Any) -> Files:
    """The small team's files with some replaced, their names with `__` for `/` and `_json` at the end."""
    named = {name.replace("__", "/").replace("_json", ".json"): body for name, body in files.items()}
    return {**small_team().files(), **{name: json.dumps(body).encode() for name, body in named.items()}}


def without(name: str) -> Files:
    return {each: body for each, body in small_team().files().items() if each != name}


MESSAGE = {"type": "message", "user": "U1", "text": "x", "ts": f"{START_S}.000100"}

BROKEN: dict[str, tuple[Callable[[], Files], str]] = {
    "no users": (lambda: {k: v for k, v in small_team().files().items() if k != "users.json"}, "no users.json"),
    "no channels": (
        lambda: {k: v for k, v in small_team().files().items() if k != "channels.json"},
        "no channels.json",
    ),
    "not JSON": (lambda: {**small_team().files(), "users.json": b"[{"}, "users.json is not JSON"),
    "not UTF-8": (lambda: {**small_team().files(), "users.json": b'["\xff\xfe"]'}, "users.json is not JSON"),
    "not a number": (lambda: {**small_team().files(), "users.json": b"[NaN]"}, "NaN is not a JSON number"),
    "too deep": (lambda: {**small_team().files(), "users.json": b"[" * 100_000}, "users.json is not JSON"),
    "huge number": (lambda: {**small_team().files(), "users.json": b"[" + b"9" * 10_000 + b"]"}, "is not JSON"),
    "users are an object": (lambda: changed(users_json={}), "users.json must hold a list"),
    "a user is a number": (lambda: changed(users_json=[7]), "users.json, user 1: must be an object, not a number"),
    "a user without id": (lambda: changed(users_json=[{"name": "x"}]), "user 1: id '' is not an id"),
    "the same user twice": (lambda: changed(users_json=[{"id": "U1"}, {"id": "U1"}]), "the id U1 twice"),
    "members are text": (
        lambda: changed(channels_json=[{"id": "C1", "name": "x", "members": "U1"}]),
        "channel 1: members must be a list, not a string",
    ),
    "a channel named like a path": (
        lambda: changed(channels_json=[{"id": "C1", "name": "../x"}]),
        "name '../x' is not a channel's name",
    ),
    "two channels of one name": (
        lambda: changed(channels_json=[{"id": "C1", "name": "x"}, {"id": "C2", "name": "x"}]),
        "Two channels are named 'x'",
    ),
    "a day that is an object": (
        lambda: changed(**{"general__2023-11-14_json": {}}),
        "must hold a list",
    ),
    "a message without time": (
        lambda: changed(**{"general__2023-11-14_json": [{**MESSAGE, "ts": None}]}),
        "general/2023-11-14.json, message 1: ts 'None' is not a timestamp",
    ),
    "a time that is a number": (lambda: changed(**{"general__2023-11-14_json": [{**MESSAGE, "ts": 1.5}]}), "timestamp"),
    "a time in the year 3000": (
        lambda: changed(**{"general__2023-11-14_json": [{**MESSAGE, "ts": "9999999999.0"}]}),
        "not a time between 1970 and 2100",
    ),
    "text that is a list": (
        lambda: changed(**{"general__2023-11-14_json": [MESSAGE, {**MESSAGE, "text": ["x"]}]}),
        "message 2: text must be a string, not a list",
    ),
    "reactions without names": (
        lambda: changed(**{"general__2023-11-14_json": [{**MESSAGE, "reactions": ["+1"]}]}),
        "a reaction: must be an object, not a string",
    ),
    "files that are text": (
        lambda: changed(**{"general__2023-11-14_json": [{**MESSAGE, "files": "x"}]}),
        "files must be a list",
    ),
    "another kind of record": (
        lambda: changed(**{"general__2023-11-14_json": [{**MESSAGE, "type": "event"}]}),
        "type 'event' is not 'message'",
    ),
    "a path upwards": (lambda: {**small_team().files(), "../users.json": b"[]"}, "which no export has"),
    "an absolute path": (lambda: {**small_team().files(), "/etc/passwd": b"[]"}, "which no export has"),
    "a drive letter": (lambda: {**small_team().files(), "C:/users.json": b"[]"}, "which no export has"),
    "a backslash": (lambda: {**small_team().files(), "general\\x.json": b"[]"}, "which no export has"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_export_is_refused_with_its_place(name: str, tmp_path: Path) -> None:
    files, message = BROKEN[name]
    assert message in refusal(write_zip(tmp_path / "export.zip", files()))


def test_what_is_no_zip_is_refused(tmp_path: Path) -> None:
    text, whole = tmp_path / "x.txt", small_team().write(tmp_path / "whole.zip")
    text.write_text("hello")
    cut = tmp_path / "cut.zip"
    cut.write_bytes(whole.read_bytes()[:-200])
    assert "not a zip archive" in refusal(text)
    assert "not a zip archive" in refusal(cut)
    assert "No such file" in refusal(tmp_path / "none.zip")
    assert "not a file" in refusal(tmp_path)


def test_damage_inside_is_found_before_anything_is_written(tmp_path: Path) -> None:
    """The last file read is the one whose bytes were flipped."""
    path = small_team().write(tmp_path / "export.zip")
    with zipfile.ZipFile(path) as whole:
        entry = max(whole.infolist(), key=lambda each: each.filename if "users" not in each.filename else "")
    raw = bytearray(path.read_bytes())
    raw[entry.header_offset + 30 + len(entry.filename) + 8] ^= 0xFF
    path.write_bytes(raw)
    assert f"{entry.filename} is " in refusal(path)


def test_a_symbolic_link_is_refused(tmp_path: Path) -> None:
    path = small_team().write(tmp_path / "export.zip")
    link = zipfile.ZipInfo("general/link.json")
    link.external_attr = 0o120777 << 16
    with zipfile.ZipFile(path, "a") as whole:
        whole.writestr(link, "/etc/passwd")
    assert "symbolic link" in refusal(path)


def test_an_encrypted_archive_says_what_to_do(tmp_path: Path) -> None:
    path = small_team().write(tmp_path / "export.zip")
    raw = path.read_bytes()
    for signature, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        where = raw.find(signature)
        raw = raw[: where + at] + bytes([raw[where + at] | 1]) + raw[where + at + 1 :]
    path.write_bytes(raw)
    assert "without a password" in refusal(path)


def test_the_same_name_twice_is_refused(tmp_path: Path) -> None:
    path = small_team().write(tmp_path / "export.zip")
    with pytest.warns(UserWarning, match="Duplicate name"), zipfile.ZipFile(path, "a") as whole:
        whole.writestr("users.json", "[]")
    assert "'users.json' twice" in refusal(path)


def test_a_bomb_is_refused_by_what_it_unpacks_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bomb = {**small_team().files(), "general/2023-11-16.json": b"[" + b" " * 3_000_000 + b"]"}
    path = write_zip(tmp_path / "export.zip", bomb)
    assert path.stat().st_size < 20_000
    monkeypatch.setattr(archive, "MAX_FILE_BYTES", 2_000_000)
    assert "unpacks to 3000002 bytes; at most 2000000" in refusal(path)
    monkeypatch.setattr(archive, "MAX_FILE_BYTES", 4_000_000)
    monkeypatch.setattr(archive, "MAX_TOTAL_BYTES", 3_000_000)
    assert "at most 3000000 are read" in refusal(path)


def test_a_bomb_that_lies_about_its_size_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    body = b"[" + b" " * 3_000_000 + b"]"
    path = write_zip(tmp_path / "export.zip", {"general/2023-11-16.json": body, **small_team().files()})
    raw = path.read_bytes().replace(len(body).to_bytes(4, "little"), (100).to_bytes(4, "little"))
    path.write_bytes(raw)
    monkeypatch.setattr(archive, "MAX_FILE_BYTES", 2_000_000)
    assert "general/2023-11-16.json is " in refusal(path)


def test_counts_have_bounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = small_team().write(tmp_path / "export.zip")
    for module, name, bound in (
        (archive, "MAX_ENTRIES", 3),
        (archive, "MAX_ARCHIVE_BYTES", 100),
        (inspection, "MAX_USERS", 2),
        (inspection, "MAX_CHANNELS", 1),
        (inspection, "MAX_MESSAGES_PER_FILE", 3),
        (inspection, "MAX_MESSAGES", 3),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(module, name, bound)
            assert str(bound) in refusal(path), name
