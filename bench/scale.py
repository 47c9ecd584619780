"""How much to measure: everything, or (`--quick`) just enough to see that it works."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Scale:
    quick: bool

    def of(self, full: int, quick: int) -> int:
        return quick if self.quick else full
