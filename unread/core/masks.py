"""Steps over a column under a mask that holds almost everywhere, as a message counts for almost everybody.

Numpy takes its time over masked steps. Where few places are left out of a long column it is several times faster to
make the step everywhere and to undo it there.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from .columns import Bools, Int32s

Column = npt.NDArray[Any]

_LONG: Final = 8_192
_FEW: Final = 1 / 16


def as_operand(number: int) -> Int32s:
    """The number as numpy takes it quickest, which is most of the time where a roster is small."""
    return np.array(number, dtype=np.int32)


def any_of(mask: Bools) -> bool:
    """As `mask.any()`, and several times faster where the mask is short."""
    return 1 in mask.tobytes()


def add_one(column: Column, mask: Bools) -> None:
    left_out = None if len(mask) < _LONG else _few_left_out(mask)
    if left_out is None:
        column += mask
        return
    kept = column[left_out]
    column += 1
    column[left_out] = kept


def set_all(column: Column, mask: Bools, value: int) -> None:
    left_out = None if len(mask) < _LONG else _few_left_out(mask)
    if left_out is None:
        column[mask] = value
        return
    kept = column[left_out]
    column.fill(value)
    column[left_out] = kept


def _few_left_out(mask: Bools) -> npt.NDArray[np.intp] | None:
    """The places that are not set, if they are few."""
    places = np.flatnonzero(~mask)
    return places if len(places) < len(mask) * _FEW else None
