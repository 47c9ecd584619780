"""The commit boundary's second half: facts go out once, after the commit, in one batch.

`publish_on_commit` is the only caller of `transaction.on_commit`. Listeners run in the committing thread, each
isolated from the others' failures, so the writer's next read already shows what it wrote.

A commit whose answer is lost with the connection may have happened or not: its facts are handed to those who asked for
doubtful ones, and to nobody else.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from functools import partial

from django.db import connection, transaction

from .events import Fact

logger = logging.getLogger(__name__)

Batch = Sequence[Fact]
Listener = Callable[[Batch], None]

_listeners: list[Listener] = []
_doubters: list[Listener] = []


def subscribe(listener: Listener) -> Callable[[], None]:
    """Call `listener` with every committed batch, in order of subscription; returns the way to end that."""
    return _added(_listeners, listener)


def subscribe_to_doubts(listener: Listener) -> Callable[[], None]:
    """Call `listener` with every batch of which nobody knows whether it was committed."""
    return _added(_doubters, listener)


def _added(listeners: list[Listener], listener: Listener) -> Callable[[], None]:
    listeners.append(listener)

    def unsubscribe() -> None:
        if listener in listeners:
            listeners.remove(listener)

    return unsubscribe


def publish_on_commit(facts: Batch) -> None:
    """Hand `facts` to all listeners after the current transaction commits; nothing happens when it rolls back."""
    if facts:
        transaction.on_commit(partial(_deliver, tuple(facts)), robust=True)


def awaiting_commit() -> list[Batch]:
    """The batches of the current transaction, in the order of their publication."""
    hooks = [entry[1] for entry in connection.run_on_commit]
    return [hook.args[0] for hook in hooks if isinstance(hook, partial) and hook.func is _deliver]


def doubt(batches: Sequence[Batch]) -> None:
    """Their commit was asked for and never answered."""
    for facts in batches:
        _hand(facts, _doubters)


def _deliver(facts: Batch) -> None:
    _hand(facts, _listeners)


def _hand(facts: Batch, listeners: list[Listener]) -> None:
    for listener in tuple(listeners):
        try:
            listener(facts)
        except Exception:
            logger.exception("a listener failed on %s", [type(fact).__name__ for fact in facts])
