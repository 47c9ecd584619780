"""Steps under a mask that holds almost everywhere give what masked steps give, however long the column is."""

from __future__ import annotations

import random

import numpy as np
import pytest

from unread.core import masks

from .driver import failure_of, random_history

HISTORIES = 40


@pytest.mark.parametrize("length", [0, 1, 7, masks._LONG - 1, masks._LONG, 3 * masks._LONG])
@pytest.mark.parametrize("left_out", [0.0, 0.001, 0.05, 0.5, 1.0])
def test_as_masked_steps(length: int, left_out: float) -> None:
    rng = np.random.default_rng(length)
    column = rng.integers(-5, 5, length).astype(np.int32)
    mask = rng.random(length) >= left_out
    more, written = column.copy(), column.copy()
    masks.add_one(more, mask)
    masks.set_all(written, mask, 77)
    assert (more == np.where(mask, column + 1, column)).all()
    assert (written == np.where(mask, 77, column)).all()
    assert masks.any_of(mask) == bool(mask.any())


def test_only_the_slice_changes() -> None:
    column = np.zeros(3 * masks._LONG, dtype=np.int32)
    inner = column[masks._LONG : 2 * masks._LONG]
    masks.add_one(inner, np.ones(len(inner), dtype=np.bool_))
    masks.set_all(inner[:-1], np.ones(len(inner) - 1, dtype=np.bool_), 5)
    assert column.sum() == 5 * (masks._LONG - 1) + 1
    assert not column[: masks._LONG].any()


@pytest.mark.slow
def test_histories_hold_with_long_steps_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(masks, "_LONG", 0)
    monkeypatch.setattr(masks, "_FEW", 2)
    for number in range(HISTORIES):
        history = random_history(random.Random(f"masks/{number}"))
        failure = failure_of(history)
        assert failure is None, f"{failure}\n{history}"
