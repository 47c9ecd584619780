"""One transaction per action, tried again where the database ended it in somebody's favour.

A deadlock or a lock wait that ran out rolls the whole transaction back, so the whole action runs again: it must take
everything it decides by from the database, inside. Hooks of the attempt that failed are dropped with it; where the
connection broke in the middle of the commit, its facts are in doubt.
"""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from django.db import InterfaceError, OperationalError, connection, transaction

from .errors import Unavailable
from .publish import Batch, awaiting_commit, doubt

logger = logging.getLogger(__name__)

MAX_ATTEMPTS = 5
BACKOFF_S = 0.01
"""Upper bound of the random wait before the second attempt; it doubles with each further one."""
GIVE_UP_AFTER_S = 10.0
"""No further attempt once this much time is gone: a lock wait that ran out has taken its patience already."""

_LOCK_WAIT, _DEADLOCK = 1205, 1213

P = ParamSpec("P")
R = TypeVar("R")


def in_transaction(action: Callable[P, R]) -> Callable[P, R]:
    """Run `action` in `transaction.atomic()`, at most `MAX_ATTEMPTS` times and not for longer than `GIVE_UP_AFTER_S`;
    then `Unavailable`, with nothing written.

    Inside another transaction it joins that one and is not repeated: only the outermost can start over.
    """

    @wraps(action)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        if connection.in_atomic_block:
            with transaction.atomic():
                return action(*args, **kwargs)
        give_up_at = time.monotonic() + GIVE_UP_AFTER_S
        for attempt in range(1, MAX_ATTEMPTS + 1):
            committing: list[Batch] = []
            try:
                with transaction.atomic():
                    result = action(*args, **kwargs)
                    committing = awaiting_commit()
                return result
            except (OperationalError, InterfaceError) as error:
                if not lost_a_lock(error):
                    doubt(committing)
                    raise
                logger.warning("attempt %s of %s lost a lock: %s", attempt, action.__qualname__, error)
            if time.monotonic() >= give_up_at:
                break
            if attempt < MAX_ATTEMPTS:
                time.sleep(random.uniform(0, BACKOFF_S * 2 ** (attempt - 1)))
        raise Unavailable("The database is busy; nothing was written. Try again.")

    return run


def lost_a_lock(error: Exception) -> bool:
    """The database gave up waiting for a lock, or chose this transaction to break a deadlock."""
    code = error.args[0] if error.args else None
    if connection.vendor == "sqlite":
        return "database is locked" in str(error) or "database table is locked" in str(error)
    return code in (_LOCK_WAIT, _DEADLOCK)
