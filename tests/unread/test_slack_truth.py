"""A real team's history as live traffic of its 71 members, with reads, leaves, mutes, deletes and restarts among it.

At full speed through the actions, seeded. About half a minute; `LOOPD_SLACK_TRUTH_SECONDS` plays on for longer, the
same export again and again with another seed each time.
"""

from __future__ import annotations

import io
import os
import random
import re
import time
from pathlib import Path
from typing import Any

import pytest

from conversations.actions import reading
from conversations.errors import NotFound, Refusal
from conversations.importing.archive import Archive
from conversations.importing.inspection import Place, author_of
from conversations.importing.kinds import Kept, kind_of
from conversations.importing.records import SlackMessage
from conversations.importing.replay import in_order_of_time
from conversations.importing.slack import inspected
from conversations.models import Message
from tests import verbs as do
from tests.unread.house import READY, Demand, House, truth_of
from tests.world import World
from unread.core.budgets import Budgets

EXPORT = Path(__file__).parents[1] / "data" / "slack-export-anonymised.zip"
SECONDS = float(os.environ.get("LOOPD_SLACK_TRUTH_SECONDS", "25"))
BUDGETS = Budgets(scope_log_size=20_000)
"""The log reaches back to the last restart, so that partial reads of what is exact stay exact."""
ROOTS = 200
_MENTION = re.compile(r"<@(U\w+)[^>]*>")
"""Whoever is a member of the conversation is mentioned by it."""


class Team:
    """Plays messages as their authors, and lets random members do random things in between."""

    def __init__(self, people: list[str], seed: int) -> None:
        self.rng = random.Random(seed)
        self.people = people
        self.world = World(*people)
        self.house = House(self.world, budgets=BUDGETS)
        self.said: dict[str, list[Message]] = {}
        self.roots: dict[str, Message] = {}
        self.done = 0
        self.restarts = 0

    def say(self, place: Place, message: SlackMessage) -> None:
        world, who, scope = self.world, author_of(message), place.channel.name
        if who not in world.member or not isinstance(kind_of(message), Kept):
            return
        if scope not in world.scope:
            others = [each for each in place.channel.members if each in world.member and each != who]
            world.channel(scope, who, *others[: self.rng.randrange(len(others) + 1)])
            self.said[scope] = []
        do.restore(world, self.people[0], scope)
        do.join(world, who, scope)
        text = _MENTION.sub(r"@\1 ", message.text)[:500] or "…"
        target = self._thread(who, message) or scope
        sent = do.post(world, who, target, text)
        self.said[target] = [*self.said[target][-50:], sent]
        if target == scope:
            self.roots[message.stamp.text] = sent
        if len(self.roots) > ROOTS:
            del self.roots[next(iter(self.roots))]
        self.done += 1

    def _thread(self, who: str, message: SlackMessage) -> str:
        """Of the message that this one replies to, where that is still here."""
        if message.thread not in self.roots or not message.is_reply:
            return ""
        root = self.roots[message.thread]
        name = f"thread {root.id}"
        if name in self.world.scope:
            do.restore(self.world, self.people[0], name)
            return name
        try:
            do.thread(self.world, who, root, name)
        except NotFound:
            return ""
        self.said[name] = []
        return name

    def live(self) -> None:
        """One random thing, by a random member; what the rules refuse is part of it."""
        try:
            self.rng.choices(self._things(), (12, 6, 5, 2, 4, 2, 3, 4, 2, 2, 2, 1))[0]()
        except Refusal:
            pass

    def _things(self) -> list[Any]:
        world, rng = self.world, self.rng
        who, scope = rng.choice(self.people), rng.choice(list(self.said))
        some = rng.choice(self.said[scope] or [None])
        return [
            lambda: do.read(world, who, scope),
            lambda: some and self._is_exact(who, scope) and do.read(world, who, scope, some),
            lambda: do.join(world, who, scope),
            lambda: do.leave(world, who, scope),
            lambda: do.notify(world, who, scope, rng.choice(("all", "mentions", "none"))),
            lambda: do.mark_unread(world, who, scope),
            lambda: some and self._is_exact(who, scope) and do.mark_unread(world, who, scope, some),
            lambda: some and do.delete(world, self._author(some), some),
            lambda: some and do.edit(world, self._author(some), some, "otherwise", tuple(rng.sample(self.people, 2))),
            lambda: do.share(world, who, scope),
            lambda: self._read_everything(who),
            lambda: (do.archive if world.scope[scope].active and rng.random() < 0.5 else do.restore)(
                world, self.people[0], scope
            ),
        ]

    def _is_exact(self, who: str, scope: str) -> bool:
        shown = self.house.shown(self.world, who, scope)
        return shown is not None and shown.state is READY

    def _author(self, message: Message) -> str:
        return next(name for name, member in self.world.member.items() if member.id == message.author_id)

    def _read_everything(self, who: str) -> None:
        ids = [self.world.scope[name].id for name in self.rng.sample(list(self.said), min(5, len(self.said)))]
        reading.mark_many_read(user=self.world.user[who], workspace_id=self.world.id, scope_ids=ids)

    def restart(self) -> None:
        self.check(Demand.EXACT)
        self.house = self.house.restarted(budgets=BUDGETS)
        self.restarts += 1
        self.check(Demand.EXACT)

    def check(self, demand: Demand) -> None:
        self.house.load_everybody()
        assert self.house.errors(demand) == []


@pytest.mark.slow
@pytest.mark.timeout(SECONDS * 6 + 120)
def test_every_badge_of_a_real_team_is_the_truth() -> None:
    until, seed, played = time.monotonic() + SECONDS, 0, 0
    with Archive(EXPORT) as archive:
        export = inspected(archive, io.StringIO())
        assert len(export.users) == 71
        while seed == 0 or time.monotonic() < until:
            team = Team(list(export.users), seed)
            for place, message in in_order_of_time(archive, export):
                if time.monotonic() > until:
                    break
                team.say(place, message)
                for _ in range(team.rng.randrange(5) if team.said else 0):
                    team.live()
                if team.rng.random() < 0.1:
                    team.house.settle()
                if team.rng.random() < 0.004:
                    team.restart()
            played += team.done
            _finish(team)
            seed += 1
    assert played > 50


def _finish(team: Team) -> None:
    """Exact for all; and once some have read a little after a restart, never less than the truth."""
    team.restart()
    truth = truth_of(team.world)
    assert sum(badge.lit for badges in truth.values() for badge in badges.values()) > len(team.people)
    for scope, said in team.said.items():
        for who in team.rng.sample(team.people, 10):
            try:
                do.read(team.world, who, scope, team.rng.choice(said))
            except Refusal:
                pass
            except IndexError:
                break
    team.check(Demand.COVERED)
    team.house = team.house.restarted()
    team.check(Demand.COVERED)
    team.house.stop()
