"""What "the same event" and "the same content" mean."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from conversations.agentue.events import parse_event
from conversations.agentue.fingerprint import canonical, content_fingerprint, event_fingerprint

SET = {"op": "set", "seq": 1, "mask": "meta.n", "meta": {"n": 1}}


def shuffled(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: shuffled(child) for key, child in reversed(value.items())}
    return [shuffled(child) for child in value] if isinstance(value, list) else value


def test_the_order_of_keys_does_not_count() -> None:
    content = {"b": [{"y": 1, "x": {"q": 1, "p": 2}}], "a": None}
    assert content_fingerprint(content) == content_fingerprint(shuffled(content))
    assert list(shuffled(content)) != list(content)


def test_the_order_of_lists_counts() -> None:
    assert content_fingerprint([1, 2]) != content_fingerprint([2, 1])


def test_equal_looking_values_are_different() -> None:
    kinds = [1, 1.0, True, "1", [1], None, 0, 0.0, -0.0, False, "", [], {}, "null", {"": None}]
    for one, other in itertools.combinations(kinds, 2):
        assert content_fingerprint({"v": one}) != content_fingerprint({"v": other}), (one, other)


def test_the_canonical_form() -> None:
    assert canonical({"é": [1, 1.0, True, None], "a": "\u2028"}) == '{"a":"\u2028","é":[1,1.0,true,null]}'.encode()


def test_a_fingerprint_never_changes_between_releases() -> None:
    """Fingerprints are stored: another form would turn every retry across an upgrade into a conflict."""
    assert content_fingerprint({"a": 1}) == "015abd7f5cc57a2dd94b7590f04ad8084273905ee33ec5cebeae62276a97f862"
    assert event_fingerprint(parse_event(SET)) == "d47095c5dc275b5f6fd5ab2fe334b1612ed54caec68ae895e9ef90b66f787b32"


@pytest.mark.parametrize(
    "other",
    [
        {"seq": 2},
        {"meta": {"n": 1.0}},
        {"meta": {"n": True}},
        {"meta": {"n": 1, "m": 1}},
        {"mask": "meta.m", "meta": {"m": 1}},
    ],
    ids=repr,
)
def test_another_event(other: dict[str, Any]) -> None:
    assert event_fingerprint(parse_event(SET)) != event_fingerprint(parse_event({**SET, **other}))


def test_what_changes_nothing_does_not_count() -> None:
    stamped = {**SET, "ts": 5, "stream_id": "s", "event_type": "e"}
    assert event_fingerprint(parse_event(SET)) == event_fingerprint(parse_event(stamped))


def test_the_status_of_an_end_counts() -> None:
    end = parse_event({"op": "end", "seq": 9})
    assert len({event_fingerprint(end), event_fingerprint(end, "failed"), event_fingerprint(end, "completed")}) == 3
