"""The server process: Daphne with a start and a stop of its own. `python -m loopd.server [daphne's options]`.

Daphne sends no lifespan events, so its server class starts the workers when the reactor runs, and stops them before it
ends, whether by a signal, by Ctrl-C or by `runserver`. Three things of Daphne's are mended on the way:

- at shutdown it looks up an application that a connection need not have any more, and the error would drop whatever
  was chained behind it;
- it has no back-pressure: a client that does not read makes it buffer without end. Here a send waits while the
  connection's buffer is full, and a connection that stays full is cut;
- it takes request bodies of any size (`uploads`).
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import threading
from typing import Any

from daphne.cli import CommandLineInterface
from daphne.server import Server
from daphne.ws_protocol import WebSocketProtocol
from django.core.exceptions import ImproperlyConfigured
from twisted.internet import defer, reactor

from . import env
from .uploads import bound_uploads
from .valve import Valve

logger = logging.getLogger(__name__)

LAST_WORDS_S = 1.0
"""For clients to hear, at a stop, that their socket is closing."""
EXIT_PATIENCE_S = 5.0
"""After a stop, for threads that hang in something that does not come back."""
MAX_INCOMING_FRAME_BYTES = 16 * 1024
MAX_MESSAGE_BYTES = 4 * 1024 * 1024
"""In both directions: a snapshot of some 25,000 conversations with unread."""


class LoopdServer(Server):
    def run(self) -> None:
        reactor.callWhenRunning(self._start)  # type: ignore[attr-defined]
        self._failure: BaseException | None = None
        self._ports: list[Any] = []
        super().run()
        if self._failure is not None:
            raise SystemExit(f"loopd did not start: {self._failure}")

    def listen_success(self, port: Any) -> None:
        super().listen_success(port)
        self._ports.append(port)

    def _start(self) -> None:
        bound_uploads(self.http_factory)
        from .asgi import serving

        self._serving = serving
        self._starting = asyncio.ensure_future(serving.start())
        self._starting.add_done_callback(self._started)

    def _started(self, starting: asyncio.Future[None]) -> None:
        if not starting.cancelled() and starting.exception() is not None:
            self._failure = starting.exception()
            self.stop()

    async def handle_reply(self, protocol: Any, message: dict[str, Any]) -> None:
        """Hand a message to the connection, then wait while its buffer is full."""
        kind = message["type"]
        if kind == "http.response.body":
            valve = Valve.of_request(protocol, more=message.get("more_body", False))
        else:
            valve = Valve.of_socket(protocol) if kind == "websocket.send" else None
        await super().handle_reply(protocol, message)
        if valve is not None:
            await valve.passed()

    def kill_all_applications(self) -> defer.Deferred[None]:
        """Daphne's hook before the reactor ends, which waits for what this returns; it never fails."""
        return defer.Deferred.fromFuture(asyncio.ensure_future(self._drain()))

    async def _drain(self) -> None:
        for port in self._ports:
            port.stopListening()
        if hasattr(self, "_serving"):
            await self._serving.stop()
        applications = [
            application
            for details in self.connections.values()
            if (application := details.get("application_instance")) is not None and not application.done()
        ]
        for application in applications:
            application.cancel()
        if applications:
            await asyncio.wait(applications, timeout=2)
        await self._let_go()
        _leave_at_last()

    async def _let_go(self) -> None:
        """Give clients a moment to hear that their socket is closing."""
        until = asyncio.get_running_loop().time() + LAST_WORDS_S
        while asyncio.get_running_loop().time() < until and any(
            isinstance(protocol, WebSocketProtocol) and "disconnected" not in details
            for protocol, details in self.connections.items()
        ):
            await asyncio.sleep(0.02)


def _leave_at_last() -> None:
    """End the process even where a thread does not end. Everything that can be saved has been saved."""

    def leave() -> None:
        logger.error("left with threads that did not end")
        logging.shutdown()
        os._exit(1)

    timer = threading.Timer(EXIT_PATIENCE_S, leave)
    timer.daemon = True
    timer.start()


class CommandLine(CommandLineInterface):
    server_class = LoopdServer
    description = "Serves loopd over HTTP and WebSocket."


def main(arguments: list[str]) -> None:
    """Daphne's options; where to listen also from `LOOPD_HOST` and `PORT`."""
    given = list(arguments)
    named = {option.split("=")[0] for option in given}
    elsewhere = {"-u", "--fd", "-e", "--endpoint"}
    try:
        host, port = env.listen_address()
        if not named & {"-p", "--port", *elsewhere}:
            given = ["-p", str(port), *given]
        if not named & {"-b", "--bind", *elsewhere}:
            given = ["-b", host, *given]
        if not any(option.startswith("-v") or option == "--verbosity" for option in given):
            given = ["-v", "0", *given]
        given = ["--websocket-max-frame-size", str(MAX_INCOMING_FRAME_BYTES), *given]
        given = ["--websocket-max-message-size", str(MAX_MESSAGE_BYTES), *given]
        CommandLine().run([*given, "loopd.asgi:application"])
    except ImproperlyConfigured as error:  # the name of a setting, and what is wrong with it
        sys.exit(f"loopd cannot start: {error}")


if __name__ == "__main__":
    main(sys.argv[1:])
