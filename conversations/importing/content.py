"""The content model of a Slack message: its text, and a link block for each file and attachment. Never refuses."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from ..agentue.values import JsonObject
from .records import SlackAttachment, SlackFile, SlackMessage
from .text import Names, plain

MAX_TEXT_CHARS = 200_000
"""Longer texts are cut; Slack itself ends at 40 000."""
MAX_ATTACHMENT_CHARS = 8000
MAX_TITLE_CHARS = 500
MAX_URL_CHARS = 4096
CUT = "\n[cut while importing]"

_EMOJI = re.compile(r"[a-z0-9_+-]{1,64}")


def content_of(message: SlackMessage, names: Names) -> tuple[JsonObject, tuple[str, ...]]:
    """The model, and the ids of the users whom its text mentions."""
    text, mentioned = plain(message.text, names)
    blocks: list[JsonObject] = []
    if text.strip():
        blocks.append({"id": "text", "type": "text", "content": _cut(text, MAX_TEXT_CHARS)})
    blocks += [_file_block(at, file) for at, file in enumerate(message.files, 1)]
    for at, attachment in enumerate(message.attachments, 1):
        blocks += _attachment_blocks(at, attachment, names)
    return {"version": "1.1", "biz": "chat", "meta": {}, "blocks": blocks}, mentioned


def emoji_name(name: str) -> str:
    """The reaction's name without its skin tone, or an empty string where it is no name of an emoji."""
    base = name.split("::", 1)[0].lower()
    return base if _EMOJI.fullmatch(base) else ""


def _file_block(at: int, file: SlackFile) -> JsonObject:
    block: JsonObject = {"id": f"file-{at}", "type": "link", "title": file.title[:MAX_TITLE_CHARS] or "file"}
    if file.gone:
        block["title"] = "file (no longer in Slack)"
    if url := _web_address(file.url):
        block["url"] = url
    if file.mimetype:
        block["mimetype"] = file.mimetype[:128]
    if file.size is not None:
        block["size"] = file.size
    return block


def _attachment_blocks(at: int, attachment: SlackAttachment, names: Names) -> list[JsonObject]:
    blocks: list[JsonObject] = []
    if url := _web_address(attachment.url):
        title = plain(attachment.title, names)[0][:MAX_TITLE_CHARS] or url
        blocks.append({"id": f"attachment-{at}", "type": "link", "title": title, "url": url})
    text = plain(attachment.text, names)[0]
    if text.strip():
        blocks.append({"id": f"attachment-{at}-text", "type": "text", "content": _cut(text, MAX_ATTACHMENT_CHARS)})
    return blocks


def _web_address(url: str) -> str:
    if len(url) > MAX_URL_CHARS:
        return ""
    try:
        return url if urlsplit(url).scheme in ("http", "https") else ""
    except ValueError:
        return ""


def _cut(text: str, at_most: int) -> str:
    return text if len(text) <= at_most else text[: at_most - len(CUT)] + CUT
