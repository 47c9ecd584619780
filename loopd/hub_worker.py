"""The hub's life in a serving process: attached to the event loop, and told when a workspace is lost."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any
from uuid import UUID

from conversations.ownership import Owner
from realtime.admission import NOT_THE_OWNER
from realtime.hub import Hub

RESTARTING = 4012


class HubWorker:
    """A worker; started and stopped from threads beside the loop."""

    name = "realtime-hub"

    def __init__(self, hub: Hub, owner: Owner, loop: Callable[[], asyncio.AbstractEventLoop | None]) -> None:
        self._hub, self._owner, self._loop = hub, owner, loop

    def start(self) -> None:
        self._owner.on_lost(self._lost)

        async def attach() -> None:
            self._hub.attach()

        self._on_loop(attach(), 10.0)

    def stop(self, deadline_s: float) -> None:
        """Close every socket; the pages connect again."""
        self._on_loop(self._hub.detach(RESTARTING), deadline_s)

    def healthy(self) -> bool:
        return self._hub.running()

    def _lost(self, workspace_id: UUID, epoch: int) -> None:
        self._hub.call(lambda: self._hub.close(self._hub.sockets.of_workspace(workspace_id), NOT_THE_OWNER))

    def _on_loop(self, work: Coroutine[Any, Any, None], deadline_s: float) -> None:
        loop = self._loop()
        if loop is None or loop.is_closed() or not loop.is_running():
            work.close()
            return
        asyncio.run_coroutine_threadsafe(work, loop).result(deadline_s)
