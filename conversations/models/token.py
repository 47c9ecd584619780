"""Bearer tokens of programs, kept as hashes only."""

from __future__ import annotations

import hashlib

from django.conf import settings
from django.db import models

from ..ids import new_id


def token_digest(token: str) -> str:
    """SHA-256, hexadecimal. Tokens carry 256 random bits, so a slow hash would add nothing."""
    return hashlib.sha256(token.encode()).hexdigest()


class ApiToken(models.Model):
    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="api_tokens")
    digest = models.CharField(max_length=64, unique=True)
    """See `token_digest`; the token itself is nowhere."""
    label = models.CharField(max_length=120, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    last_used_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        db_table = "api_tokens"

    def __str__(self) -> str:
        return self.label or f"token of {self.user_id}"
