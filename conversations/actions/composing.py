"""What a person or an agent sends, made into a content model, with the status that goes with it."""

from __future__ import annotations

from typing import Any

from ..agentue.chat import parse_chat_model
from ..agentue.errors import AgentUEError
from ..agentue.text import text_model
from ..agentue.values import JsonObject, check_value
from ..errors import InvalidRequest
from ..models.message import MessageStatus

TERMINAL = tuple(status for status in MessageStatus if status != MessageStatus.STREAMING)
MAX_ERROR_CHARS = 4000


def compose(text: str | None, content: Any, error: Any = None, *, may_be_empty: bool = False) -> JsonObject:
    """The model of `text` (one text block) or `content`, with `error` as its `meta.error`.

    Exactly one of the two, and a text that says something, unless `may_be_empty` or an error stands for it.
    """
    if text is not None and content is not None:
        raise InvalidRequest("Send text or content, not both.")
    try:
        if content is not None:
            model = parse_chat_model(content)
        elif text is not None and text.strip():
            model = text_model(text)
        elif may_be_empty or error is not None:
            model = {"version": "1.1", "biz": "chat", "meta": {}, "blocks": []}
        else:
            raise InvalidRequest("A message needs text or content.")
    except AgentUEError as refused:
        raise InvalidRequest(str(refused), code=refused.code, path=refused.path) from None
    return model if error is None else {**model, "meta": {**model["meta"], "error": _error_object(error)}}


def settled_status(status: str | None, model: JsonObject) -> str:
    """The terminal status of a message that is complete: the one given, else failed where its model holds an error."""
    if status is not None:
        if status not in TERMINAL:
            raise InvalidRequest(f"status must be one of {', '.join(TERMINAL)}.", status=status)
        return status
    return MessageStatus.FAILED if model["meta"].get("error") else MessageStatus.COMPLETED


def _error_object(error: Any) -> JsonObject:
    if not isinstance(error, dict) or not all(isinstance(error.get(name), str) for name in ("code", "message")):
        raise InvalidRequest("error must be an object with a code and a message.")
    if any(len(error[name]) > MAX_ERROR_CHARS for name in ("code", "message")):
        raise InvalidRequest(f"code and message of an error may have at most {MAX_ERROR_CHARS} characters.")
    try:
        check_value(error, "error", 2)
    except AgentUEError as refused:
        raise InvalidRequest(str(refused), code=refused.code, path=refused.path) from None
    return error
