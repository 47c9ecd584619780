"""The product's server with a count of its statements: `python -m bench.counting_server`. For measuring only.

`/metrics` then also says how many statements ran in all, on the event loop's thread, and as unread SQL of anybody but
the runtime's own workers; and in how many batches deltas were handed out to sockets.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "loopd.settings")

import django

django.setup()

from django.db import connections  # noqa: E402 - Django's apps must be loaded first
from django.db.backends.base.base import BaseDatabaseWrapper  # noqa: E402
from django.db.backends.signals import connection_created  # noqa: E402

from loopd import server  # noqa: E402
from loopd.metrics import Gauges  # noqa: E402
from realtime.hub import Hub  # noqa: E402
from tests.unread.guard import is_unread_sql  # noqa: E402

RUNTIME_THREADS = "unread-"
"""Flusher and jobs, which write and load snapshots in the background, whatever is being measured."""


class Statements:
    def __init__(self) -> None:
        self.all = self.on_loop = self.unread = 0
        self._main = threading.main_thread().ident
        self._lock = threading.Lock()

    def watch(self, connection: BaseDatabaseWrapper, **_: Any) -> None:
        if self.count not in connection.execute_wrappers:
            connection.execute_wrappers.append(self.count)

    def count(self, execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
        mine = threading.current_thread().name.startswith(RUNTIME_THREADS)
        with self._lock:
            self.all += 1
            self.on_loop += threading.get_ident() == self._main
            self.unread += not mine and is_unread_sql(sql)
        return execute(sql, params, many, context)


class Batches:
    """Rounds of the hub in which members had something new."""

    def __init__(self) -> None:
        self.count = 0
        self._deliveries = Hub._deliveries

    def watch(self) -> None:
        batches = self

        def deliveries(hub: Hub, news: Any) -> Iterator[int]:
            batches.count += bool(news.changed)
            return batches._deliveries(hub, news)

        Hub._deliveries = deliveries  # type: ignore[method-assign]


def main() -> None:
    statements, batches = Statements(), Batches()
    connection_created.connect(statements.watch, weak=False)
    for connection in connections.all(initialized_only=True):
        statements.watch(connection)
    batches.watch()
    Gauges(
        {
            "bench_statements": ("All statements.", lambda: statements.all),
            "bench_statements_on_loop": ("Statements on the event loop's thread.", lambda: statements.on_loop),
            "bench_unread_statements": ("Unread SQL.", lambda: statements.unread),
            "bench_delta_batches": ("Rounds that handed out deltas.", lambda: batches.count),
        }
    )
    server.main(sys.argv[1:])


if __name__ == "__main__":
    main()
