"""The commit boundary's second half: facts go out once, after the commit, in one batch.

`publish_on_commit` is the only caller of `transaction.on_commit`. Listeners run in the committing thread, each
isolated from the others' failures, so the writer's next read already shows what it wrote.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from functools import partial

from django.db import transaction

from .events import Fact

logger = logging.getLogger(__name__)

Batch = Sequence[Fact]
Listener = Callable[[Batch], None]

_listeners: list[Listener] = []


def subscribe(listener: Listener) -> Callable[[], None]:
    """Call `listener` with every committed batch, in order of subscription; returns the way to end that."""
    _listeners.append(listener)

    def unsubscribe() -> None:
        if listener in _listeners:
            _listeners.remove(listener)

    return unsubscribe


def publish_on_commit(facts: Batch) -> None:
    """Hand `facts` to all listeners after the current transaction commits; nothing happens when it rolls back."""
    if facts:
        transaction.on_commit(partial(_deliver, tuple(facts)), robust=True)


def _deliver(facts: Batch) -> None:
    for listener in tuple(_listeners):
        try:
            listener(facts)
        except Exception:
            logger.exception("a listener failed on %s", [type(fact).__name__ for fact in facts])
