"""The server process: Daphne with a start and a stop of its own. `python -m loopd.server [daphne's options]`.

Daphne sends no lifespan events, so its server class starts the workers when the reactor runs, and stops them before it
ends, whether by a signal, by Ctrl-C or by `runserver`. Two things of Daphne's are mended on the way:

- at shutdown it looks up an application that a connection need not have any more, and the error would drop whatever
  was chained behind it;
- it has no back-pressure: a client that does not read makes it buffer without end. Here a send waits while the
  connection's buffer is full, and a connection that stays full is cut.
"""

from __future__ import annotations

import asyncio
import os
import sys
from typing import Any

from daphne.cli import CommandLineInterface
from daphne.server import Server
from twisted.internet import defer, reactor

from .valve import Valve

DEFAULT_PORT = "8000"


class LoopdServer(Server):
    def run(self) -> None:
        reactor.callWhenRunning(self._start)  # type: ignore[attr-defined]
        self._failure: BaseException | None = None
        super().run()
        if self._failure is not None:
            raise SystemExit(f"loopd did not start: {self._failure}")

    def _start(self) -> None:
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
        for listening in self.listeners:
            listening.addCallback(lambda port: port.stopListening() if port else None)
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


class CommandLine(CommandLineInterface):
    server_class = LoopdServer
    description = "Serves loopd over HTTP and WebSocket."


def main(arguments: list[str]) -> None:
    """Daphne's options; the port also from `PORT`."""
    given = list(arguments)
    if not any(option.split("=")[0] in ("-p", "--port", "-u", "--fd", "-e", "--endpoint") for option in given):
        given = ["-p", os.environ.get("PORT", "").strip() or DEFAULT_PORT, *given]
    if not any(option.startswith("-v") or option == "--verbosity" for option in given):
        given = ["-v", "0", *given]
    CommandLine().run([*given, "loopd.asgi:application"])


if __name__ == "__main__":
    main(sys.argv[1:])
