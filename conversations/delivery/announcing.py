"""How writers tell watchers what they committed: after the commit, in the same thread, as best they can.

What could not be told is not lost: the message keeps its mark (`dispatch_pending`) from its opening to its end, and
the sweeper tells its state again where this process does not know that it was told.
"""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from uuid import UUID

import orjson

from ..agentue.events import Event, Op
from ..agentue.values import JsonObject
from .bridge import Bridge, BridgeDown, Entry

logger = logging.getLogger(__name__)

MAX_REMEMBERED = 20_000
"""Streams whose last told seq is known; of the one idle for longest the state is told once more."""


class Announcer:
    """Publishes to the bridge and remembers up to where each stream was told. For any thread."""

    def __init__(self, bridge: Bridge, max_remembered: int = MAX_REMEMBERED) -> None:
        self.bridge = bridge
        self._max_remembered = max_remembered
        self._told: OrderedDict[UUID, int] = OrderedDict()
        self._lock = threading.Lock()
        self._down = False

    def event(self, message_id: UUID, event: Event, status: str) -> bool:
        """An event that was applied; False where the bridge is down."""
        envelope: JsonObject = {**event.raw, "stream_id": str(message_id)}
        if event.op is Op.END:
            envelope["status"] = status
        return self._publish(message_id, event.seq, envelope)

    def ended(self, message_id: UUID, seq: int, status: str) -> bool:
        """A stream that the server ended; False where the bridge is down."""
        envelope = {"op": Op.END.value, "seq": seq, "stream_id": str(message_id), "status": status}
        return self._publish(message_id, seq, envelope)

    def changed(self, message_id: UUID, seq: int) -> bool:
        """Something up to `seq` happened: watchers read the message. False where the bridge is down."""
        return self._publish(message_id, seq, None)

    def has_told(self, message_id: UUID, seq: int) -> bool:
        """Whether this process is sure that watchers were told of everything up to `seq`."""
        with self._lock:
            return self._told.get(message_id, -1) >= seq

    def forget(self, message_id: UUID) -> None:
        with self._lock:
            self._told.pop(message_id, None)

    def _publish(self, message_id: UUID, seq: int, envelope: JsonObject | None) -> bool:
        body = None if envelope is None else orjson.dumps(envelope)
        try:
            self.bridge.publish(message_id, [Entry(seq, body)])
        except BridgeDown as down:
            if not self._down:
                logger.warning("the bridge is down, watchers read the database meanwhile: %s", down)
            self._down = True
            self.forget(message_id)
            return False
        self._down = False
        self._remember(message_id, seq)
        return True

    def _remember(self, message_id: UUID, seq: int) -> None:
        with self._lock:
            self._told[message_id] = max(seq, self._told.pop(message_id, -1))
            if len(self._told) > self._max_remembered:
                self._told.popitem(last=False)


_current: Announcer | None = None


def install_announcer(announcer: Announcer) -> None:
    """Make it the one of this process; `loopd.bootstrap` does this at start."""
    global _current
    _current = announcer


def announcer() -> Announcer:
    if _current is None:
        raise RuntimeError("no announcer installed; loopd.bootstrap builds it when Django starts")
    return _current
