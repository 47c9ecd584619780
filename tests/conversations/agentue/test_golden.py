"""Every golden case, and that nothing a caller passes in is ever changed."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from conversations.agentue.errors import AgentUEError
from conversations.agentue.events import parse_event
from conversations.agentue.model import parse_model
from conversations.agentue.reducer import reduce

from .golden import cases


def named(kind: str) -> Any:
    found = cases(kind)
    assert found
    return pytest.mark.parametrize("case", [case for _, case in found], ids=[name for name, _ in found])


@named("transitions")
def test_transition(case: dict[str, Any]) -> None:
    given = copy.deepcopy(case)
    model: Any = None if case["initial"] is None else parse_model(case["initial"])
    for raw in case["events"]:
        before = copy.deepcopy(model)
        after = reduce(model, parse_event(raw))
        assert model == before
        model = after
    assert model == case["expected"]
    assert parse_model(model) is model
    assert case == given


@named("invalid_models")
def test_invalid_model(case: dict[str, Any]) -> None:
    with pytest.raises(AgentUEError) as refused:
        parse_model(case["model"])
    assert refused.value.code == case.get("error", refused.value.code)
    assert refused.value.path.startswith("model")
    assert refused.value.message


@named("rejected_events")
def test_rejected_event(case: dict[str, Any]) -> None:
    given = copy.deepcopy(case)
    model = parse_model(case["initial"])
    with pytest.raises(AgentUEError) as refused:
        reduce(model, parse_event(case["event"]))
    assert refused.value.code == case.get("error", refused.value.code)
    assert refused.value.path.startswith(("event", "model"))
    assert case == given
