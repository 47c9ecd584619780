"""The commands that make people and tokens."""

from __future__ import annotations

import secrets
from io import StringIO
from typing import Any

import pytest
from django.contrib.auth import authenticate
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client

from conversations.actions.tokens import create_token, revoke_token
from conversations.errors import NotFound
from conversations.ids import new_id
from conversations.models import ApiToken
from tests.world import World


def run(*args: str, **options: Any) -> str:
    out = StringIO()
    call_command(*args, stdout=out, **options)
    return out.getvalue()


def fresh_name() -> str:
    return f"u-{secrets.token_hex(4)}"


def status_with(token: str) -> int:
    return Client().get("/v1/me", headers={"Authorization": f"Bearer {token}"}).status_code


def test_create_token_makes_the_person_and_prints_the_token_alone() -> None:
    name = fresh_name()
    first, second = (run("create_token", name, label="laptop") for _ in range(2))
    assert first.count("\n") == 1
    assert first.strip().split() == [first.strip()]
    assert first != second
    assert status_with(first.strip()) == status_with(second.strip()) == 200
    user = User.objects.get(username=name)
    assert user.has_usable_password()
    assert authenticate(username=name, password="") is None
    assert list(ApiToken.objects.filter(user=user).values_list("label", flat=True)) == ["laptop", "laptop"]
    assert not ApiToken.objects.filter(digest__contains=first.strip()).exists()


def test_a_service_account_has_no_password_and_stays_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", StringIO("correct horse\n"))
    name = fresh_name()
    token = run("create_token", name, "--service").strip()
    assert Client().get("/v1/me", headers={"Authorization": f"Bearer {token}"}).json()["user"]["service"] is True
    run("create_token", name)
    with pytest.raises(CommandError, match="service account"):
        run("create_user", name, "--password-stdin")
    person = fresh_name()
    run("create_token", person)
    with pytest.raises(CommandError, match="is a person"):
        run("create_token", person, "--service")


@pytest.mark.parametrize("name", ["", "two words", "n" * 151, "nul\x00"])
def test_a_bad_username_makes_nobody(name: str) -> None:
    before = User.objects.count()
    with pytest.raises(CommandError):
        run("create_token", name)
    assert User.objects.count() == before


def test_create_user_sets_a_password(monkeypatch: pytest.MonkeyPatch) -> None:
    name = fresh_name()
    for password in ("correct horse", "another battery"):
        monkeypatch.setattr("sys.stdin", StringIO(f"{password}\n"))
        assert name in run("create_user", name, "--password-stdin")
        assert authenticate(username=name, password=password) is not None
    monkeypatch.setattr("sys.stdin", StringIO("short\n"))
    with pytest.raises(CommandError, match="too short"):
        run("create_user", name, "--password-stdin")
    monkeypatch.setattr("sys.stdin", StringIO("correct horse\n"))
    with pytest.raises(CommandError, match="no terminal"):
        run("create_user", name)
    assert authenticate(username=name, password="another battery") is not None


def test_a_revoked_token_is_refused() -> None:
    world = World("ann")
    token = create_token(user=world.user["ann"], label="lost")
    row = ApiToken.objects.get(user=world.user["ann"], label="lost")
    assert status_with(token) == 200
    assert [revoke_token(token_id=row.id), revoke_token(token_id=row.id)] == [True, False]
    assert status_with(token) == 401
    with pytest.raises(NotFound):
        revoke_token(token_id=new_id())
