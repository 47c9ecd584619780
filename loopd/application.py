"""Where a connection goes: health beside everything, streams and sockets to their ASGI apps, the rest to Django."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from re import Pattern
from typing import Any

from .health import healthz, readyz
from .http import PooledHandler, refuse
from .serving import Serving

logger = logging.getLogger(__name__)

Scope = dict[str, Any]
Message = dict[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]
Route = tuple[Pattern[str], App]
"""A path and its app; named groups of the path become `scope["path_parameters"]`."""


class Application:
    """`streams` are raw ASGI HTTP endpoints, `sockets` WebSocket endpoints; the first that matches the path wins."""

    def __init__(
        self,
        serving: Serving,
        http: PooledHandler,
        static: Callable[[App], App],
        streams: Sequence[Route],
        sockets: Sequence[Route],
    ) -> None:
        self.serving = serving
        self._http = static(http)
        self._streams, self._sockets = streams, sockets

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        kind = scope["type"]
        if kind == "http":
            await self._serve_http(scope, receive, send)
        elif kind == "websocket":
            await self._serve_socket(scope, receive, send)
        elif kind == "lifespan":
            await self._live(receive, send)
        else:
            raise ValueError(f"loopd does not speak {kind}")

    async def _serve_http(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"]
        if path == "/healthz":
            await healthz(send)
        elif path == "/readyz":
            await readyz(self.serving, send)
        elif not self.serving.takes_work:
            await refuse(send, 503, "unavailable", "This server is stopping; try again shortly.")
        elif found := _match(self._streams, scope):
            await found(scope, receive, send)
        else:
            await self._http(scope, receive, send)

    async def _serve_socket(self, scope: Scope, receive: Receive, send: Send) -> None:
        found = _match(self._sockets, scope) if self.serving.takes_work else None
        if found:
            await found(scope, receive, send)
        else:
            await receive()
            await send({"type": "websocket.close", "code": 4004 if self.serving.takes_work else 4012})

    async def _live(self, receive: Receive, send: Send) -> None:
        while True:
            message = await receive()
            if message["type"] == "lifespan.startup":
                try:
                    await self.serving.start()
                except Exception as error:
                    await send({"type": "lifespan.startup.failed", "message": str(error)})
                    return
                await send({"type": "lifespan.startup.complete"})
            elif message["type"] == "lifespan.shutdown":
                await self.serving.stop()
                await send({"type": "lifespan.shutdown.complete"})
                return


def _match(routes: Sequence[Route], scope: Scope) -> App | None:
    for pattern, app in routes:
        if found := pattern.fullmatch(scope["path"]):
            scope["path_parameters"] = found.groupdict()
            return app
    return None
