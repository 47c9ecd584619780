"""Who calls: a bearer token of a program, or the browser's session with CSRF."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

from django.contrib.auth.models import AbstractBaseUser
from django.utils import timezone
from rest_framework import authentication, exceptions
from rest_framework.request import Request

from conversations.models import ApiToken
from conversations.models.token import token_digest

_BEARER = re.compile(r"[Bb]earer +([A-Za-z0-9_\-.~+/]{1,200}=*) *")
_TOUCH_EVERY = timedelta(minutes=5)


def user_of_token(token: str) -> tuple[AbstractBaseUser, ApiToken] | None:
    """The active user of a live token. Notes the use at most every five minutes."""
    found = ApiToken.objects.select_related("user").filter(digest=token_digest(token), revoked_at=None).first()
    if found is None or not found.user.is_active:
        return None
    now = timezone.now()
    if found.last_used_at is None or now - found.last_used_at > _TOUCH_EVERY:
        ApiToken.objects.filter(pk=found.pk).update(last_used_at=now)
    return found.user, found


class BearerAuthentication(authentication.BaseAuthentication):
    """First in the list, so that its challenge makes a missing login a 401."""

    def authenticate(self, request: Request) -> tuple[Any, Any] | None:
        header = request.META.get("HTTP_AUTHORIZATION", "")
        if not header:
            return None
        match = _BEARER.fullmatch(header)
        if match is None:
            raise exceptions.AuthenticationFailed("The Authorization header must be: Bearer <token>.")
        found = user_of_token(match[1])
        if found is None:
            raise exceptions.AuthenticationFailed("This token is not valid.")
        return found

    def authenticate_header(self, request: Request) -> str:
        return 'Bearer realm="loopd"'


class SessionAuthentication(authentication.SessionAuthentication):
    """Django's session; unsafe methods need the CSRF token."""
