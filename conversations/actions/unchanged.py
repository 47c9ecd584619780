"""What a request leaves alone, where None is a value of its own."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Unchanged:
    """Said of a field that is not named; compare with `isinstance`."""


UNCHANGED = Unchanged()
