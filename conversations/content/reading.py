"""Reading content: complete blocks in order, of one moment, or a clear refusal.

Reads refresh `revision`, `status`, `updated_at` and `edited_at` of the messages they are given: these belong to the
content returned, also where the rows were loaded before a writer changed them.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable
from typing import TypeVar
from uuid import UUID

from django.db.models import Sum

from ..agentue.values import JsonObject
from ..errors import InvalidRequest, NotFound, TooLarge
from ..models import Message, MessagePart
from .codec import size_bytes
from .layout import MissingPart, part_ids
from .limits import Limits, current_limits
from .refusals import StorageError
from .snapshot import Snapshot, parts_bytes, read_snapshots, resolve, resolve_block, total_part_bytes

logger = logging.getLogger(__name__)

MAX_BLOCK_IDS = 200
Result = TypeVar("Result")


def read_content(message: Message) -> JsonObject:
    """One message's whole model; one statement. `NotFound`, `TooLarge` over the response limit, `StorageError`."""
    found = read_contents([message])
    if message.pk not in found:
        raise NotFound("This message does not exist.")
    return found[message.pk]


def read_contents(messages: Collection[Message]) -> dict[UUID, JsonObject]:
    """Whole models by message id; one statement for any number. Messages that are gone are absent.

    `TooLarge` where all of them together are over the response limit: ask for fewer.
    """
    ids = [message.pk for message in messages]
    if not ids:
        return {}
    limits = current_limits()

    def read() -> tuple[dict[UUID, Snapshot], dict[UUID, JsonObject]]:
        snapshots = read_snapshots(ids, max_part_bytes=limits.response_bytes)
        try:
            return snapshots, {each.message_id: resolve(each) for each in snapshots.values()}
        except MissingPart:
            _refuse_total(total_part_bytes(ids), limits)
            raise

    snapshots, models = settled(read)
    _refuse_total(sum(size_bytes(model) for model in models.values()), limits)
    _refresh(messages, snapshots)
    return models


def read_blocks(message: Message, block_ids: Iterable[str]) -> list[JsonObject]:
    """Some blocks of a message, complete, in the order of its content. Two statements, one where they are inline.

    `NotFound` names ids that the message does not have; `InvalidRequest` over `MAX_BLOCK_IDS` of them; `TooLarge`.
    """
    wanted = set(block_ids)
    if len(wanted) > MAX_BLOCK_IDS:
        raise InvalidRequest(f"At most {MAX_BLOCK_IDS} blocks can be read at once.", limit=MAX_BLOCK_IDS)
    limits = current_limits()

    def read() -> tuple[Snapshot, list[JsonObject]]:
        snapshot = read_body(message.pk)
        chosen = [block for block in snapshot.body["blocks"] if block["id"] in wanted]
        if missing := sorted(wanted - {block["id"] for block in chosen}):
            raise NotFound("This message has no such block.", block_ids=missing)
        if parts := part_ids(chosen):
            snapshot = read_with_parts(message.pk, parts, limits)
        return snapshot, [resolve_block(snapshot, block) for block in snapshot.body["blocks"] if block["id"] in wanted]

    snapshot, blocks = settled(read)
    _refuse_total(sum(size_bytes(block) for block in blocks), limits)
    _refresh([message], {message.pk: snapshot})
    return blocks


def stored_part_bytes(message_ids: Collection[UUID]) -> dict[UUID, int]:
    """How large messages are beyond their own rows, without reading them; small ones are absent. One statement."""
    parts = MessagePart.objects.filter(message_id__in=message_ids).order_by()
    return dict(parts.values_list("message_id").annotate(total=Sum("size_bytes")))


def settled(read: Callable[[], Result]) -> Result:
    """Reads again, once, where a reference led nowhere: a writer may have moved the block between two statements.

    What does not add up then is damage, which is logged and raised.
    """
    try:
        try:
            return read()
        except MissingPart:
            return read()
    except StorageError as error:
        logger.error("stored content is damaged: %s", error)
        raise


def read_body(message_id: UUID) -> Snapshot:
    """The body alone, references unresolved; for this package."""
    return _one(message_id, [], 0)


def read_with_parts(message_id: UUID, parts: Collection[str], limits: Limits) -> Snapshot:
    """The body with the given parts, of one moment; for this package."""
    max_part_bytes = limits.response_bytes + limits.part_bytes * max(1, len(parts))
    snapshot = _one(message_id, parts, max_part_bytes)
    if parts and not snapshot.parts:
        _refuse_total(sum(parts_bytes([message_id], parts).values()), limits)
    return snapshot


def _one(message_id: UUID, parts: Collection[str], max_part_bytes: int) -> Snapshot:
    found = read_snapshots([message_id], parts=parts, max_part_bytes=max_part_bytes)
    if message_id not in found:
        raise NotFound("This message does not exist.")
    return found[message_id]


def _refresh(messages: Iterable[Message], snapshots: dict[UUID, Snapshot]) -> None:
    for message in messages:
        if (snapshot := snapshots.get(message.pk)) is not None:
            message.revision, message.status = snapshot.revision, snapshot.status
            message.updated_at, message.edited_at = snapshot.updated_at, snapshot.edited_at


def _refuse_total(total_bytes: int, limits: Limits) -> None:
    if total_bytes > limits.response_bytes:
        raise TooLarge(
            f"The content has {total_bytes} bytes; one answer holds at most {limits.response_bytes}. "
            "Read fewer messages, or single blocks.",
            limit_bytes=limits.response_bytes,
        )
