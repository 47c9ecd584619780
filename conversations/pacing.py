"""How fast one member may send: a token bucket each, in this process (which owns the workspace)."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from uuid import UUID

from django.conf import settings

from .errors import RateLimited

MAX_BUCKETS = 100_000
"""Members remembered; the one idle for longest is forgotten first, which fills its bucket."""


class Pace:
    """At most `per_second` takes a second for each member, saved up for at most one second."""

    def __init__(self, per_second: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate = per_second
        self._clock = clock
        self._buckets: OrderedDict[UUID, tuple[float, float]] = OrderedDict()
        self._lock = threading.Lock()

    def take(self, member_id: UUID) -> None:
        """One send; `RateLimited` with the seconds to wait where the member has none left."""
        with self._lock:
            now = self._clock()
            left, at = self._buckets.pop(member_id, (float(self._rate), now))
            left = min(float(self._rate), left + (now - at) * self._rate)
            allowed = left >= 1.0
            self._buckets[member_id] = (left - 1.0 if allowed else left, now)
            if len(self._buckets) > MAX_BUCKETS:
                self._buckets.popitem(last=False)
        if not allowed:
            raise RateLimited(
                f"At most {self._rate} messages a second; wait a moment.", retry_after_s=(1.0 - left) / self._rate
            )


_pace: Pace | None = None


def send_pace() -> Pace:
    """The one of this process, by `LOOPD_MESSAGES_PER_SECOND`."""
    global _pace
    if _pace is None:
        _pace = Pace(settings.LOOPD_MESSAGES_PER_SECOND)
    return _pace
