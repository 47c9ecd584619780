"""Histories that once broke something, each reduced to what it takes, with the rule that it is about."""

from __future__ import annotations

from .player import Move, Player
from .runtimes import Config


def play(config: Config, *moves: Move) -> None:
    Player(config).play(moves)
