"""Real threads with connections of their own, begun at one moment, whose failures fail the test."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TypeVar

from django.db import connection

T = TypeVar("T")

PATIENCE_S = 60.0


def together(tasks: Sequence[Callable[[], T]]) -> list[T]:
    """Run all tasks at once and return their results in order; the first failure is raised here."""
    start = threading.Barrier(len(tasks))
    results: dict[int, T] = {}
    failures: list[BaseException] = []

    def run(n: int, task: Callable[[], T]) -> None:
        try:
            start.wait(PATIENCE_S)
            results[n] = task()
        except BaseException as error:
            failures.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=(n, task), name=f"crowd-{n}") for n, task in enumerate(tasks)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_S)
    assert not any(thread.is_alive() for thread in threads), "a thread hangs"
    if failures:
        raise failures[0]
    return [results[n] for n in range(len(tasks))]
