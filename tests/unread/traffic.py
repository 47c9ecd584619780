"""Random live traffic of a cast, by many threads at once or by one: every kind of write that unread depends on."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from typing import Any
from uuid import UUID

from conversations.actions import reading
from conversations.errors import Refusal, Unavailable
from conversations.models import Message
from tests import verbs as do
from tests.world import World

Move = Callable[[], Any]


class Traffic:
    """Moves in a world: `play(rng)` makes one. Scopes and messages to choose from are shared by all threads.

    What the rules refuse is part of the traffic; a busy database or a lost lock (`Unavailable`) is not, and is raised.
    """

    def __init__(self, world: World, *scopes: str, threads: int = 3) -> None:
        self.world, self.people = world, list(world.member)
        self.places = list(scopes)
        self.messages: dict[str, list[Message]] = {name: [] for name in scopes}
        self.refused = 0
        self._threads = threads
        self._opening = threading.Lock()

    def play(self, rng: random.Random) -> None:
        try:
            rng.choices(self._moves(rng), _WEIGHTS)[0]()
        except Unavailable:
            raise
        except Refusal:
            self.refused += 1

    def _moves(self, rng: random.Random) -> list[Move]:
        world, who, scope = self.world, rng.choice(self.people), rng.choice(self.places)
        said = self.messages[scope][-40:]
        some = rng.choice(said) if said else None
        level = rng.choice(("all", "mentions", "none"))
        return [
            lambda: self.say(who, scope, rng.sample(self.people, rng.choice((0, 0, 1, 2)))),
            lambda: do.read(world, who, scope),
            lambda: some and do.read(world, who, scope, some),
            lambda: self._read_many(who),
            lambda: do.join(world, who, scope),
            lambda: do.leave(world, who, scope),
            lambda: do.notify(world, who, scope, level),
            lambda: do.mark_unread(world, who, scope),
            lambda: some and do.mark_unread(world, who, scope, some),
            lambda: do.clear_unread(world, who, scope),
            lambda: do.archive(world, self.people[0], scope),
            lambda: do.restore(world, self.people[0], scope),
            lambda: some and self._edit(some, rng.sample(self.people, rng.choice((0, 1, 2)))),
            lambda: some and do.delete(world, self.people[0], some),
            lambda: do.share(world, who, scope, rng.choice(("share", "pin", "topic"))),
            lambda: some and do.react(world, who, some, rng.choice(("tada", "thumbsup"))),
            lambda: some and self._open_thread(who, some, scope),
            lambda: len(said) > 3 and do.rewind(world, self.people[0], scope, said[-3]),
        ]

    def say(self, who: str, scope: str, mentions: list[str]) -> None:
        self.messages[scope].append(do.post(self.world, who, scope, mentions=mentions))

    def _edit(self, message: Message, mentions: list[str]) -> None:
        do.edit(self.world, self._name(message.author_id), message, "said otherwise", tuple(mentions))

    def _read_many(self, who: str) -> None:
        ids = [self.world.scope[name].id for name in self.places]
        reading.mark_many_read(user=self.world.user[who], workspace_id=self.world.id, scope_ids=ids)

    def _open_thread(self, who: str, root: Message, scope: str) -> None:
        with self._opening:
            if self._threads <= 0 or self.world.scope[scope].parent_scope_id is not None:
                return
            self._threads -= 1
        name = f"thread-{root.id}"
        do.thread(self.world, who, root, name)
        if name not in self.messages:
            self.messages[name] = []
            self.places.append(name)

    def _name(self, member_id: UUID) -> str:
        return next(name for name, member in self.world.member.items() if member.id == member_id)


_WEIGHTS = (40, 8, 6, 2, 14, 3, 3, 2, 3, 2, 1, 12, 5, 4, 4, 2, 1, 1)
