"""The worker: for each task that this process owns, its events in order, none before the one before is settled.

account in memory → write the recipients' rows (the barrier) → wake agents → delivered

What is missing on the way defers the event, at no cost of its own; what fails is tried again and is dead at last. A
dead event lets later ones pass, and those it was meant for have hints from then on.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence

from django.db import Error as DatabaseError
from django.utils import timezone

from conversations.actions.attending import advance_feeds, claim_event, defer_event, deliver_event, fail_event
from conversations.connections import database_unit
from conversations.events import Fact, MessagesChanged, MessageStored, NonMessageActivityStored
from conversations.models import TaskAttentionOutbox
from conversations.ownership import Owner
from conversations.periodic import Periodic
from conversations.publish import subscribe
from conversations.queries.attention import due_events, next_event

from ..core.ports import Metrics
from ..core.runtime import UnreadRuntime
from ..core.shadow import ShadowError
from ..store import LeaseMoved
from .reading import REMOVAL, read_event

logger = logging.getLogger(__name__)

EVERY_S = 1.0
TASKS = 100
"""Looked at in one turn."""
IN_A_ROW = 20
"""Events of one task in one turn."""


WakesAgents = Callable[[TaskAttentionOutbox], None]
"""Wakes the agent recipients of a row; called again after a crash, so twice must be as good as once."""


class AttentionDelivery:
    """One turn over the outbox; `deliver_due` may be called from one thread at a time."""

    def __init__(
        self, runtime: UnreadRuntime, owner: Owner, metrics: Metrics, wake_agents: WakesAgents = advance_feeds
    ) -> None:
        self._runtime, self._owner, self._metrics, self._wake_agents = runtime, owner, metrics, wake_agents

    def deliver_due(self) -> bool:
        """Deliver what is due; answers whether there may be more at once. One statement where nothing is due."""
        held = sorted(self._owner.held())
        if not held:
            return False
        first = due_events(held, timezone.now(), TASKS)
        settled = [self._deliver_task(event) for event in first]
        return max(settled, default=0) == IN_A_ROW or (len(first) == TASKS and any(settled))

    def _deliver_task(self, event: TaskAttentionOutbox) -> int:
        """How many events of the task were settled, at most `IN_A_ROW`."""
        following: TaskAttentionOutbox | None = event
        for settled in range(IN_A_ROW):
            if following is None or not self.deliver(following):
                return settled
            following = next_event(event.scope_id, timezone.now())
        return IN_A_ROW

    def deliver(self, event: TaskAttentionOutbox) -> bool:
        """One event; answers whether the next one of its task may follow."""
        epoch = self._owner.epoch(event.workspace_id)
        token = claim_event(event.id, epoch) if epoch is not None else None
        if token is None:
            return False
        try:
            missing = self._protect(event)
            if missing is None and event.kind != REMOVAL:
                self._wake_agents(event)
        except Exception as error:
            logger.exception("task event %s could not be delivered", event.id)
            dead = fail_event(event, token, f"{type(error).__name__}: {error}")
            if dead:
                self._runtime.give_up(event.workspace_id.int, event.scope_id.int)
            return dead
        if missing is None:
            return deliver_event(event.id, token)
        self._metrics.count("outbox_deferrals")
        defer_event(event, token, missing)
        return False

    def _protect(self, event: TaskAttentionOutbox) -> str | None:
        """Account and write; what is missing, if anything is. Raises `Malformed`."""
        said = read_event(event)
        try:
            return None if self._runtime.attend(said) else "this process does not own the workspace"
        except ShadowError as error:
            self._metrics.count("shadow_mismatches")
            logger.warning("task event %s waits for a shadow that stands against it: %s", event.id, error)
            return f"shadow: {error}"
        except (LeaseMoved, DatabaseError) as error:
            logger.warning("task event %s is put off: %s", event.id, error)
            return f"{type(error).__name__}: {error}"


class AttentionWorker(Periodic):
    """Delivers after each commit that concerns a task, and looks by itself every so often."""

    def __init__(self, delivery: AttentionDelivery, every_s: float = EVERY_S) -> None:
        super().__init__("task-attention", every_s, self._turn)
        self._delivery = delivery
        self._disconnect = subscribe(self._heard)

    def stop(self, deadline_s: float) -> None:
        """Deliver what is due, as far as the deadline allows; the rest is delivered by the next owner."""
        until = time.monotonic() + deadline_s
        self._disconnect()
        super().stop(deadline_s)
        with database_unit():
            while time.monotonic() < until and self._delivery.deliver_due():
                pass

    def _turn(self) -> None:
        if self._delivery.deliver_due():
            self.wake()

    def _heard(self, batch: Sequence[Fact]) -> None:
        kinds = (MessageStored, NonMessageActivityStored, MessagesChanged)
        if any(isinstance(fact, kinds) and fact.recipients is not None for fact in batch):
            self.wake()
