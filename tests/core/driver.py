"""Random histories by the thousand, and the reduction of a failing one to its smallest form."""

from __future__ import annotations

import random
import traceback
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

from .moves import MOVES
from .player import Move, Player
from .runtimes import TIGHTENED, Config

NAMES = tuple(MOVES)
ASIDE_POINTS = 8


@dataclass(frozen=True, slots=True)
class History:
    config: Config
    moves: tuple[Move, ...]

    def __str__(self) -> str:
        lines = [f"play(\n    {self.config!r},"]
        lines += [f"    {move!r}," for move in self.moves]
        return "\n".join([*lines, ")"])


def random_config(rng: random.Random) -> Config:
    kind = rng.random()
    return Config(
        members=rng.choice((2, 3)),
        busy_scopes=rng.choice((1, 2, 4)),
        with_thread=rng.random() < 0.4,
        log=rng.choice((1, 2, 3, 1000, 1000, 1000)),
        hydrate_batch=rng.choice((1, 2, 3, 100)),
        flush_batch=rng.choice((1, 2, 1000)),
        delta_entries=rng.choice((1, 2, 500)),
        accounting_batch=rng.choice((1, 2, 500)),
        split=rng.random() < 0.25,
        cold_start=rng.random() < 0.3,
        join_moves_cursor=rng.random() < 0.5,
        crashes=0.5 < kind < 0.75,
        lossy=kind >= 0.75,
        seeded=rng.random() < 0.15,
        live_scopes=rng.choice((1, 2048)),
        tight=tuple(rng.sample(TIGHTENED, rng.randrange(1, 4))) if rng.random() < 0.2 else (),
    )


def random_history(rng: random.Random, only: Collection[str] = NAMES) -> History:
    """Of the moves named; histories differ in length, in what is left out, in how prompt and how busy they are."""
    config = random_config(rng)
    weights = {name: kind.weight for name, kind in MOVES.items()}
    if config.lossy:
        weights |= {"lose": 14, "find": 5, "wait": 8}
    muted = set(rng.sample(NAMES, rng.randrange(len(NAMES) // 2))) - {"post", "deliver", "lose"}
    chosen = {name: weight for name, weight in weights.items() if name in only and name not in muted}
    promptness = rng.choice((0.0, 0.5, 0.9))
    bustle = rng.choice((0.0, 0.05, 0.2))
    moves: list[Move] = []
    for name in rng.choices(list(chosen), list(chosen.values()), k=rng.choice((6, 12, 25, 50))):
        move: Move = (name, *(rng.randrange(bound) for bound in MOVES[name].bounds))
        if rng.random() < bustle:
            move = ("aside", rng.randrange(ASIDE_POINTS), *move)
        moves.append(move)
        if rng.random() < promptness:
            moves.append(("deliver_all",))
    return History(config, tuple(moves))


def failure_of(history: History) -> str | None:
    """None if the history holds; else what broke, with the place in the code where it did."""
    try:
        player = Player(history.config)
        player.play(history.moves)
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__}: {error} ({last.name}:{last.lineno})"
    return None


def kind_of(failure: str) -> str:
    """What stays the same of a failure while it is reduced: the sort of error and where it was raised."""
    return failure.split(":", 1)[0] + failure[failure.rfind("(") :]


def smallest(history: History, failure: str) -> tuple[History, str]:
    kind = kind_of(failure)

    def still_fails(candidate: History) -> bool:
        again = failure_of(candidate)
        return again is not None and kind_of(again) == kind

    reduced = shrink(history, still_fails)
    return reduced, failure_of(reduced) or failure


def shrink(history: History, still_fails: Callable[[History], bool], rounds: int = 20) -> History:
    """Leave out moves, then make arguments and configuration plainer, for as long as it still fails."""
    for _ in range(rounds):
        before = history
        history = _fewer_moves(history, still_fails)
        history = _smaller_arguments(history, still_fails)
        history = _plainer_config(history, still_fails)
        if history == before:
            return history
    return history


def _fewer_moves(history: History, still_fails: Callable[[History], bool]) -> History:
    size = max(len(history.moves) // 2, 1)
    while size:
        start = 0
        while start < len(history.moves):
            shorter = replace(history, moves=history.moves[:start] + history.moves[start + size :])
            if still_fails(shorter):
                history = shorter
            else:
                start += size
        size //= 2
    return history


def _smaller_arguments(history: History, still_fails: Callable[[History], bool]) -> History:
    for index, move in enumerate(history.moves):
        if move[0] == "aside" and still_fails(plain := _with_move(history, index, move[2:])):
            history, move = plain, move[2:]
        for place, value in enumerate(move):
            for smaller in range(value) if isinstance(value, int) else ():
                changed = _with_move(history, index, (*move[:place], smaller, *move[place + 1 :]))
                if still_fails(changed):
                    history, move = changed, changed.moves[index]
                    break
    return history


def _with_move(history: History, index: int, move: Sequence[str | int]) -> History:
    return replace(history, moves=(*history.moves[:index], tuple(move), *history.moves[index + 1 :]))


def _plainer_config(history: History, still_fails: Callable[[History], bool]) -> History:
    plain = Config()
    for name in Config.__slots__:
        if getattr(history.config, name) != getattr(plain, name):
            plainer = replace(history, config=replace(history.config, **{name: getattr(plain, name)}))
            if still_fails(plainer):
                history = plainer
    return history
