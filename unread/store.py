"""The snapshot table: the only unread SQL, and the only module that names the table.

Writing is one guarded statement per batch. A row replaces another only if its `(owner_epoch, row_version)` is greater,
so a batch that was delayed, repeated or sent by a former owner never undoes newer rows; and the same statement writes
nothing at all once the workspace's lease has moved on. A flush never writes the task shadow columns; `protect` does.

Reading is by key only: pages of one member's rows, or the rows of known scopes. Nothing here counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from conversations.connections import database_unit
from conversations.models import ResourceLock
from conversations.models.scope import ScopeStatus, ScopeType
from conversations.ownership import current_owner
from conversations.ownership.leases import workspace_resource

from .core.ports import HydrateRow, SnapshotRow
from .core.shadow import guarded, served
from .ids import id_of, key
from .models import MemberScopeUnreadRuntimeSnapshot
from .row_columns import FACTS, READ_COLUMNS, facts, regular_row
from .shadows import as_json, lease_is_at, locked_shadows, write_shadows

FORMAT_VERSION = 1
"""Of the columns below; rows of another version are not read, and are replaced when their entry changes."""

_TABLE = MemberScopeUnreadRuntimeSnapshot._meta.db_table
_KEY = ("workspace_id", "member_id", "scope_id")
SNAPSHOT_COLUMNS = ", ".join(f"r.{name}" for name in READ_COLUMNS)
"""What `read_snapshot` takes, in its order, of the table under the alias `r`."""
SNAPSHOT_WIDTH = len(READ_COLUMNS)
SNAPSHOT_JOIN = (
    f"LEFT JOIN {_TABLE} r ON r.workspace_id = %s AND r.member_id = m.member_id AND r.scope_id = m.scope_id "
    f"AND r.format_version = {FORMAT_VERSION}"
)
"""Joins the rows of the same members to memberships under the alias `m`; its one parameter is the workspace."""

_HYDRATE = f"""
    SELECT {SNAPSHOT_COLUMNS}, s.parent_scope_id, s.status, s.roster_generation, p.status, p.roster_generation, s.type
    FROM {_TABLE} r JOIN scopes s ON s.id = r.scope_id LEFT JOIN scopes p ON p.id = s.parent_scope_id
    WHERE r.workspace_id = %s AND r.member_id = %s AND r.format_version = {FORMAT_VERSION}
"""  # noqa: S608 - built of the column names above


class LeaseMoved(Exception):
    """The workspace has another owner (or none): this process may not write its snapshot any more."""


class SnapshotTable:
    """The runtime's `SnapshotStore` on SQLite, MariaDB, MySQL and TiDB."""

    def load_member_page(self, workspace: int, member: int, after_scope: int, limit: int) -> Sequence[HydrateRow]:
        with database_unit(), connection.cursor() as cursor:
            cursor.execute(
                f"{_HYDRATE} AND r.scope_id > %s ORDER BY r.scope_id LIMIT %s",
                [key(workspace), key(member), key(after_scope), limit],
            )
            return [_hydrate_row(values) for values in cursor.fetchall()]

    def load_member_scopes(self, workspace: int, member: int, scopes: Sequence[int]) -> Sequence[HydrateRow]:
        if not scopes:
            return []
        places = ", ".join(["%s"] * len(scopes))
        with database_unit(), connection.cursor() as cursor:
            cursor.execute(
                f"{_HYDRATE} AND r.scope_id IN ({places})",
                [key(workspace), key(member), *map(key, scopes)],
            )
            return [_hydrate_row(values) for values in cursor.fetchall()]

    def upsert(self, workspace: int, epoch: int, rows: Sequence[SnapshotRow]) -> None:
        """Write all rows or none; `LeaseMoved` where the workspace's lease is not at `epoch` any more.

        One statement that commits by itself: a process that stands still leaves no lock behind for its successor.
        """
        if not rows:
            return
        with database_unit(), connection.cursor() as cursor:
            try:
                cursor.execute(*_upsert(workspace, epoch, rows))
            except IntegrityError:
                if _lease_stands(workspace, epoch):
                    raise
                written = False
            else:
                written = cursor.rowcount != 0 or _lease_stands(workspace, epoch)
        if not written:
            raise _moved(workspace, epoch)

    def protect(self, workspace: int, epoch: int, rows: Sequence[SnapshotRow]) -> None:
        """Write the rows of one task with their shadows, all or none, under the lease.

        `LeaseMoved` where it has moved on, `ShadowError` where a shadow would be undone or is not understood.
        """
        if not rows:
            return
        ordered = sorted(rows, key=lambda row: (row.member, row.scope))
        with database_unit(), transaction.atomic(), connection.cursor() as cursor:
            if not lease_is_at(cursor, workspace_resource(UUID(int=workspace)), epoch):
                raise _moved(workspace, epoch)
            shadows = locked_shadows(cursor, _TABLE, workspace, ordered)
            kept = [guarded(row, shadows.get(row.member)) for row in ordered]
            cursor.execute(*_upsert(workspace, epoch, kept))
            write_shadows(cursor, _TABLE, workspace, kept)


def _moved(workspace: int, epoch: int) -> LeaseMoved:
    owned = UUID(int=workspace)
    current_owner().drop(owned, epoch)
    return LeaseMoved(f"the lease of workspace {owned} is not at epoch {epoch} any more")


def read_snapshot(values: Sequence[Any], scope_type: str) -> SnapshotRow:
    """A row out of the values of `SNAPSHOT_COLUMNS`; of a task what its shadow lets a reader take."""
    *columns, version, shadow = values
    regular = regular_row(columns)
    return served(regular, version, as_json(shadow)) if scope_type == ScopeType.TASK else regular


def _hydrate_row(values: Sequence[Any]) -> HydrateRow:
    parent, status, roster_generation, parent_status, parent_roster_generation, scope_type = values[SNAPSHOT_WIDTH:]
    return HydrateRow(
        snapshot=read_snapshot(values[:SNAPSHOT_WIDTH], scope_type),
        parent=id_of(parent),
        active=status == ScopeStatus.ACTIVE,
        roster_generation=roster_generation,
        parent_active=parent is None or parent_status == ScopeStatus.ACTIVE,
        parent_roster_generation=parent_roster_generation or 0,
        task=scope_type == ScopeType.TASK,
    )


def _lease_stands(workspace: int, epoch: int) -> bool:
    """Why nothing was written: because of the lease, or because every row was there already."""
    held = ResourceLock.objects.filter(resource=workspace_resource(UUID(int=workspace)), epoch=epoch)
    return held.exists()


_FIXED = ("format_version", "owner_epoch", "updated_at")
_COLUMNS = (*_KEY, *FACTS, "row_version", *_FIXED)


def _upsert(workspace: int, epoch: int, rows: Sequence[SnapshotRow]) -> tuple[str, list[Any]]:
    """The statement and its parameters; rows go in key order, so that two flushes of one workspace cannot deadlock."""
    ordered = sorted(rows, key=lambda row: (row.member, row.scope))
    now = timezone.now().replace(tzinfo=None)
    owner, resource = key(workspace), workspace_resource(UUID(int=workspace))
    if connection.vendor == "sqlite":
        values: list[Any] = [owner, FORMAT_VERSION, epoch, now.isoformat(" ")]
        for row in ordered:
            values += (key(row.member), key(row.scope), *facts(row), row.row_version)
        return _SQLITE % ", ".join([_SQLITE_ROW] * len(ordered)), [*values, resource, epoch]
    fixed = (FORMAT_VERSION, epoch, now)
    others = ", ".join(["%s"] * (len(_COLUMNS) - 1))
    parameters: list[Any] = [epoch, owner, resource]
    for row in ordered:
        parameters += (key(row.member), key(row.scope), *facts(row), row.row_version, *fixed, owner)
    del parameters[-1]
    first, more = f"({_MYSQL_LEASE}, {others})", f", (%s, {others})" * (len(ordered) - 1)
    return f"{_INSERT} VALUES {first}{more} {_MYSQL_GUARD}", parameters


_INSERT = f"INSERT INTO {_TABLE} ({', '.join(_COLUMNS)})"

# SQLite takes at most 32 766 parameters: 1 300 rows, which the largest batch stays below.
_SQLITE_ROW = f"({', '.join(['%s'] * (2 + len(FACTS) + 1))})"
_SQLITE = f"""{_INSERT}
    SELECT %%s, {", ".join(f"column{n}" for n in range(1, 2 + len(FACTS) + 2))}, %%s, %%s, %%s
    FROM (VALUES %s) WHERE (SELECT epoch FROM {ResourceLock._meta.db_table} WHERE resource = %%s) = %%s
    ON CONFLICT ({", ".join(_KEY)}) DO UPDATE SET
    {", ".join(f"{name} = excluded.{name}" for name in (*FACTS, "row_version", *_FIXED))}
    WHERE (excluded.owner_epoch, excluded.row_version) > ({_TABLE}.owner_epoch, {_TABLE}.row_version)
"""  # noqa: S608

# Stands for the first row's workspace: NULL once the lease has moved, which no row of the statement survives.
_MYSQL_LEASE = (
    f"(SELECT IF(epoch = %s, %s, NULL) FROM {ResourceLock._meta.db_table} "  # noqa: S608
    "WHERE resource = %s LOCK IN SHARE MODE)"
)

# Assignments run from left to right and see each other's results: the version goes after everything that is guarded
# by it, and the epoch goes last, unguarded, because it only ever grows.
_NEWER = (
    "VALUES(owner_epoch) > owner_epoch OR (VALUES(owner_epoch) = owner_epoch AND VALUES(row_version) > row_version)"
)
_MYSQL_GUARD = "ON DUPLICATE KEY UPDATE " + ", ".join(
    [
        *(f"{name} = IF({_NEWER}, VALUES({name}), {name})" for name in (*FACTS, "format_version", "updated_at")),
        f"row_version = IF({_NEWER}, VALUES(row_version), row_version)",
        "owner_epoch = GREATEST(owner_epoch, VALUES(owner_epoch))",
    ]
)
