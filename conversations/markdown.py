"""Markdown as safe HTML: CommonMark with tables, strikethrough and bare links, through an allow-list.

Two locks. The parser knows no raw HTML, no images and no addresses but http, https and mailto; what it writes then
passes a sanitiser that keeps a short list of elements and attributes and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any
from urllib.parse import urlsplit

import nh3
from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.token import Token

from .agentue.text import TEXT_TYPES
from .agentue.values import JsonObject

MAX_CHARS = 16_384
"""Of one text; a longer one is shown as it was written."""
MAX_TOTAL_CHARS = 262_144
"""Of all texts of one request; the rest is shown as it was written."""

SCHEMES = frozenset(("http", "https", "mailto"))
_TAGS = {
    *("p", "br", "hr", "em", "strong", "s", "code", "pre", "blockquote", "ul", "ol", "li", "a", "span"),
    *("h1", "h2", "h3", "h4", "h5", "h6", "table", "thead", "tbody", "tr", "th", "td"),
}
_ATTRIBUTES = {"a": {"href", "title"}, "ol": {"start"}, "span": {"title"}}
_CLASSES = {"span": {"mention"}}


def render(text: str, mentioned: Mapping[str, str] | None = None) -> str | None:
    """Safe HTML; None where the text is too long. `mentioned`: display names by username; "@username" of these is
    highlighted where it is not inside a word, a link or code."""
    if len(text) > MAX_CHARS:
        return None
    html = _parser().render(text, {"mentioned": dict(mentioned or {})})
    return nh3.clean(
        html,
        tags=_TAGS,
        clean_content_tags={"script", "style"},
        attributes=_ATTRIBUTES,
        allowed_classes=_CLASSES,
        url_schemes=set(SCHEMES),
        url_relative="deny",
        link_rel="noopener noreferrer nofollow",
        set_tag_attribute_values={"a": {"target": "_blank"}},
    )


def render_blocks(
    blocks: Sequence[JsonObject], mentioned: Mapping[str, str], budget: int = MAX_TOTAL_CHARS
) -> tuple[list[dict[str, Any]], int]:
    """`{id, html}` of text blocks in order, and what is left of `budget` (characters), beyond which `html` is None."""
    rendered = []
    for block in blocks:
        text = block.get("content")
        if block.get("type") not in TEXT_TYPES or not isinstance(text, str):
            continue
        budget -= len(text)
        rendered.append({"id": block["id"], "html": render(text, mentioned) if budget >= 0 else None})
    return rendered, budget


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "linkify": True, "breaks": True})
    parser.enable(["table", "strikethrough", "linkify"]).disable(["image", "html_block", "html_inline"])
    if parser.linkify is None:
        raise RuntimeError("linkify-it-py is not installed")
    parser.linkify.set({"fuzzy_link": False, "fuzzy_email": False, "fuzzy_ip": False})
    parser.validateLink = _is_safe  # type: ignore[method-assign,assignment]
    parser.core.ruler.push("mentions", _find_mentions)
    parser.add_render_rule("mention", _mention)
    return parser


def _is_safe(address: str) -> bool:
    try:
        parts = urlsplit(address.strip())
    except ValueError:
        return False
    return parts.scheme in SCHEMES and bool(parts.netloc or (parts.scheme == "mailto" and parts.path))


def _find_mentions(state: StateCore) -> None:
    mentioned: dict[str, str] = state.env.get("mentioned", {})
    if not mentioned:
        return
    longest_first = sorted(mentioned, key=len, reverse=True)
    pattern = re.compile(rf"(?<!\w)@({'|'.join(map(re.escape, longest_first))})(?!\w)")
    for token in state.tokens:
        if token.type != "inline" or not token.children or "@" not in token.content:
            continue
        children: list[Token] = []
        links = 0
        for child in token.children:
            links += {"link_open": 1, "link_close": -1}.get(child.type, 0)
            if child.type == "text" and not links and "@" in child.content:
                children += _split(child, pattern, mentioned)
            else:
                children.append(child)
        token.children = children


def _split(token: Token, pattern: re.Pattern[str], mentioned: Mapping[str, str]) -> list[Token]:
    pieces: list[Token] = []
    end = 0
    for match in pattern.finditer(token.content):
        if match.start() > end:
            pieces.append(Token("text", "", 0, content=token.content[end : match.start()]))
        username = match[1]
        pieces.append(Token("mention", "", 0, content=mentioned[username], meta={"username": username}))
        end = match.end()
    return [*pieces, Token("text", "", 0, content=token.content[end:])]


def _mention(_: Any, tokens: Sequence[Token], index: int, *__: Any) -> str:
    token = tokens[index]
    return f'<span class="mention" title="@{_escaped(token.meta["username"])}">@{_escaped(token.content)}</span>'


def _escaped(text: str) -> str:
    for character, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;")):
        text = text.replace(character, entity)
    return text
