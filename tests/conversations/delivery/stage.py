"""A hub without threads: `settle` runs both of its loops until nothing is left to do."""

from __future__ import annotations

import time
from typing import Any

from conversations.delivery.announcing import Announcer, announcer, install_announcer
from conversations.delivery.bridge import Bridge
from conversations.delivery.feeds import Feed, Subscriber
from conversations.delivery.hub import StreamHub
from conversations.delivery.outbox import Outbox
from conversations.models import ApiToken, Scope
from conversations.publish import subscribe
from tests.world import World

from .pages import Page

PATIENCE_S = 20.0


class Clock:
    """Real time, moved on by what a test says has passed."""

    def __init__(self) -> None:
        self.passed_s = 0.0

    def __call__(self) -> float:
        return time.monotonic() + self.passed_s


class Watcher(Page):
    """A page with its feed; `reads` False: it is connected and never reads."""

    def __init__(self, hub: StreamHub, world: World, who: str, scope: Scope, since: str = "", **outbox: Any) -> None:
        super().__init__()
        member = world.member[who]
        token = ApiToken.objects.get(user=world.user[who])
        subscriber = Subscriber(world.id, scope.id, member.id, f"token:{token.pk}", sees_hidden=not member.is_person)
        self.hub, self.reads, self.last_id = hub, True, since
        self.outbox = Outbox(**outbox)
        self.feed_ = Feed(subscriber, self.outbox, int(since) if since else None)
        hub.join(self.feed_)

    @property
    def closed(self) -> bool:
        return self.outbox.closed

    def read(self) -> bool:
        """Take what waits; whether there was something."""
        took = False
        while self.reads and (chunk := self.outbox.take()):
            took = True
            self.feed(chunk)
            if self.outbox.has_room_again():
                self.hub.has_room(self.feed_)
        return took

    def leave(self) -> str:
        """Close the page; returns the id to come back with."""
        self.hub.leave(self.feed_)
        return self.last_id


class Stage:
    """Use as a context: writers publish to `bridge`, and facts reach the hub, until it is left."""

    def __init__(self, world: World, bridge: Bridge, clock: Clock | None = None) -> None:
        self.world, self.bridge = world, bridge
        self.clock = clock or Clock()
        self.hub = StreamHub(bridge, self.clock)
        self.watchers: list[Watcher] = []

    def __enter__(self) -> Stage:
        self._before = announcer()
        install_announcer(Announcer(self.bridge))
        self._unsubscribe = subscribe(self.hub.heard)
        return self

    def __exit__(self, *failure: object) -> None:
        self._unsubscribe()
        install_announcer(self._before)

    def watch(self, who: str = "ann", scope: str = "x", since: str = "", **outbox: Any) -> Watcher:
        watcher = Watcher(self.hub, self.world, who, self.world.scope[scope], since, **outbox)
        self.watchers.append(watcher)
        self.settle()
        return watcher

    def settle(self) -> None:
        """Until nothing is due; what is due later needs `later`."""
        deadline = time.monotonic() + PATIENCE_S
        busy = True
        while busy:
            assert time.monotonic() < deadline, "the hub does not come to rest"
            busy = self.hub.follower.step(0)
            busy |= self.hub.step(0)
            read = [watcher.read() for watcher in self.watchers]
            busy |= any(read)

    def later(self, seconds: float) -> None:
        self.clock.passed_s += seconds
        self.settle()
