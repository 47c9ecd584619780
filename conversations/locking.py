"""Locking for writing: the locking statement also proves that this process still owns the workspace.

Lock order everywhere: lease, run, scope (parent before child, then by id), task, messages by id, membership, setting
and marker rows by id, outbox. The lease is share-locked by a scalar subquery in the locking statement (a join under
FOR UPDATE would make writers of other scopes wait); SQLite has one writer, so there the read in the transaction is
enough.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar
from uuid import UUID

from django.core.exceptions import EmptyResultSet
from django.db import connection
from django.db.models import BigIntegerField, Model, QuerySet
from django.db.models.expressions import RawSQL

from .errors import Misdirected, NotFound
from .models import Message, Scope
from .ownership import current_owner
from .ownership.leases import workspace_resource

Row = TypeVar("Row", bound=Model)


def lock_scopes(workspace_id: UUID, scope_ids: Iterable[UUID]) -> dict[UUID, Scope]:
    """The scopes' fresh rows, locked parent before child and then by id; call inside the action's transaction.

    Raises `Misdirected` where the lease is not ours (any more), `NotFound` where a scope is gone.
    """
    owner = current_owner()
    epoch = owner.require(workspace_id)
    wanted = set(scope_ids)
    parents = dict(Scope.objects.filter(workspace_id=workspace_id, id__in=wanted).values_list("id", "parent_scope_id"))
    if len(parents) != len(wanted):
        raise NotFound("This conversation does not exist.")
    # By having a parent at all, not by whether it is wanted too: the order must be one for every set of scopes.
    order = sorted(wanted, key=lambda scope_id: (parents[scope_id] is not None, scope_id))
    return {scope_id: _lock(workspace_id, scope_id, epoch) for scope_id in order}


def lock_scope(workspace_id: UUID, scope_id: UUID) -> Scope:
    """One scope's fresh row, locked, in one statement; see `lock_scopes`."""
    return _lock(workspace_id, scope_id, current_owner().require(workspace_id))


def lock_message_alone(workspace_id: UUID, message_id: UUID) -> Message | None:
    """One message's fresh row with its content, locked without its scope; None where it is gone.

    For what changes nothing but the message itself: streamed events and expiry. Such a writer may lock nothing else
    afterwards but rows that come later in the lock order.
    """
    epoch = current_owner().require(workspace_id)
    rows = Message.objects.select_for_update().filter(id=message_id).annotate(lease_epoch=_lease(workspace_id))
    message = rows.first()
    if message is not None:
        _require_epoch(workspace_id, message.lease_epoch, epoch)
    return message


def _lock(workspace_id: UUID, scope_id: UUID, epoch: int) -> Scope:
    rows = Scope.objects.select_for_update().filter(id=scope_id, workspace_id=workspace_id)
    scope = rows.annotate(lease_epoch=_lease(workspace_id)).first()
    if scope is None:
        raise NotFound("This conversation does not exist.")
    _require_epoch(workspace_id, scope.lease_epoch, epoch)
    return scope


def _lease(workspace_id: UUID) -> RawSQL:
    share = "" if connection.vendor == "sqlite" else " LOCK IN SHARE MODE"
    return RawSQL(  # noqa: S611 - the only parameter is bound
        f"(SELECT epoch FROM resource_locks WHERE resource = %s{share})",  # noqa: S608
        [workspace_resource(workspace_id)],
        output_field=BigIntegerField(),
    )


def _require_epoch(workspace_id: UUID, found: int | None, held: int) -> None:
    if found != held:
        current_owner().drop(workspace_id, held)
        raise Misdirected("Another process took this workspace over.", workspace_id=str(workspace_id))


def hold(rows: QuerySet[Row]) -> list[Row]:
    """The rows as they are now, share-locked until the transaction ends: they can be read by all and changed by none.

    For facts that a write depends on without owning them, like "is still active in the parent". SQLite's one writer
    needs no lock.
    """
    if connection.vendor == "sqlite":
        return list(rows)
    try:
        statement, parameters = rows.query.sql_with_params()
    except EmptyResultSet:
        return []
    return list(rows.model._default_manager.raw(f"{statement} LOCK IN SHARE MODE", parameters))
