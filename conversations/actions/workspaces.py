"""Workspaces: made and renamed. Any process may do this; nothing here touches unread."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction

from ..access import require_admin, workspace_member
from ..errors import Conflict
from ..events import WorkspaceUpdated
from ..ids import new_id
from ..models import Workspace
from ..models.workspace import Role
from ..publish import publish_on_commit
from .workspace_members import new_member


def create_workspace(*, user: Any, slug: str, name: str) -> Workspace:
    """The caller becomes its admin. `Conflict` where the slug is taken."""
    with transaction.atomic():
        workspace = Workspace(id=new_id(), slug=slug, name=name)
        _save(workspace, force_insert=True)
        new_member(workspace, user, role=Role.ADMIN).save(force_insert=True)
        publish_on_commit([WorkspaceUpdated(workspace.id)])
    return workspace


def update_workspace(*, user: Any, workspace_id: UUID, slug: str | None = None, name: str | None = None) -> Workspace:
    """Admins only."""
    caller = workspace_member(user, workspace_id, needs_owner=False)
    require_admin(caller)
    with transaction.atomic():
        workspace = Workspace.objects.select_for_update().get(id=workspace_id)
        wanted = {"slug": slug, "name": name}
        changed = {key: value for key, value in wanted.items() if value not in (None, getattr(workspace, key))}
        if changed:
            for key, value in changed.items():
                setattr(workspace, key, value)
            _save(workspace, update_fields=list(changed))
            publish_on_commit([WorkspaceUpdated(workspace_id)])
    return workspace


def _save(workspace: Workspace, **how: Any) -> None:
    try:
        with transaction.atomic():
            workspace.save(**how)
    except IntegrityError:
        raise Conflict(f"The slug {workspace.slug!r} is taken.", slug=workspace.slug) from None
