"""A task whose outbox a test writes row by row, and its delivery by hand.

desk = Desk("ann", "ben", "cat")
row = desk.message("ann", to=["ben"])
desk.deliver()
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.db.models import Max

from conversations.ids import new_id
from conversations.models import Membership, Scope, TaskAttentionOutbox
from conversations.models.attention import OutboxStatus
from conversations.models.scope import ScopeType, Visibility
from tests.unread.house import House, OwnerOf, badge_of
from tests.world import World
from unread.attention.worker import AttentionDelivery
from unread.core.testing import CountingMetrics
from unread.models import MemberScopeUnreadRuntimeSnapshot as Stored


class Desk:
    def __init__(self, *people: str, agents: tuple[str, ...] = (), **options: Any) -> None:
        self.world = World(*people, agents=agents)
        self.scope = self.world.scope["task"] = Scope.objects.create(
            id=new_id(),
            workspace=self.world.workspace,
            type=ScopeType.TASK,
            name="task",
            created_by=self.world.member[people[0]],
            visibility=Visibility.PUBLIC,
        )
        Membership.objects.bulk_create(
            [Membership(scope=self.scope, member=self.world.member[name]) for name in (*people, *agents)]
        )
        self.order = 0
        self.woken: list[Any] = []
        self.wake: Callable[[TaskAttentionOutbox], None] = lambda row: self.woken.append(row.id)
        self.open(House(self.world, **options))

    def open(self, house: House) -> None:
        self.house, self.metrics = house, CountingMetrics()
        self.delivery = AttentionDelivery(
            house.runtime, OwnerOf(*house.worlds), self.metrics, wake_agents=lambda row: self.wake(row)
        )
        house.load_everybody()

    def crash(self) -> None:
        self.open(self.house.crashed())

    def restart(self) -> None:
        self.open(self.house.restarted())

    # Rows, as a commit would leave them

    def message(self, who: str, to: list[str], mentions: tuple[str, ...] = (), **payload: Any) -> TaskAttentionOutbox:
        Scope.objects.filter(id=self.scope.id).update(latest_seq=self._latest("latest_seq") + 1)
        said = {"seq": self._latest("latest_seq"), "message_id": str(new_id()), "rewind_generation": self.rewinds}
        return self.row("message", who, to, **said, mentions=[self._id(name) for name in mentions], **payload)

    def activity(self, who: str, to: list[str], kind: str = "task_status") -> TaskAttentionOutbox:
        Scope.objects.filter(id=self.scope.id).update(latest_activity_seq=self._latest("latest_activity_seq") + 1)
        return self.row("activity", who, to, activity_seq=self._latest("latest_activity_seq"), type=kind)

    def removal(self, of: TaskAttentionOutbox) -> TaskAttentionOutbox:
        Scope.objects.filter(id=self.scope.id).update(rewind_generation=self.rewinds + 1)
        names = [name for name, member in self.world.member.items() if str(member.id) in of.human_recipients]
        author = next(n for n, member in self.world.member.items() if str(member.id) == of.payload["author"])
        said = {"seq": of.payload["seq"], "mentions": of.payload["mentions"], "rewind_generation": self.rewinds}
        return self.row("removal", author, names, **said)

    def row(self, kind: str, who: str, to: list[str], **payload: Any) -> TaskAttentionOutbox:
        self.order += 1
        agents = [name for name in to if self.world.member[name].actor_kind != "user"]
        return TaskAttentionOutbox.objects.create(
            workspace=self.world.workspace,
            scope=self.scope,
            event_id=new_id(),
            order=self.order,
            kind=kind,
            payload={"author": self._id(who), "principal": self._id(who), **payload},
            human_recipients=[self._id(name) for name in to if name not in agents],
            agent_recipients=[
                {"kind": "operator", "key": self.world.member[name].actor_key, "member_id": self._id(name)}
                for name in agents
            ],
        )

    # What becomes of them

    def deliver(self) -> None:
        """Turns until nothing more is due."""
        while self.delivery.deliver_due():
            pass

    def due(self) -> None:
        """As if every delay had passed."""
        TaskAttentionOutbox.objects.filter(scope=self.scope).update(not_before=None, claim_expires_at=None)

    def states(self) -> list[tuple[str, int, int]]:
        rows = TaskAttentionOutbox.objects.filter(scope=self.scope).order_by("order")
        return [(OutboxStatus(row.status).value, row.attempts, row.deferrals) for row in rows]

    def badge(self, who: str) -> tuple[str, int, int, int]:
        shown = self.house.shown(self.world, who, "task")
        assert shown is not None
        seen = badge_of(shown)
        return shown.state.label, seen.messages, seen.mentions, seen.activities

    def stored(self, who: str) -> Stored | None:
        return Stored.objects.filter(scope_id=self.scope.id, member_id=self.world.member[who].id).first()

    @property
    def rewinds(self) -> int:
        return self._latest("rewind_generation")

    def _latest(self, counter: str) -> int:
        found = Scope.objects.filter(id=self.scope.id).aggregate(value=Max(counter))["value"]
        assert isinstance(found, int)
        return found

    def _id(self, name: str) -> str:
        return str(self.world.member[name].id)
