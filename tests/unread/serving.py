"""The process's own runtime, running in the test process as it does in a server."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from conversations.ownership import current_owner
from conversations.unread_port import NoUnread, install_unread_reader
from tests.server import wait_until
from tests.world import World
from unread.app import UnreadApp, UnreadWorker, hydrate
from unread.core.runtime import UnreadRuntime
from unread.reader import MemoryReader
from unread.shapes import member_json


@contextmanager
def serving(app: UnreadApp) -> Iterator[UnreadRuntime]:
    """Workers, feed, ownership and reader; taken apart again at the end."""
    owner = current_owner()
    worker = UnreadWorker(app, owner)
    install_unread_reader(MemoryReader(app.runtime, hydrate))
    worker.start()
    try:
        yield app.runtime
    finally:
        worker.stop(10)
        install_unread_reader(NoUnread())


def warm(runtime: UnreadRuntime, world: World, *people: str) -> None:
    """Wait until these members' pages are in and no event waits for a roster."""
    for who in people:
        hydrate(world.id, world.member[who].id)
    wait_until(
        lambda: (
            all(shown(runtime, world, who)["state"] != "hydrating" for who in people)
            and runtime.stats().waiting_events == 0
        ),
        15,
        lambda: runtime.stats(),
    )


def shown(runtime: UnreadRuntime, world: World, who: str) -> dict[str, object]:
    return member_json(runtime.member_unread(world.id.int, world.member[who].id.int))
