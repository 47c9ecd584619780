"""Eight writers on real connections with the process's own runtime, held against a count of the rows at the end."""

from __future__ import annotations

import random
import threading
import time
from typing import Any

from ..databases import open_database

PEOPLE = ("ann", "ben", "cat", "dan", "eve", "fay", "gus", "hal", "ida", "jon", "kim", "lou")
SCOPES = 6


def measure(writers: int, seconds: float, readers: int, seed: int) -> dict[str, Any]:
    """How much was done, and every difference between what the runtime shows and what the rows say."""
    open_database()
    from conversations.connections import database_unit
    from conversations.ownership import current_owner
    from conversations.ownership.keeper import LeaseKeeper
    from tests.server import wait_until
    from tests.unread.serving import serving
    from tests.unread.traffic import Traffic
    from tests.world import World
    from unread.app import hydrate, unread_app

    world = World(*PEOPLE)
    keeper = LeaseKeeper(current_owner())
    keeper.start()
    errors: list[str] = []
    with serving(unread_app()) as runtime:
        current_owner().require(world.id)
        names = [f"c{number}" for number in range(SCOPES)]
        for name in names:
            world.channel(name, *PEOPLE)
        traffic = Traffic(world, *names, threads=8)
        until = time.monotonic() + seconds
        made, looks = [0] * writers, [0] * readers

        def write(number: int) -> None:
            rng = random.Random(f"{seed}/{number}")
            while time.monotonic() < until:
                with database_unit():
                    traffic.play(rng)
                made[number] += 1

        def look(number: int) -> None:
            rng = random.Random(f"{seed}/look/{number}")
            while time.monotonic() < until:
                who = world.member[rng.choice(PEOPLE)]
                hydrate(world.id, who.id)
                view = runtime.member_unread(world.id.int, who.id.int)
                if view.has_unread != any(shown.lit for shown in view.counts.values()):
                    errors.append(f"{who.display_name}: the dot disagrees with the list")
                looks[number] += 1
                time.sleep(0.002)

        def guarded(work: Any, number: int) -> None:
            try:
                work(number)
            except Exception as error:
                errors.append(f"{work.__name__} {number}: {type(error).__name__}: {error}")

        threads = [threading.Thread(target=guarded, args=(write, number)) for number in range(writers)]
        threads += [threading.Thread(target=guarded, args=(look, number)) for number in range(readers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for who in world.member.values():
            hydrate(world.id, who.id)
        wait_until(lambda: _settled(runtime, world), 60, runtime.stats)
        differences, entries, ready = _compare(runtime, world)
        stats = runtime.stats()
    keeper.stop(5)
    return {
        "writes": sum(made),
        "reads": sum(looks),
        "entries": entries,
        "ready": ready,
        "differences": differences,
        "errors": errors,
        "scopes": stats.scopes,
    }


def _settled(runtime: Any, world: Any) -> bool:
    views = [runtime.member_unread(world.id.int, each.id.int) for each in world.member.values()]
    stats = runtime.stats()
    return all(view.state != "hydrating" for view in views) and not stats.waiting_events and not stats.scopes_with_gaps


def _compare(runtime: Any, world: Any) -> tuple[list[str], int, int]:
    """Differences, entries compared, and how many of them the runtime calls ready."""
    from tests.unread.house import badge_of, truth_of
    from unread.core.states import CountState

    differences, entries, ready = [], 0, 0
    for member, expected in truth_of(world).items():
        view = runtime.member_unread(world.id.int, member.int)
        if view.has_unread != any(badge.lit for badge in expected.values()):
            differences.append(f"{member}: the dot says {view.has_unread}")
        if stray := {scope for scope in view.counts if scope not in {each.int for each in expected}}:
            differences.append(f"{member}: shows {len(stray)} scopes that he is not in")
        for scope, badge in expected.items():
            shown = runtime.shown(world.id.int, member.int, scope.int)
            entries += 1
            ready += shown is not None and shown.state is CountState.READY
            if badge_of(shown) != badge:
                differences.append(f"{member} in {scope}: {badge_of(shown)}, the rows say {badge}")
    return differences, entries, ready
