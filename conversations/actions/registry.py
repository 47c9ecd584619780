"""The registry of the site: who is here says so, and says it again before a lease runs out."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db import IntegrityError
from django.utils import timezone

from ..errors import Conflict, Forbidden, InvalidRequest
from ..models import Member
from ..models.registry import KINDS, Registered
from ..models.workspace import MemberStatus, Role
from ..transactions import in_transaction

MIN_LEASE_S, MAX_LEASE_S = 5, 3600


@dataclass(frozen=True, slots=True)
class Registration:
    kind: str
    entry: Registered
    created: bool


def register(*, user: Any, kind: str, key: str, name: str, description: str = "", lease_s: int) -> Registration:
    """Be online as an actor for `lease_s` seconds from now, or renew that.

    A service account registers its own actor and roles below it; an admin of a workspace whatever nobody else is
    online as. `Forbidden` for everybody else, `Conflict` while somebody else holds the key.
    """
    if not MIN_LEASE_S <= lease_s <= MAX_LEASE_S:
        raise InvalidRequest(f"lease_s must be from {MIN_LEASE_S} to {MAX_LEASE_S}.", lease_s=lease_s)
    _require_may_be(user, kind, key)
    try:
        return _register(user, kind, key, name, description, lease_s)
    except IntegrityError:  # somebody else was first at this moment
        raise _held(kind, key) from None


def _require_may_be(user: Any, kind: str, key: str) -> None:
    own = list(
        Member.objects.filter(user=user, status=MemberStatus.ACTIVE).values_list("actor_kind", "actor_key", "role")
    )
    if any(kind == k and (key == mine or (key.startswith(f"{mine}/") and key != f"{mine}/")) for k, mine, _ in own):
        return
    if any(k == "user" and role == Role.ADMIN for k, _, role in own):
        return
    raise Forbidden("You may register only your own actor or a role below it.", kind=kind, key=key)


@in_transaction
def _register(user: Any, kind: str, key: str, name: str, description: str, lease_s: int) -> Registration:
    model, now = KINDS[kind], timezone.now()
    said: dict[str, Any] = {"name": name, "description": description, "owner": user}
    said["expires_at"] = now + timedelta(seconds=lease_s)
    entry = model._default_manager.select_for_update().filter(key=key).first()
    if entry is None:
        return Registration(kind, model._default_manager.create(key=key, **said), created=True)
    if entry.owner_id != user.pk and entry.expires_at > now:
        raise _held(kind, key)
    for field, value in said.items():
        setattr(entry, field, value)
    entry.save()
    return Registration(kind, entry, created=False)


def _held(kind: str, key: str) -> Conflict:
    return Conflict(f"Somebody else is online as {kind}/{key}.", kind=kind, key=key)
