"""Histories that once broke something, each reduced to what it takes, with the rule that it is about."""

from __future__ import annotations

from .player import Move, Player
from .runtimes import Config


def play(config: Config, *moves: Move) -> None:
    Player(config).play(moves)


def test_a_lost_removal_below_the_starting_generation_leaves_nobody_ready() -> None:
    """The warm job reads generation 1 as where history ends, but the message was counted as of generation 0: the
    removal in between is news of this life, and its hook never runs."""
    play(
        Config(lossy=True),
        ("post", 0, 0, 0, 0),
        ("deliver_all",),
        ("delete", 0, 0),
        ("lose", 0),
        ("jobs",),
        ("post", 0, 0, 0, 0),
        ("show", 0, 0, 0),
        ("deliver_all",),
    )


def test_a_row_does_not_claim_a_removal_that_is_still_on_its_way() -> None:
    play(
        Config(),
        ("post", 0, 0, 0, 0),
        ("deliver_all",),
        ("delete", 0, 0),
        ("jobs",),
        ("flush",),
    )


def test_a_read_below_a_lost_message_makes_nobody_ready() -> None:
    """The read covered the scope as it saw it, but arrives after a later message was given up."""
    play(
        Config(lossy=True),
        ("post", 1, 0, 0, 0),
        ("deliver_all",),
        ("jobs",),
        ("read_all", 0, 0, 0),
        ("post", 1, 0, 0, 0),
        ("lose", 1),
        ("read_all", 2, 0, 0),
        ("deliver", 1),
        ("wait", 0),
        ("wait", 1),
    )


def test_a_read_below_a_dropped_message_makes_nobody_ready() -> None:
    play(
        Config(tight=("scope_queue_size",)),
        ("post", 0, 0, 0, 0),
        ("deliver", 0),
        ("post", 0, 0, 0, 0),
        ("aside", 1, "post", 1, 0, 1, 0),
        ("aside", 1, "deliver", 1),
        ("job",),
    )


def test_a_read_tells_of_a_lost_activity_while_the_roster_is_being_read() -> None:
    """The header was read before the activity; only the reader's cursor event says that there is one."""
    play(
        Config(lossy=True),
        ("aside", 2, "lose", 0),
        ("post", 0, 0, 0, 0),
        ("aside", 2, "post", 0, 0, 0, 0),
        ("deliver_all",),
        ("aside", 1, "activity", 0, 0, 1),
        ("aside", 2, "deliver", 0),
        ("job",),
    )


def test_an_old_message_told_again_reveals_a_lost_leave() -> None:
    """The retry's event was accounted long ago, but it carries the roster generation of now."""
    play(
        Config(lossy=True, with_thread=True, members=3, busy_scopes=4),
        ("job",),
        ("leave", 1, 0),
        ("lose", 0),
        ("replay", 0, 0),
    )
