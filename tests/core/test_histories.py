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
