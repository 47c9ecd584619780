"""Every fact reaches the runtime as its event: same numbers, ids as integers, once, in the committing thread."""

from __future__ import annotations

import dataclasses
import threading
import typing
from collections.abc import Sequence
from typing import Any
from uuid import UUID

import pytest
from django.db import transaction

from conversations import events as facts
from conversations.ids import new_id
from conversations.publish import doubt, publish_on_commit
from unread import feed
from unread.core import events


class Heard:
    def __init__(self) -> None:
        self.batches: list[list[events.Event]] = []
        self.threads: list[str] = []
        self.doubted: list[list[events.Event]] = []

    def apply(self, batch: Sequence[events.Event]) -> None:
        self.batches.append(list(batch))
        self.threads.append(threading.current_thread().name)

    def doubt(self, batch: Sequence[events.Event]) -> None:
        self.doubted.append(list(batch))


@pytest.mark.parametrize("kind", facts.UNREAD_FACTS, ids=lambda kind: kind.__name__)
def test_every_field_of_the_event_is_the_facts(kind: type) -> None:
    fact = _sample(kind)
    if isinstance(fact, facts.MessageStored):
        fact = dataclasses.replace(fact, replayed=False)
    event = feed.translate(fact)
    assert type(event).__name__ == kind.__name__
    assert _plain(event) == _expected(fact, type(event))


def test_what_a_fact_leaves_open_stays_open() -> None:
    fact = dataclasses.replace(_sample(facts.MessageStored), parent_id=None, recipients=None)
    event = feed.translate(fact)
    assert isinstance(event, events.MessageStored)
    assert (event.parent, event.recipients) == (0, None)
    marked = feed.translate(dataclasses.replace(_sample(facts.ManualUnreadSet), unread_from=None))
    assert isinstance(marked, events.ManualUnreadSet)
    assert marked.unread_from is None


def test_a_message_of_a_task_that_is_told_again_announces_nothing() -> None:
    fact = _sample(facts.MessageStored)
    for replayed in (False, True):
        event = feed.translate(dataclasses.replace(fact, replayed=replayed))
        assert isinstance(event, events.MessageStored)
        assert bool(event.recipients) is not replayed


def test_a_batch_arrives_once_after_the_commit_in_the_same_thread() -> None:
    heard = Heard()
    disconnect = feed.connect(heard)
    try:
        with transaction.atomic():
            publish_on_commit(
                [_sample(facts.MessageStored), _sample(facts.MemberUpdated), _sample(facts.ScopeStateChanged)]
            )
            assert heard.batches == []
        assert [[type(event) for event in batch] for batch in heard.batches] == [
            [events.MessageStored, events.ScopeStateChanged]
        ]
        assert heard.threads == [threading.current_thread().name]
        with transaction.atomic():
            publish_on_commit([_sample(facts.MemberUpdated)])
        with transaction.atomic():
            publish_on_commit([_sample(facts.MessageStored)])
            transaction.set_rollback(True)
        assert len(heard.batches) == 1
    finally:
        disconnect()
    with transaction.atomic():
        publish_on_commit([_sample(facts.MessageStored)])
    assert len(heard.batches) == 1


def test_a_batch_in_doubt_is_told_as_such() -> None:
    heard = Heard()
    disconnect = feed.connect(heard)
    try:
        doubt([[_sample(facts.MessageStored), _sample(facts.MemberUpdated)]])
    finally:
        disconnect()
    doubt([[_sample(facts.MessageStored)]])
    assert heard.batches == []
    assert [[type(event) for event in batch] for batch in heard.doubted] == [[events.MessageStored]]


def _sample(kind: Any, numbers: Any = None) -> Any:
    """An instance in which every number and id is another one."""
    numbers = numbers if numbers is not None else iter(range(1, 1000))
    hints = typing.get_type_hints(kind)
    return kind(**{field.name: _value(hints[field.name], numbers) for field in dataclasses.fields(kind)})


def _value(hint: Any, numbers: Any) -> Any:
    options = [option for option in typing.get_args(hint) if option is not type(None)]
    if typing.get_origin(hint) is tuple:
        if options[-1] is Ellipsis:
            return (_value(options[0], numbers), _value(options[0], numbers))
        return tuple(_value(option, numbers) for option in options)
    if options and type(None) in typing.get_args(hint):
        return _value(options[0], numbers)
    if dataclasses.is_dataclass(hint):
        return _sample(hint, numbers)
    if hint is UUID:
        return new_id()
    if hint is bool:
        return bool(next(numbers) % 2)
    if hint is facts.Level:
        return facts.Level(next(numbers) % 3)
    return "pin" if hint is str else next(numbers)


def _plain(value: Any) -> Any:
    """Dataclasses as dicts of what they hold, enums as integers, ids as integers."""
    if dataclasses.is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, tuple):
        return tuple(_plain(item) for item in value)
    if isinstance(value, UUID):
        return value.int
    return int(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _expected(fact: Any, event: type) -> dict[str, Any]:
    """What `event` must hold, by the names of its fields."""
    found = _plain(fact)
    without_suffix = {name.removesuffix("_id"): _expected_value(value) for name, value in found.items()}
    return {field.name: without_suffix[field.name] for field in dataclasses.fields(event)}


def _expected_value(value: Any) -> Any:
    if isinstance(value, dict):
        return {name.removesuffix("_id"): _expected_value(item) for name, item in value.items() if name != "message_id"}
    if isinstance(value, tuple):
        return tuple(_expected_value(item) for item in value)
    return value
