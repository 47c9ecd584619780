"""The shadow columns of task rows in SQL: read under a lock, held against what is to be written, written."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from django.db import connection

from conversations.models import ResourceLock

from .core.ports import SnapshotRow
from .core.shadow import SHADOW_VERSION, read_shadow, shadow_of
from .ids import id_of, key


def lease_is_at(cursor: Any, resource: str, epoch: int) -> bool:
    """Whether the lease is at the epoch; it stays there until the end of the transaction."""
    statement = f"SELECT epoch FROM {ResourceLock._meta.db_table} WHERE resource = %s"  # noqa: S608
    cursor.execute(statement if _is_sqlite() else f"{statement} LOCK IN SHARE MODE", [resource])
    found = cursor.fetchone()
    return found is not None and found[0] == epoch


def locked_shadows(cursor: Any, table: str, workspace: int, rows: Sequence[SnapshotRow]) -> dict[int, SnapshotRow]:
    """The shadows that stand, by member, for rows of one scope. Raises `ShadowError` for one that cannot be read."""
    cursor.execute(
        f"SELECT member_id, task_snapshot_format_version, task_snapshot_json FROM {table} "  # noqa: S608
        f"WHERE workspace_id = %s AND scope_id = %s AND member_id IN ({_places(rows)}) ORDER BY member_id"
        f"{'' if _is_sqlite() else ' FOR UPDATE'}",
        [key(workspace), key(rows[0].scope), *(key(row.member) for row in rows)],
    )
    by_member = {row.member: row for row in rows}
    found = {}
    for member, version, value in cursor.fetchall():
        of = by_member[id_of(member)]
        shadow = read_shadow(replace(of, row_version=0), version, as_json(value))
        if shadow is not None:
            found[of.member] = shadow
    return found


def write_shadows(cursor: Any, table: str, workspace: int, rows: Sequence[SnapshotRow]) -> None:
    """Rows of one scope that exist; one statement for all of them."""
    cases = " ".join(["WHEN %s THEN %s"] * len(rows))
    values = [each for row in rows for each in (key(row.member), json.dumps(shadow_of(row)))]
    cursor.execute(
        f"UPDATE {table} SET task_snapshot_format_version = %s, "  # noqa: S608
        f"task_snapshot_json = CASE member_id {cases} END "
        f"WHERE workspace_id = %s AND scope_id = %s AND member_id IN ({_places(rows)})",
        [SHADOW_VERSION, *values, key(workspace), key(rows[0].scope), *(key(row.member) for row in rows)],
    )


def as_json(value: Any) -> Any:
    """A JSON column's value out of a raw statement; what is no JSON stays text, which no shadow is."""
    if not isinstance(value, str | bytes):
        return value
    try:
        return json.loads(value)
    except ValueError:
        return value


def _places(rows: Sequence[SnapshotRow]) -> str:
    return ", ".join(["%s"] * len(rows))


def _is_sqlite() -> bool:
    return connection.vendor == "sqlite"
