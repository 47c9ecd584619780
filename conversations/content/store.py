"""Writing content: each function belongs into the transaction that holds the message's lock.

The rows a write touches are those that its change touches, whatever the size of the message. The message's own row is
saved here as well, together with the other columns that the caller names, so that body and parts never part.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from uuid import UUID

from django.db.models import Q, Sum

from ..agentue.errors import AgentUEError
from ..agentue.events import Event, Op
from ..agentue.model import is_reference
from ..agentue.reducer import reduce
from ..agentue.values import JsonObject
from ..errors import InvalidRequest, TooLarge
from ..ids import new_id
from ..models import Message, MessagePart
from .codec import row_bytes, size_bytes
from .layout import PartBlocks, complete_block, members, open_body, open_part, part_ids, part_of
from .limits import Limits, current_limits
from .packing import Plan, destination, last_part, part_size_bytes, plan_block, plan_content
from .refusals import StorageError, refusal

logger = logging.getLogger(__name__)

_WRITE_BATCH_BYTES = 4 * 1024 * 1024
"""Stays under the smallest usual packet limit of the database, escapes included."""


def create_content(message: Message, model: JsonObject) -> None:
    """Insert the unsaved `message` with its first content. Raises `TooLarge` and `InvalidRequest` (references)."""
    plan = prepare_content(message, model, current_limits())
    message.save(force_insert=True)
    write_parts(message.pk, plan)


def prepare_content(message: Message, model: JsonObject, limits: Limits) -> Plan:
    """Give an unsaved message its first content; once its row is inserted, the plan's parts are to be written."""
    _check_logical(model, limits)
    plan = plan_content([], {}, model["blocks"], limits, _new_part_id)
    content = {**model, "blocks": plan.blocks}
    _check_rows(content, plan, limits)
    message.content = content
    return plan


def replace_content(message: Message, model: JsonObject, *, save: Iterable[str] = ()) -> None:
    """Put `model` in the place of a message's content, and save the columns named in `save` with it.

    Parts whose blocks stay the same are not written; what is no longer referenced goes. Damaged content is replaced
    like any other. Raises like `create_content`.
    """
    limits = current_limits()
    _check_logical(model, limits)
    try:
        plan = _plan_replacement(message, model, limits)
    except StorageError as error:
        logger.error("replacing content that is damaged: %s", error)
        plan = plan_content([], {}, model["blocks"], limits, _new_part_id)
        lost = MessagePart.objects.filter(message_id=message.pk).values_list("id", flat=True)
        plan = replace(plan, deletes=tuple(str(part_id) for part_id in lost))
    _write(message, {**model, "blocks": plan.blocks}, plan, limits, save)


def apply_event(message: Message, event: Event, *, save: Iterable[str] = ()) -> None:
    """Apply one event to a message's content, and save the columns named in `save` with it.

    Loads no part for events of meta, ping and end, and otherwise only the part that the event's block lies in or goes
    to. Raises `InvalidRequest` where event and content do not fit or the event carries a reference, `TooLarge` where
    the result would be; then nothing is written.
    """
    if event.op is Op.START:
        replace_content(message, event.model, save=save)
        return
    limits = current_limits()
    body = open_body(message.pk, message.content)
    if event.block_id is not None:
        _refuse_references([event.block])
        _apply_to_block(message, body, event, limits, save)
        return
    content = _reduce(body, event)
    _write(message, content, Plan(content["blocks"]), limits, save, changed=content is not body)


def stored_error(message: Message) -> JsonObject | None:
    """`meta.error` of a message whose row is loaded; no statement."""
    error: JsonObject | None = open_body(message.pk, message.content)["meta"].get("error")
    return error


def delete_contents(message_ids: Collection[UUID]) -> None:
    """Drop what lies outside the messages' rows; in the transaction that deletes those."""
    MessagePart.objects.filter(message_id__in=message_ids).delete()


def _plan_replacement(message: Message, model: JsonObject, limits: Limits) -> Plan:
    old = open_body(message.pk, message.content)
    ids = {block["id"] for block in model["blocks"]}
    kept = part_ids(block for block in old["blocks"] if block["id"] in ids)
    return plan_content(old["blocks"], _load_parts(message.pk, kept), model["blocks"], limits, _new_part_id)


def _apply_to_block(message: Message, body: JsonObject, event: Event, limits: Limits, save: Iterable[str]) -> None:
    block_id = event.block["id"]
    present = next((block for block in body["blocks"] if block["id"] == block_id), None)
    source = None if present is None else part_of(present)
    # A whole new block that was alone in its part needs nothing of what was there.
    alone = event.mask is None and source is not None and len(members(body, source)) == 1
    parts: dict[str, PartBlocks] = {}
    old_block = None
    if present is not None and not alone:
        parts = _load_parts(message.pk, part_ids([present]))
        old_block = complete_block(message.pk, present, parts)
    known = [old_block if block is present and old_block is not None else block for block in body["blocks"]]
    reduced = _reduce({**body, "blocks": known}, event)
    block = next(block for block in reduced["blocks"] if block["id"] == block_id)

    named = source or last_part(body)
    total_bytes, named_bytes = (0, 0) if named is None else _part_sizes(message.pk, named)
    to = destination(body, block, named_bytes, old_block, limits)
    if to.part_id is not None and to.part_id != source:
        parts = _load_parts(message.pk, [to.part_id])
    plan = plan_block(body, block, to, parts, _new_part_id)
    old_bytes = named_bytes if alone else 0 if old_block is None else size_bytes(old_block)
    if (grown_bytes := size_bytes(block) - old_bytes) > 0:
        _check_total(total_bytes + size_bytes(body) + grown_bytes, limits)
    _write(message, {**body, "blocks": plan.blocks}, plan, limits, save)


def _reduce(model: JsonObject, event: Event) -> JsonObject:
    try:
        return reduce(model, event)
    except AgentUEError as error:
        raise refusal(error) from None


def _check_logical(model: JsonObject, limits: Limits) -> None:
    _refuse_references(model["blocks"])
    _check_total(size_bytes(model), limits)


def _refuse_references(blocks: Iterable[JsonObject]) -> None:
    if any(is_reference(block) for block in blocks):
        raise InvalidRequest("Content holds whole blocks; references are made by the server.", code="client_reference")


def _check_total(total_bytes: int, limits: Limits) -> None:
    if total_bytes > limits.content_bytes:
        raise TooLarge(
            f"The content of one message may have at most {limits.content_bytes} bytes; this would have {total_bytes}.",
            limit_bytes=limits.content_bytes,
        )


def _check_rows(content: JsonObject, plan: Plan, limits: Limits) -> None:
    for block in (block for blocks in (plan.inserts, plan.updates) for part in blocks.values() for block in part):
        if row_bytes(block, limits.row_bytes) > limits.row_bytes:
            raise TooLarge(
                f"One block may take at most {limits.row_bytes} bytes of storage; block {block['id']!r} is larger.",
                limit_bytes=limits.row_bytes,
                block_id=block["id"],
            )
    for part in (*plan.inserts.values(), *plan.updates.values()):
        _check_row({"blocks": part}, "The blocks that would be stored together are", limits)
    _check_meta(content, limits)
    _check_row(content, "The list of blocks is", limits)


def _check_meta(content: JsonObject, limits: Limits) -> None:
    size = size_bytes({**content, "blocks": []})
    if size > limits.meta_bytes:
        raise TooLarge(
            f"meta and what else stands beside the blocks may have at most {limits.meta_bytes} bytes, not {size}.",
            limit_bytes=limits.meta_bytes,
        )


def _check_row(value: JsonObject, what: str, limits: Limits) -> None:
    if row_bytes(value, limits.row_bytes) > limits.row_bytes:
        raise TooLarge(
            f"{what} larger than the {limits.row_bytes} bytes of storage that a row may take.",
            limit_bytes=limits.row_bytes,
        )


def _write(
    message: Message, content: JsonObject, plan: Plan, limits: Limits, save: Iterable[str], *, changed: bool = True
) -> None:
    """Checks everything before it writes anything."""
    columns = [*save]
    if changed:
        _check_rows(content, plan, limits)
        write_parts(message.pk, plan)
        message.content = content
        columns.append("content")
    if columns:
        message.save(update_fields=columns)


def write_parts(message_id: UUID, plan: Plan) -> None:
    if plan.deletes:
        MessagePart.objects.filter(message_id=message_id, id__in=plan.deletes).delete()
    for part_id, blocks in plan.updates.items():
        written = MessagePart.objects.filter(message_id=message_id, id=part_id).update(
            content={"blocks": blocks}, size_bytes=part_size_bytes(blocks)
        )
        if not written:
            raise StorageError(f"message {message_id}: part {part_id} is missing")
    for batch in _batches(message_id, plan.inserts):
        MessagePart.objects.bulk_create(batch)


def _batches(message_id: UUID, inserts: dict[str, list[JsonObject]]) -> Iterator[list[MessagePart]]:
    batch: list[MessagePart] = []
    pending_bytes = 0
    for part_id, blocks in inserts.items():
        size = part_size_bytes(blocks)
        if batch and pending_bytes + size > _WRITE_BATCH_BYTES:
            yield batch
            batch, pending_bytes = [], 0
        batch.append(MessagePart(id=part_id, message_id=message_id, content={"blocks": blocks}, size_bytes=size))
        pending_bytes += size
    if batch:
        yield batch


def _load_parts(message_id: UUID, wanted: Collection[str]) -> dict[str, PartBlocks]:
    """The wanted parts that exist and belong to the message; at most one statement."""
    if not wanted:
        return {}
    rows = MessagePart.objects.filter(message_id=message_id, id__in=wanted).values_list("id", "content")
    return {str(part_id): open_part(message_id, str(part_id), stored) for part_id, stored in rows}


def _part_sizes(message_id: UUID, named: str) -> tuple[int, int]:
    """Bytes of all the message's parts, and of the named one; one statement, no content."""
    found = MessagePart.objects.filter(message_id=message_id).aggregate(
        total=Sum("size_bytes"), named=Sum("size_bytes", filter=Q(id=named))
    )
    if found["named"] is None:
        raise StorageError(f"message {message_id}: part {named} is missing")
    return found["total"], found["named"]


def _new_part_id() -> str:
    return str(new_id())
