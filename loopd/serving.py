"""The life of the serving process: starting, ready, draining, stopped.

Whoever owns the event loop (the Daphne server class, or the lifespan of another ASGI server) calls `start` and `stop`
on it, once each. Management commands, migrations and the autoreloader's parent never do.
"""

from __future__ import annotations

import asyncio
import atexit
import logging
import threading
import time
from enum import StrEnum

from .http import PooledHandler
from .workers import Workers

logger = logging.getLogger(__name__)


class Phase(StrEnum):
    BUILT = "not started"
    STARTING = "starting"
    READY = "ready"
    DRAINING = "draining"
    STOPPED = "stopped"


class Serving:
    """Starts the workers, tells whether they are up, and takes everything down in an order that loses nothing.

    A stop: no new work is taken, running requests and their hooks after the commit end, then the workers stop in
    reverse order (the unread runtime flushes what is dirty, the leases go back last), all within `deadline_s`.
    """

    def __init__(self, workers: Workers, http: PooledHandler, deadline_s: float) -> None:
        self.workers, self.http, self.deadline_s = workers, http, deadline_s
        self.phase = Phase.BUILT
        self.loop: asyncio.AbstractEventLoop | None = None
        self._stopping = threading.Lock()

    @property
    def takes_work(self) -> bool:
        """False once a stop has begun."""
        return self.phase not in (Phase.DRAINING, Phase.STOPPED)

    async def start(self) -> None:
        if self.phase is not Phase.BUILT:
            return
        self.phase = Phase.STARTING
        self.loop = asyncio.get_running_loop()
        # A development server that reloads itself ends without a signal to its loop.
        atexit.register(self._stop_workers, 5.0)
        await self.loop.run_in_executor(None, self.workers.start)
        if self.phase is Phase.STARTING:
            self.phase = Phase.READY
            logger.info("ready")

    async def stop(self) -> None:
        """Drain and stop; never raises, and returns within the deadline."""
        if self.phase in (Phase.BUILT, Phase.DRAINING, Phase.STOPPED):
            return
        self.phase = Phase.DRAINING
        began = time.monotonic()
        if not await self.http.drain(self.deadline_s * 0.4):
            logger.error("%d requests still ran when the process stopped", self.http.running)
        left = max(1.0, self.deadline_s - (time.monotonic() - began))
        stopping = asyncio.get_running_loop().run_in_executor(None, self._stop_workers, left)
        if not (await asyncio.wait([stopping], timeout=left + 1.0))[0]:
            logger.error("the workers did not stop within %.1f s", left)
        self.phase = Phase.STOPPED
        logger.info("stopped after %.2f s", time.monotonic() - began)

    def _stop_workers(self, deadline_s: float) -> None:
        with self._stopping:
            self.workers.stop(deadline_s)
