"""Bearer tokens of programs: shown once, stored hashed, revoked for ever."""

from __future__ import annotations

import secrets
from uuid import UUID

from django.contrib.auth.models import AbstractBaseUser
from django.utils import timezone

from ..errors import NotFound
from ..models import ApiToken
from ..models.token import token_digest

PREFIX = "loopd_"
"""Makes a leaked token easy to find by scanners."""


def create_token(*, user: AbstractBaseUser, label: str = "") -> str:
    """A new token of a user. This is the only time that it can be read."""
    token = PREFIX + secrets.token_urlsafe(32)
    ApiToken.objects.create(user_id=user.pk, digest=token_digest(token), label=label)
    return token


def revoke_token(*, token_id: UUID) -> bool:
    """The token is refused from now on; False where it was revoked before."""
    if ApiToken.objects.filter(id=token_id, revoked_at=None).update(revoked_at=timezone.now()):
        return True
    if not ApiToken.objects.filter(id=token_id).exists():
        raise NotFound("There is no such token.")
    return False
