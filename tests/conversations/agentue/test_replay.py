"""Any history, split anywhere and resumed from a stored snapshot, ends in the same model."""

from __future__ import annotations

import copy
import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from conversations.agentue.errors import AgentUEError
from conversations.agentue.events import parse_event
from conversations.agentue.model import parse_model
from conversations.agentue.reducer import reduce

from .histories import histories, models


def play(model: dict[str, Any], events: list[dict[str, Any]]) -> tuple[dict[str, Any], list[str | None]]:
    """The final model, and per event the code of its refusal; a refused event leaves the model as it was."""
    codes: list[str | None] = []
    for raw in events:
        before, sent = copy.deepcopy(model), copy.deepcopy(raw)
        try:
            after = reduce(model, parse_event(raw))
        except AgentUEError as refused:
            after = model
            codes.append(refused.code)
        else:
            codes.append(None)
        assert model == before
        assert raw == sent
        assert parse_model(after) is after, "the reducer left the set of valid models"
        model = after
    return model, codes


@settings(max_examples=300, deadline=None)
@given(models(), histories(references=True), st.data())
def test_split_anywhere(initial: dict[str, Any], events: list[dict[str, Any]], data: st.DataObject) -> None:
    whole, codes = play(initial, events)
    at = data.draw(st.integers(0, len(events)))
    head, first = play(initial, events[:at])
    stored = json.loads(json.dumps(head))
    tail, second = play(parse_model(stored), events[at:])
    assert tail == whole
    assert first + second == codes


def test_the_histories_are_worth_playing() -> None:
    """Most generated events apply and many are refused; a strategy that only did one would prove little."""
    seen: list[str | None] = []

    @settings(max_examples=200, deadline=None, database=None, derandomize=True)
    @given(models(), histories(references=True))
    def collect(initial: dict[str, Any], events: list[dict[str, Any]]) -> None:
        seen.extend(play(initial, events)[1])

    collect()
    applied = seen.count(None)
    assert applied > len(seen) * 0.3
    assert {"missing_block", "not_appendable", "blocked_path", "incomplete_block"} <= set(seen)
