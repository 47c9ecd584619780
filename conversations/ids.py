"""UUIDv7 keys: ordered by time, and on demand greater than a given one."""

from __future__ import annotations

import hashlib
import os
import threading
import time
from uuid import UUID

_lock = threading.Lock()
_last = 0


def _compose(ms: int, rest: int) -> int:
    """48 bits of milliseconds, version 7, then 74 bits in the two random fields."""
    return (ms & (2**48 - 1)) << 80 | 0x7 << 76 | (rest >> 62 & 0xFFF) << 64 | 0b10 << 62 | rest & (2**62 - 1)


def _payload(value: int) -> int:
    """The 122 bits that order UUIDv7 values: milliseconds and both random fields."""
    return (value >> 80) << 74 | (value >> 64 & 0xFFF) << 62 | value & (2**62 - 1)


def new_id(after: UUID | None = None, ms: int | None = None) -> UUID:
    """A new UUIDv7, increasing within this process, and greater than `after` even where the clock ran backwards.

    `ms`: the time to encode (milliseconds since 1970), for imported history; such ids only respect `after`.
    """
    global _last
    random = int.from_bytes(os.urandom(10), "big") >> 6
    if ms is not None:
        payload = ms << 74 | random
    else:
        payload = time.time_ns() // 1_000_000 << 74 | random
        with _lock:
            if payload <= _last:
                payload = _last + 1 + (random & 0xFFFF)
            _last = payload
    if after is not None and payload <= (floor := _payload(after.int)):
        payload = floor + 1 + (random & 0xFFFF)
    return UUID(int=_compose(payload >> 74, payload & (2**74 - 1)))


def derived_id(ms: int, *names: str) -> UUID:
    """Always the same UUIDv7 for the same names and time: what was made under it once is found again by them."""
    digest = hashlib.sha256("\0".join(names).encode()).digest()
    return UUID(int=_compose(ms, int.from_bytes(digest[:10], "big") >> 6))


def id_ms(value: UUID) -> int:
    """The milliseconds since 1970 that a UUIDv7 encodes."""
    return value.int >> 80
