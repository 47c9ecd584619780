from __future__ import annotations

import pytest

from conversations.emoji import is_reaction

GOOD = [
    *("thumbsup", "+1", "-1", "a_b-c", "x" * 64, "1️⃣", "#⃣", "☕", "🫠", "©"),
    *("👍", "👍🏽", "❤️", "❤", "👨‍👩‍👧‍👦", "🏳️‍🌈", "🇩🇪", "🏴󠁧󠁢󠁥󠁮󠁧󠁿"),
]
BAD = ["", "x" * 65, "Thumbs", "a b", "👍👍", "👍a", "é", "ab\n", "👍\n", "🇩", "\u200d", "\ufe0f", "<b>", ":)", "日"]


@pytest.mark.parametrize("text", GOOD)
def test_names_and_single_emoji_are_reactions(text: str) -> None:
    assert is_reaction(text)


@pytest.mark.parametrize("text", BAD)
def test_anything_else_is_none(text: str) -> None:
    assert not is_reaction(text)
