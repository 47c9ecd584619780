"""Threads that begin together, each with a database connection of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Any

from django.db import connections

PATIENCE_S = 60


def race(calls: Iterable[Callable[[], Any]]) -> list[Any]:
    """Run all calls at once; their results or exceptions, in order. Fails where one does not end."""
    calls = list(calls)
    start = threading.Barrier(len(calls))
    results: list[Any] = [None] * len(calls)

    def run(at: int, call: Callable[[], Any]) -> None:
        try:
            start.wait(PATIENCE_S)
            results[at] = call()
        except Exception as error:
            results[at] = error
        finally:
            connections.close_all()

    threads = [
        threading.Thread(target=run, args=(at, call), name=f"racer-{at}", daemon=True) for at, call in enumerate(calls)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_S)
        assert not thread.is_alive(), f"{thread.name} hangs"
    return results
