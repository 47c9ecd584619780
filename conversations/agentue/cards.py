"""Human cards as content: the block of a question, and of the reply to it; each renders alone.

Both are written by the server alone (`chat` refuses them from outside). A question's block also holds its state:
pending, and then once success, dismissed, timeout or failure.
"""

from __future__ import annotations

from enum import StrEnum

from .values import JsonObject

REQUEST, REPLY = "human_request", "human_reply"
"""Types of blocks, and the purposes of their messages."""
META = "human"
ASK, CONFIRM = "ask", "confirm"
ACCEPTED, DECLINED = "accepted", "declined"
_REQUEST_ID, _REPLY_ID = "human", "reply"
_COPIED = ("kind", "title", "prompt", "choices", "allow_other", "confirm_label", "decline_label")
"""What a reply keeps of its question."""


class CardStatus(StrEnum):
    PENDING = "pending"
    SUCCESS = "success"
    DISMISSED = "dismissed"
    TIMEOUT = "timeout"
    FAILURE = "failure"


ANSWERS = (CardStatus.SUCCESS, CardStatus.DISMISSED)


def question_model(card: JsonObject, deadline: str, effect_key: str, fingerprint: str) -> JsonObject:
    """`card`: kind, title, prompt, choices, allow_other, confirm_label, decline_label, target."""
    block = {"id": _REQUEST_ID, "type": REQUEST, **card, "status": CardStatus.PENDING.value, "deadline": deadline}
    return _model({META: {"effect_key": effect_key, "fingerprint": fingerprint}}, block)


def card_of(question: JsonObject) -> JsonObject:
    """The controlled block of a question's model."""
    card: JsonObject = question["blocks"][0]
    return card


def ended(question: JsonObject, status: CardStatus, **more: str) -> JsonObject:
    """The question's model after its end; `more`: value, reason, answered_by."""
    return {**question, "blocks": [{**card_of(question), "status": status.value, **more}]}


def reply_model(card: JsonObject, outcome: CardStatus, value: str | None) -> JsonObject:
    """The reply to a card, with the card's question and, where one was chosen, the label of the choice."""
    block: JsonObject = {"id": _REPLY_ID, "type": REPLY, "outcome": outcome.value}
    if value is not None:
        block["value"] = value
        if (label := label_of(card, value)) is not None:
            block["label"] = label
    return _model({}, {**block, "question": {name: card[name] for name in _COPIED}})


def label_of(card: JsonObject, value: str) -> str | None:
    """The label of a value that the card offers; None for what it does not."""
    if card["kind"] == CONFIRM:
        return {ACCEPTED: card["confirm_label"], DECLINED: card["decline_label"]}.get(value)
    return next((choice["label"] for choice in card["choices"] if choice["value"] == value), None)


def _model(meta: JsonObject, block: JsonObject) -> JsonObject:
    return {"version": "1.1", "biz": "chat", "meta": meta, "blocks": [block]}
