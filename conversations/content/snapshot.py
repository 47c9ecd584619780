"""Bodies and parts as they were at one moment: one statement reads both, which is one snapshot on every database.

Two statements would not be: under READ COMMITTED a writer may come between them, and an old body with new parts shows
text twice to whoever goes on from the body's revision.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import (
    BigIntegerField,
    CharField,
    DateTimeField,
    F,
    Func,
    Q,
    QuerySet,
    Subquery,
    Sum,
    UUIDField,
    Value,
)

from ..agentue.values import JsonObject
from ..models import Message, MessagePart
from .layout import PartBlocks, complete_block, open_body, open_part

_COLUMNS = ("owner", "part", "content", "revision", "status", "updated_at", "edited_at")


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One message's body, the parts that were asked for, and the columns that go with just this content."""

    message_id: UUID
    body: JsonObject
    revision: int
    status: str
    updated_at: datetime
    edited_at: datetime | None
    parts: dict[str, PartBlocks] = field(default_factory=dict)


def read_snapshots(
    message_ids: Collection[UUID], *, parts: Collection[str] | None = None, max_part_bytes: int
) -> dict[UUID, Snapshot]:
    """Those messages that exist, with all their parts or only the given ones. One statement.

    Where the parts have more than `max_part_bytes` together none of them is read.
    """
    chosen = Q(message_id__in=message_ids)
    if parts is not None:
        chosen &= Q(id__in=parts)
    rows = _bodies(message_ids)
    if parts is None or parts:
        rows = rows.union(_parts(chosen, max_part_bytes), all=True)
    found: dict[UUID, Snapshot] = {}
    stored_parts: list[tuple[UUID, UUID, Any]] = []
    for owner, part_id, content, revision, status, updated_at, edited_at in rows:
        if part_id is not None:
            stored_parts.append((owner, part_id, content))
            continue
        found[owner] = Snapshot(owner, open_body(owner, content), revision, status, updated_at, edited_at)
    for owner, part_id, content in stored_parts:
        if owner in found:
            found[owner].parts[str(part_id)] = open_part(owner, str(part_id), content)
    return found


def resolve(snapshot: Snapshot) -> JsonObject:
    """The logical model. `MissingPart` where the snapshot does not hold all parts."""
    return {**snapshot.body, "blocks": [resolve_block(snapshot, block) for block in snapshot.body["blocks"]]}


def resolve_block(snapshot: Snapshot, block: JsonObject) -> JsonObject:
    return complete_block(snapshot.message_id, block, snapshot.parts)


def parts_bytes(message_ids: Collection[UUID], parts: Collection[str] | None = None) -> dict[str, int]:
    """The size of each part, without content. One statement."""
    chosen = Q(message_id__in=message_ids)
    if parts is not None:
        chosen &= Q(id__in=parts)
    return {str(part): size for part, size in MessagePart.objects.filter(chosen).values_list("id", "size_bytes")}


def total_part_bytes(message_ids: Collection[UUID]) -> int:
    total: int | None = MessagePart.objects.filter(message_id__in=message_ids).aggregate(n=Sum("size_bytes"))["n"]
    return total or 0


def _bodies(message_ids: Collection[UUID]) -> QuerySet[Any, Any]:
    bodies = Message.objects.filter(id__in=message_ids).annotate(
        owner=F("id"), part=Value(None, output_field=UUIDField())
    )
    return bodies.order_by().values_list(*_COLUMNS)


def _parts(chosen: Q, max_part_bytes: int) -> QuerySet[Any, Any]:
    # Not an aggregate in Django's sense, which would group: one sum over everything that is to be read.
    total = Func(F("size_bytes"), function="SUM", output_field=BigIntegerField())
    summed = MessagePart.objects.filter(chosen).order_by().annotate(total=total).values("total")
    parts = MessagePart.objects.filter(chosen).annotate(together=Subquery(summed)).filter(together__lte=max_part_bytes)
    return (
        parts.annotate(
            owner=F("message_id"),
            part=F("id"),
            revision=Value(None, output_field=BigIntegerField()),
            status=Value(None, output_field=CharField()),
            updated_at=Value(None, output_field=DateTimeField()),
            edited_at=Value(None, output_field=DateTimeField()),
        )
        .order_by()
        .values_list(*_COLUMNS)
    )
