"""What may stand for a reaction: a short name, or exactly one emoji."""

from __future__ import annotations

import re

MAX_CHARS = 64

_NAME = re.compile(r"[a-z0-9_+-]{1,64}", re.ASCII)

_VARIATION = "\ufe0f"
_JOINER = "\u200d"
_SKIN = "\U0001f3fb-\U0001f3ff"
_REGION = "\U0001f1e6-\U0001f1ff"
_TAG, _TAG_END = "\U000e0020-\U000e007e", "\U000e007f"
_PICTURE = (
    "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2194-\u2199\u21a9\u21aa\u231a-\u23ff\u24c2\u25aa-\u25fe\u2600-\u27bf"
    "\u2934\u2935\u2b05-\u2b55\u3030\u303d\u3297\u3299\U0001f004-\U0001f1e5\U0001f200-\U0001faff"
)
_ONE = f"[{_PICTURE}]{_VARIATION}?[{_SKIN}]?(?:[{_TAG}]+{_TAG_END})?"
_EMOJI = re.compile(
    rf"(?:[{_REGION}]{{2}}|[0-9#*]{_VARIATION}?\u20e3|{_ONE}(?:{_JOINER}{_ONE})*)",
)


def is_reaction(text: str) -> bool:
    """A name of `[a-z0-9_+-]{1,64}`, or one emoji: one picture with its modifiers, a flag, a key cap."""
    return _NAME.fullmatch(text) is not None or (len(text) <= MAX_CHARS and _EMOJI.fullmatch(text) is not None)
