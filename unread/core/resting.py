"""Scopes at rest, packed into bytes: what a scope must remember between two events, without an object to its name.

A busy scope is a handful of objects (`live`). Kept for every scope that ever had an event, they would cost more than
the entries of a small scope, and the garbage collector would walk them. So only so many scopes stay unpacked; of the
others, those that nothing is missing from and nothing waits for are packed, and unpacked again by their next event.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable

import numpy as np

from .live import LiveScope, Warming
from .log import Fact, FactLog
from .rewinds import Rewinds
from .stream import Stream

_Words = array  # of signed 32-bit integers


def pack(live: LiveScope) -> bytes | None:
    """The scope's state, or None while anything about it is open."""
    if not live.complete or live.busy or live.waiting or live.warming is not Warming.IDLE:
        return None
    if live.roster.open_gap or live.rewinds.open_gap or live.rewinds.settle_since >= 0:
        return None
    words: _Words[int] = array("i")
    words.append(live.roster.complete)
    for stream in (live.messages, live.activities):
        if stream.open_gap or stream.settle_since >= 0:
            return None
        _pack_stream(words, stream)
    _pack_rewinds(words, live.rewinds)
    return words.tobytes()


def unpack(number: int, packed: bytes, log_size: int) -> LiveScope:
    words = iter(memoryview(packed).cast("i"))
    live = LiveScope(number, log_size)
    live.complete = True
    live.roster.complete = live.roster.wanted = next(words)
    _unpack_stream(words, live.messages)
    _unpack_stream(words, live.activities)
    _unpack_rewinds(words, live.rewinds)
    return live


def _pack_stream(words: _Words[int], stream: Stream) -> None:
    words.extend((stream.start, stream.frontier, stream.top))
    _pack_numbers(words, stream.late)
    _pack_numbers(words, stream.lost)
    log = stream.log
    words.append(log.size)
    if stream.has_log:
        _pack_log(words, log)
    else:
        words[-1] = -1


def _unpack_stream(words: Iterable[int], stream: Stream) -> None:
    words = iter(words)
    stream.start, stream.frontier, stream.top = next(words), next(words), next(words)
    stream.seen = stream.frontier
    stream.restore(_unpack_numbers(words), _unpack_numbers(words))
    size = next(words)
    if size >= 0:
        _unpack_log(words, stream.own_log(), size)


def _pack_log(words: _Words[int], log: FactLog) -> None:
    words.extend(
        (
            log.top,
            log.floor,
            log.forgotten_generation,
            log.unsure_generation,
            log.muddled_generation,
            log.start_generation,
            log.applied_generation,
        )
    )
    words.extend(log.table[:, : log.size].ravel().tolist())
    words.append(len(log.mentions or ()))
    for seq, members in (log.mentions or {}).items():
        words.append(seq)
        _pack_numbers(words, members)
    words.append(len(log.changed or ()))
    for seq, (fact, generation) in (log.changed or {}).items():
        words.extend((seq, generation, fact.author, fact.principal, fact.counts))
        _pack_numbers(words, fact.mentions)
    words.append(len(log.counted_as_of or ()))
    for seq, generation in (log.counted_as_of or {}).items():
        words.extend((seq, generation))


def _unpack_log(words: Iterable[int], log: FactLog, size: int) -> None:
    words = iter(words)
    log.top, log.floor, log.forgotten_generation = next(words), next(words), next(words)
    log.unsure_generation, log.muddled_generation = next(words), next(words)
    log.start_generation, log.applied_generation = next(words), next(words)
    log.size = size
    log.table = np.array([next(words) for _ in range(5 * size)], dtype=np.int32).reshape(5, size)
    log.mentions = {next(words): tuple(_unpack_numbers(words)) for _ in range(next(words))} or None
    changed = {}
    for _ in range(next(words)):
        seq, generation = next(words), next(words)
        author, principal, counts = next(words), next(words), bool(next(words))
        changed[seq] = (Fact(author, principal, counts, tuple(_unpack_numbers(words))), generation)
    log.changed = changed or None
    log.counted_as_of = {next(words): next(words) for _ in range(next(words))} or None


def _pack_rewinds(words: _Words[int], rewinds: Rewinds) -> None:
    words.extend((rewinds.start, rewinds.applied))
    _pack_numbers(words, rewinds.late or ())
    _pack_numbers(words, rewinds.lost or ())


def _unpack_rewinds(words: Iterable[int], rewinds: Rewinds) -> None:
    words = iter(words)
    rewinds.start, rewinds.applied = next(words), next(words)
    rewinds.seen = rewinds.applied
    rewinds.late = set(_unpack_numbers(words)) or None
    rewinds.lost = set(_unpack_numbers(words)) or None


def _pack_numbers(words: _Words[int], numbers: Iterable[int]) -> None:
    values = list(numbers)
    words.append(len(values))
    words.extend(values)


def _unpack_numbers(words: Iterable[int]) -> list[int]:
    words = iter(words)
    return [next(words) for _ in range(next(words))]
