"""The unread object in an answer to a read: the entry as memory has it, in the state that it has."""

from __future__ import annotations

from tests import verbs as do
from tests.unread.house import House, as_product
from tests.world import World


def test_a_hint_of_nothing_is_not_called_ready() -> None:
    """Two messages came after the last flush, and the process died: what a read leaves of them is not known."""
    world = World("ann", "ben")
    house = House(world)
    world.channel("x", "ann", "ben")
    do.post(world, "ann", "x")
    house.settle()
    do.read(world, "ben", "x")
    house.runtime.flush()
    first = do.post(world, "ann", "x")
    do.post(world, "ann", "x")
    house = house.crashed()
    house.load_everybody()
    with as_product(house):
        path = f"/conversations/{world.scope['x'].id}/read"
        some = world.call("ben", "PUT", path, {"message_id": first.id}).ok()
        assert (some["state"], some["messages"]) == ("snapshot_serving", 0)
        everything = world.call("ben", "PUT", path, {}).ok()
        assert (everything["state"], everything["messages"]) == ("ready", 0)


def test_rows_that_are_not_in_are_said_to_be_on_their_way() -> None:
    world = World("ann", "ben")
    house = House(world)
    world.channel("x", "ann", "ben")
    first = do.post(world, "ann", "x")
    do.post(world, "ann", "x")
    house = house.restarted()
    with as_product(house):
        some = world.call("ben", "PUT", f"/conversations/{world.scope['x'].id}/read", {"message_id": first.id}).ok()
        assert (some["state"], some["messages"]) == ("hydrating", 0)
        house.load_everybody()
        again = world.call("ben", "PUT", f"/conversations/{world.scope['x'].id}/read", {"message_id": first.id}).ok()
        assert (again["state"], again["messages"]) == ("snapshot_serving", 1)


def test_a_workspace_of_another_process_shows_nothing() -> None:
    world = World("ann", "ben")
    world.channel("x", "ann", "ben")
    do.post(world, "ann", "x")
    with as_product(House()):
        answer = world.call("ben", "PUT", f"/conversations/{world.scope['x'].id}/read", {}).ok()
        assert (answer["state"], answer["messages"], answer["manual"]) == ("unavailable", 0, False)
