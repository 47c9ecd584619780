"""Makes workspaces for a benchmark of servers: people with tokens, all of them in one channel."""

from __future__ import annotations

from typing import Any

from ..databases import open_database


def measure(workspaces: int, people: int) -> list[dict[str, Any]]:
    """For each workspace its id, its channel's id, and the tokens of its people; the first one opened the channel."""
    open_database()
    from conversations.ownership import current_owner
    from tests.world import World

    made = []
    for _ in range(workspaces):
        world = World(*(f"p{number}" for number in range(people)))
        world.channel("everybody", *world.member)
        made.append(
            {"id": str(world.id), "channel": str(world.scope["everybody"].id), "tokens": list(world.token.values())}
        )
    current_owner().release_all()
    return made
