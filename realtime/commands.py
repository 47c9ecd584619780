"""What a client may say: three commands, each checked, at a bounded rate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from uuid import UUID

import orjson

MAX_COMMAND_BYTES = 4096
COMMANDS_PER_SECOND = 20.0
BURST = 60.0


@dataclass(frozen=True, slots=True)
class Ping:
    """Answered with a heartbeat."""


@dataclass(frozen=True, slots=True)
class Resync:
    """Answered with a snapshot."""


@dataclass(frozen=True, slots=True)
class Read:
    """Everything up to the message is read."""

    conversation_id: UUID
    message_id: UUID


Command = Ping | Resync | Read


class BadCommand(Exception):
    """Says what is wrong, for the `error` frame."""


def parse(text: str | None) -> Command:
    if text is None:
        raise BadCommand("Commands are text messages.")
    if len(text) > MAX_COMMAND_BYTES:
        raise BadCommand(f"A command may have at most {MAX_COMMAND_BYTES} bytes.")
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        raise BadCommand("A command is one JSON object.") from None
    kind = value.get("type") if isinstance(value, dict) else None
    if kind == "ping":
        return Ping()
    if kind == "unread.resync":
        return Resync()
    if kind == "read":
        return Read(_uuid(value, "conversation_id"), _uuid(value, "message_id"))
    raise BadCommand("The type must be ping, unread.resync or read.")


def _uuid(value: dict[str, object], name: str) -> UUID:
    try:
        return UUID(value[name])  # type: ignore[arg-type]
    except (KeyError, ValueError, AttributeError, TypeError):
        raise BadCommand(f"{name} must be a UUID.") from None


class Allowance:
    """A bucket of `BURST` commands that refills at `COMMANDS_PER_SECOND`."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._left = BURST
        self._at = now()

    def take(self) -> bool:
        """False where the client floods."""
        now = self._now()
        self._left = min(BURST, self._left + (now - self._at) * COMMANDS_PER_SECOND)
        self._at = now
        if self._left < 1:
            return False
        self._left -= 1
        return True
