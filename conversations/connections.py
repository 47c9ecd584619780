"""Database work outside a request: worker threads close what a request's end would have closed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import close_old_connections


@contextmanager
def database_unit() -> Iterator[None]:
    """One unit of work in a thread that no request owns.

    Connections that broke or outlived their age are dropped before and after, so that a worker survives an idle night
    and a restart of the database. Does nothing to a connection that is inside a transaction.
    """
    close_old_connections()
    try:
        yield
    finally:
        close_old_connections()
