"""Messages without a conversation's ceremony, settings for small limits, and a look below the store."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connection, transaction
from django.test import override_settings
from django.utils import timezone

from conversations.agentue.chat import parse_chat_event, parse_chat_model
from conversations.content import store
from conversations.content.packing import part_size_bytes
from conversations.ids import new_id
from conversations.models import Message, MessagePart, Scope
from tests.world import World

EMPTY: dict[str, Any] = {"version": "1.1", "biz": "chat", "meta": {}, "blocks": []}


class Desk:
    """Makes messages in one scope of its own."""

    def __init__(self) -> None:
        self.world = World("ann")
        self.scope = Scope.objects.create(workspace=self.world.workspace, type="conversation")
        self.last_seq = 0

    def create(self, model: dict[str, Any], **columns: Any) -> Message:
        self.last_seq += 1
        now = timezone.now()
        author = self.world.member["ann"]
        message = Message(
            id=new_id(),
            scope=self.scope,
            seq=self.last_seq,
            author=author,
            notify_principal=author,
            actor_kind="user",
            actor_key="ann",
            created_at=now,
            updated_at=now,
            **columns,
        )
        with transaction.atomic():
            store.create_content(message, parse_chat_model(model))
        return message


def apply(message: Message, **event: Any) -> None:
    """One event, with the next revision."""
    with transaction.atomic():
        row = Message.objects.select_for_update().get(pk=message.pk)
        row.revision += 1
        store.apply_event(row, parse_chat_event({"seq": row.revision, **event}), save=["revision"])


def replace(message: Message, model: dict[str, Any]) -> None:
    with transaction.atomic():
        row = Message.objects.select_for_update().get(pk=message.pk)
        row.revision += 1
        store.replace_content(row, parse_chat_model(model), save=["revision"])


def text(block_id: str, size: int, letter: str = "x") -> dict[str, Any]:
    """A block whose JSON has exactly `size` bytes."""
    empty = {"id": block_id, "type": "text", "content": ""}
    content = letter * (size - len(f'{{"id":"{block_id}","type":"text","content":""}}'))
    assert len(content) > 0
    return {**empty, "content": content}


def model(*blocks: dict[str, Any], **meta: Any) -> dict[str, Any]:
    return {**EMPTY, "meta": meta, "blocks": list(blocks)}


@contextmanager
def limits(**sizes: int) -> Iterator[None]:
    """`limits(inline_blocks=2, part_bytes=100)` sets MESSAGE_INLINE_BLOCKS and MESSAGE_PART_BYTES."""
    with override_settings(**{f"MESSAGE_{name.upper()}": value for name, value in sizes.items()}):
        yield


def places(message: Message) -> dict[str, str | None]:
    """Where each block lies: its part's id, None for inline."""
    content = Message.objects.values_list("content", flat=True).get(pk=message.pk)
    return {block["id"]: block.get("ref") for block in content["blocks"]}


def parts(message: Message) -> dict[str, list[str]]:
    """The block ids in each stored part, every part checked for its recorded size."""
    found = {}
    for part in MessagePart.objects.filter(message_id=message.pk):
        assert part.size_bytes == part_size_bytes(part.content["blocks"])
        if connection.vendor == "sqlite" or connection.mysql_is_mariadb:  # type: ignore[attr-defined]
            with connection.cursor() as cursor:
                cast = "CAST(content AS BLOB)" if connection.vendor == "sqlite" else "content"
                key = part.id.hex if connection.vendor == "sqlite" else str(part.id)
                cursor.execute(f"SELECT LENGTH({cast}) FROM message_parts WHERE id = %s", [key])
                assert cursor.fetchone()[0] == part.size_bytes
        found[str(part.id)] = [block["id"] for block in part.content["blocks"]]
    return found


class Statements:
    """Counts the statements of a block of code, and the bytes of content that it read."""

    def __init__(self) -> None:
        self.sql: list[str] = []

    def __call__(self, execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if not sql.startswith(("SAVEPOINT", "RELEASE")):
            self.sql.append(sql)
        return execute(sql, params, many, context)

    def __enter__(self) -> Statements:
        self._wrapping = connection.execute_wrapper(self)
        self._wrapping.__enter__()
        return self

    def __exit__(self, *failure: Any) -> None:
        self._wrapping.__exit__(*failure)

    def count(self, begin: str = "", table: str = "") -> int:
        return sum(sql.startswith(begin) and table in sql for sql in self.sql)
