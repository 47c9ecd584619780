"""Django users: people, who log in, and service accounts, which have no usable password and use tokens."""

from __future__ import annotations

import secrets

from django.contrib.auth.models import User
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from ..errors import Conflict, InvalidRequest


def ensure_user(*, username: str, service: bool = False) -> User:
    """The user of that name, made if needed. A person made here can log in once a password is set.

    `Conflict` where `service` asks for a service account and the name is a person's.
    """
    found = _find(username) or _create(username, service)
    if service and found.has_usable_password():
        raise Conflict(f"{username} is a person, not a service account.")
    return found


def set_user_password(*, username: str, password: str) -> User:
    """Make the person if needed and let them log in with this password."""
    user = ensure_user(username=username)
    if not user.has_usable_password():
        raise Conflict(f"{username} is a service account; it has tokens, not a password.")
    try:
        validate_password(password, user)
    except ValidationError as error:
        raise InvalidRequest(" ".join(error.messages), password=error.messages) from None
    user.set_password(password)
    user.save(update_fields=["password"])
    return user


def _find(username: str) -> User | None:
    return User.objects.filter(username=username).first()


def _create(username: str, service: bool) -> User:
    user = User(username=username)
    if service:
        user.set_unusable_password()
    else:
        user.set_password(secrets.token_urlsafe(32))
    try:
        user.full_clean(exclude=["password"])
        with transaction.atomic():
            user.save()
    except ValidationError as error:
        if (raced := _find(username)) is not None:
            return raced
        raise InvalidRequest(" ".join(error.messages), username=username[:150]) from None
    except IntegrityError:
        if (raced := _find(username)) is None:
            raise
        return raced
    return user
