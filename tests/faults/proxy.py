"""A TCP proxy in front of a real service, which can be taken away and come back."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator


class Proxy:
    """Forwards to `(host, port)`. `cut` ends every connection and refuses new ones, until `mend`."""

    def __init__(self, host: str, port: int) -> None:
        self._target = (host, port)
        self._pairs: set[tuple[socket.socket, socket.socket]] = set()
        self._lock = threading.Lock()
        self._cut = False
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        with self._lock:
            self._cut = True
            pairs = list(self._pairs)
        for pair in pairs:
            _close(pair)

    def mend(self) -> None:
        with self._lock:
            self._cut = False

    def close(self) -> None:
        self.cut()
        self._listening.close()

    def passing(self, pair: tuple[socket.socket, socket.socket], data: bytes, *, asked: bool) -> None:
        """Called before `data` is forwarded; may take its time. `asked`: from the client."""

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listening.accept()
            except OSError:
                return
            with self._lock:
                if self._cut:
                    client.close()
                    continue
            try:
                pair = (client, socket.create_connection(self._target, 10))
            except OSError:
                client.close()
                continue
            pair[1].settimeout(None)
            with self._lock:
                self._pairs.add(pair)
            for source, sink in (pair, pair[::-1]):
                threading.Thread(target=self._forward, args=(source, sink, pair), daemon=True).start()

    def _forward(self, source: socket.socket, sink: socket.socket, pair: tuple[socket.socket, socket.socket]) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                self.passing(pair, data, asked=source is pair[0])
                sink.sendall(data)
        _close(pair)
        with self._lock:
            self._pairs.discard(pair)


def _close(pair: tuple[socket.socket, socket.socket]) -> None:
    for end in pair:
        with contextlib.suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)
        end.close()


@contextlib.contextmanager
def proxied(host: str, port: int) -> Iterator[Proxy]:
    proxy = Proxy(host, port)
    try:
        yield proxy
    finally:
        proxy.close()
