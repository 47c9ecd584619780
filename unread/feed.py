"""Feeds committed facts to the runtime, in the thread that committed them.

A fact of `conversations.events` and its event in `unread.core.events` have the same name and the same fields, but for
the ids: UUIDs named `…_id` there, integers here. So one rule translates all of them, and a field that only one side
knows fails at import, not at the first commit. Fields that only live pages need are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from typing import Any, Protocol
from uuid import UUID

from conversations import events as facts
from conversations.publish import subscribe, subscribe_to_doubts

from .core import events

Translate = Callable[[Any], Any]


class Applies(Protocol):
    """The runtime, as far as the feed knows it. Neither raises."""

    def apply(self, events: Sequence[events.Event]) -> None: ...

    def doubt(self, events: Sequence[events.Event]) -> None: ...


def connect(runtime: Applies) -> Callable[[], None]:
    """Hand every batch committed in this process to `runtime`, and tell it of doubts; returns the way to end that."""

    def on_commit(batch: Sequence[facts.Fact]) -> None:
        if told := _translated(batch):
            runtime.apply(told)

    def on_doubt(batch: Sequence[facts.Fact]) -> None:
        if told := _translated(batch):
            runtime.doubt(told)

    ends = (subscribe(on_commit), subscribe_to_doubts(on_doubt))

    def disconnect() -> None:
        for end in ends:
            end()

    return disconnect


def _translated(batch: Sequence[facts.Fact]) -> list[events.Event]:
    return [translate(fact) for fact in batch if type(fact) in _TRANSLATIONS]


def translate(fact: facts.Fact) -> events.Event:
    """The runtime's event for one fact of `facts.UNREAD_FACTS`."""
    translated: events.Event = _TRANSLATIONS[type(fact)](fact)
    if isinstance(translated, events.MessageStored) and translated.recipients and fact.replayed:  # type: ignore[attr-defined]
        return replace(translated, recipients=())  # its outbox loses nothing, so there is nothing to wait for again
    return translated


def _id(value: UUID | None) -> int:
    return value.int if value is not None else 0


def _ids(values: tuple[UUID, ...] | None) -> tuple[int, ...] | None:
    return tuple(value.int for value in values) if values is not None else None


def _level(value: facts.Level) -> events.Level:
    return events.Level(int(value))


def _same(value: Any) -> Any:
    return value


def _translation(source: type, target: type) -> Translate:
    """Builds `target` from an instance of `source`, field by field."""
    known = {field.name for field in fields(source)}
    steps: list[tuple[str, str, Translate]] = []
    for field in fields(target):
        name = field.name if field.name in known else f"{field.name}_id"
        if name not in known:
            raise TypeError(f"{source.__name__} has nothing for {target.__name__}.{field.name}")
        steps.append((field.name, name, _CONVERSIONS.get(field.name) or (_id if name.endswith("_id") else _same)))

    def build(fact: Any) -> Any:
        return target(**{name: convert(getattr(fact, source_name)) for name, source_name, convert in steps})

    return build


_counted: Translate
_change: Translate
_unread_from: Translate


def _optional(build: Callable[[], Translate]) -> Translate:
    return lambda value: build()(value) if value is not None else None


_CONVERSIONS: dict[str, Translate] = {
    "mentions": _ids,
    "recipients": _ids,
    "level": _level,
    "facts": lambda value: _counted(value),
    "before": _optional(lambda: _counted),
    "after": _optional(lambda: _counted),
    "changes": lambda values: tuple(_change(value) for value in values),
    "unread_from": _optional(lambda: _unread_from),
    "rows": lambda rows: tuple((seq, _counted(row)) for seq, row in rows),
}
"""By the event's field; ids and plain numbers need none."""

_counted = _translation(facts.Counted, events.Counted)
_change = _translation(facts.MessageChange, events.MessageChange)
_unread_from = _translation(facts.UnreadFrom, events.UnreadFrom)
_TRANSLATIONS: dict[type, Translate] = {
    fact: _translation(fact, getattr(events, fact.__name__)) for fact in facts.UNREAD_FACTS
}
