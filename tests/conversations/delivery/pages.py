"""A page that follows a conversation by its feed, strictly: any event that is not the next one fails the test."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import orjson

from conversations.agentue.events import parse_event
from conversations.agentue.model import parse_model
from conversations.agentue.reducer import reduce
from conversations.models import Message

EXTRA = ("message", "status", "fetch")


def blocks_of(stream: bytes) -> Iterator[dict[str, str]]:
    """The fields of each complete server-sent event; comments are left out."""
    for block in stream.decode().split("\n\n"):
        fields: dict[str, str] = {}
        for line in block.split("\n"):
            name, _, value = line.partition(":")
            if name:
                fields[name] = value.removeprefix(" ")
        if fields:
            yield fields


class Page:
    """Models and places by message id, as the frames make them."""

    def __init__(self) -> None:
        self.models: dict[str, dict[str, Any]] = {}
        self.seq: dict[str, int] = {}
        self.to_fetch: dict[str, int] = {}
        """Messages whose snapshot was too large, with the revision to fetch at least."""
        self.ended: dict[str, str] = {}
        self.starts: Counter[str] = Counter()
        self.meta: dict[str, dict[str, Any]] = {}
        self.last_id = ""
        self.resyncs = 0
        self.events = 0
        self.order: list[tuple[str, str]] = []
        self._rest = b""

    def feed(self, chunk: bytes) -> None:
        whole, mark, rest = (self._rest + chunk).rpartition(b"\n\n")
        self._rest = rest
        if mark:
            for fields in blocks_of(whole + mark):
                self.hear(fields)

    def hear(self, fields: dict[str, str]) -> None:
        self.last_id = fields.get("id", self.last_id)
        if fields.get("event") == "resync":
            self.resyncs += 1
        elif "data" in fields:
            self.apply(orjson.loads(fields["data"]))

    def apply(self, envelope: dict[str, Any]) -> None:
        stream, op, seq = envelope["stream_id"], envelope["op"], envelope["seq"]
        self.order.append((stream, op))
        if op == "start":
            self.starts[stream] += 1
            self.meta[stream] = envelope["message"]
            assert envelope["message"]["revision"] == seq
            self.ended.pop(stream, None)
            self.models.pop(stream, None)
            self.to_fetch.pop(stream, None)
            if envelope.get("fetch"):
                assert "model" not in envelope
                self.to_fetch[stream] = seq
            else:
                self.models[stream] = parse_model(envelope["model"])
            self.seq[stream] = seq
            return
        assert stream in self.seq, "an event before its start"
        assert stream not in self.ended, "an event after the end"
        if op == "end":
            assert seq in (self.seq[stream], self.seq[stream] + 1), "a hole before the end"
            self.ended[stream] = envelope["status"]
        else:
            self.events += 1
            assert seq == self.seq[stream] + 1, f"{seq} after {self.seq[stream]}"
            plain = {name: value for name, value in envelope.items() if name not in EXTRA}
            if stream in self.models:
                self.models[stream] = reduce(self.models[stream], parse_event(plain))
        self.seq[stream] = seq

    def text(self, message: Message | UUID | str) -> str:
        key = str(message.id) if isinstance(message, Message) else str(message)
        return "".join(block.get("content", "") for block in self.models[key]["blocks"])
