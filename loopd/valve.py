"""Back-pressure for Daphne: lets an application send only as fast as its client reads."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from twisted.internet.interfaces import IPushProducer
from zope.interface import implementer

logger = logging.getLogger(__name__)

PATIENCE_S = 60.0
"""A client that reads nothing for so long is cut off."""
_ATTRIBUTE = "_loopd_valve"


@implementer(IPushProducer)
class Valve:
    """Registered as the producer of a connection: Twisted closes it while more than 64 KiB wait to be written."""

    def __init__(self, transport: Any) -> None:
        self._transport = transport
        self._open = asyncio.Event()
        self._open.set()

    @classmethod
    def of_socket(cls, protocol: Any) -> Valve | None:
        """The valve of a WebSocket; it takes the place of the HTTP channel that the socket began as."""
        valve: Valve | None = getattr(protocol, _ATTRIBUTE, None)
        if valve is None and (transport := getattr(protocol, "transport", None)) is not None:
            valve = cls(transport)
            transport.unregisterProducer()
            transport.registerProducer(valve, True)
            setattr(protocol, _ATTRIBUTE, valve)
        return valve

    @classmethod
    def of_request(cls, request: Any, more: bool) -> Valve | None:
        """The valve of a response in several parts; none is needed for the last, or only, part."""
        valve: Valve | None = getattr(request, _ATTRIBUTE, None)
        if more and valve is None and request.channel is not None:
            valve = cls(request.transport)
            request.registerProducer(valve, True)
            setattr(request, _ATTRIBUTE, valve)
        elif not more and valve is not None:
            request.unregisterProducer()
            return None
        return valve

    async def passed(self) -> None:
        """Return when more may be sent, or when there is nobody to send to; cut a client that does not read."""
        if self._open.is_set():
            return
        try:
            await asyncio.wait_for(self._open.wait(), PATIENCE_S)
        except TimeoutError:
            logger.info("cut off a client that read nothing for %.0f s", PATIENCE_S)
            self._transport.abortConnection()

    def pauseProducing(self) -> None:  # noqa: N802 - Twisted's name
        self._open.clear()

    def resumeProducing(self) -> None:  # noqa: N802
        self._open.set()

    def stopProducing(self) -> None:  # noqa: N802
        self._open.set()
