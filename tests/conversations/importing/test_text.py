"""Slack's markup as text, and content that is always valid."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conversations.agentue.model import parse_model
from conversations.importing.content import content_of, emoji_name
from conversations.importing.errors import BrokenExport
from conversations.importing.records import parse_message
from conversations.importing.text import Names, plain

NAMES = Names(people={"U1": "ann", "U2": "ben"}, channels={"C1": "general"})

TEXTS = [
    ("hello", "hello"),
    ("<@U1> and <@U2|benny>", "@ann and @ben"),
    ("<@U7|guest> <@U8>", "@guest @U8"),
    ("in <#C1> and <#C1|old> and <#C9|gone>", "in #general and #general and #gone"),
    ("<!here> <!channel> <!subteam^S1|@devs> <!date^139^{date}|Feb 18>", "@here @channel @devs Feb 18"),
    ("<https://example.org/a?b=1&amp;c=2>", "https://example.org/a?b=1&c=2"),
    ("<https://example.org|the plan>", "the plan (https://example.org)"),
    ("<http://example.org|example.org>", "http://example.org"),
    ("<mailto:a@example.org|a@example.org>", "a@example.org"),
    ("1 &lt; 2 &amp;&amp; 3 &gt; 2, &amp;lt; stays", "1 < 2 && 3 > 2, &lt; stays"),
    ("an <empty> <> < 3", "an <empty> <> < 3"),
    ("&lt;@U1&gt; is no mention", "<@U1> is no mention"),
]


@pytest.mark.parametrize(("slack", "expected"), TEXTS)
def test_markup_becomes_what_people_read(slack: str, expected: str) -> None:
    assert plain(slack, NAMES)[0] == expected


def test_mentions_are_listed_once_and_in_order() -> None:
    assert plain("<@U2> <@U1> <@U2|x> <@U9>", NAMES)[1] == ("U2", "U1", "U9")


def test_an_emoji_loses_its_skin_tone_and_nonsense_is_no_emoji() -> None:
    assert [emoji_name(name) for name in ("+1::skin-tone-3", "Tada", "no emoji", "", "a" * 65)] == [
        "+1",
        "tada",
        "",
        "",
        "",
    ]


_any = st.characters(exclude_categories=())
"""Lone surrogates too: JSON can spell them."""
_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(alphabet=_any, max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
_text = st.text(alphabet=_any, max_size=60)
_file = st.fixed_dictionaries({}, optional=dict.fromkeys(("title", "permalink", "mimetype", "mode"), _text))
_attachment = st.fixed_dictionaries({}, optional=dict.fromkeys(("title", "title_link", "text", "fallback"), _text))
_messages = st.fixed_dictionaries(
    {"ts": st.just("1700000000.000100")},
    optional={
        "text": _text | _json,
        "user": st.sampled_from(["U1", "", "U 1"]) | _json,
        "subtype": _text | _json,
        "files": st.lists(_file, max_size=3) | _json,
        "attachments": st.lists(_attachment, max_size=3) | _json,
        "edited": _json,
        "reactions": _json,
        "thread_ts": _json,
    },
)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # the first draw builds tables of characters
@given(_messages)
def test_any_record_is_refused_or_becomes_a_valid_model(raw: dict[str, object]) -> None:
    with suppress(BrokenExport):
        parse_model(content_of(parse_message(raw, "here"), NAMES)[0])


@settings(deadline=None)
@given(_text)
def test_any_text_is_kept_apart_from_its_markup(text: str) -> None:
    marked = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    assert plain(marked, NAMES) == (text, ())
