"""SIGKILL at each step of a task event: it stays to be delivered, or it is delivered and its rows are there."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID

import pytest

from conversations.ids import new_id
from tests.faults.stage import Company, Stage
from tests.faults.test_kill_points import SNAPSHOTS, kill_at
from tests.server import wait_until

pytestmark = [pytest.mark.server, pytest.mark.own_database]

CLAIM = "update `task_attention_outbox` set `claim_token`"
BARRIER = "select epoch from resource_locks"
WRITTEN = f"update {SNAPSHOTS} set task_snapshot_format_version"
DELIVERED = "update `task_attention_outbox` set `status`"


class Desk:
    """A task of a company whose outbox the test writes."""

    def __init__(self, company: Company) -> None:
        self.company, self.stage, [self.task] = company, company.stage, company.channels
        company.server.kill()
        self.stage.run("UPDATE scopes SET type = 'task' WHERE id = %s", [self.task])
        self.stage.run(
            "INSERT INTO conversation_consumers (id, scope_id, actor_kind, actor_key, updated_at) "
            "VALUES (%s, %s, 'operator', 'bot', NOW())",
            [str(new_id()), self.task],
        )
        self.order = 0
        self.start()

    def start(self) -> None:
        self.company.server.start()
        self.company.settled("ben")

    def message(self) -> str:
        self.order += 1
        event, message = str(new_id()), str(new_id())
        ann, ben = self.company.member["ann"], self.company.member["ben"]
        payload = {"seq": self.order, "message_id": message, "author": ann, "principal": ann, "mentions": [ben]}
        agents = [{"kind": "operator", "key": "bot", "member_id": ann}]
        self.stage.run("UPDATE scopes SET latest_seq = %s WHERE id = %s", [self.order, self.task])
        self.stage.run(
            "INSERT INTO task_attention_outbox (id, workspace_id, scope_id, event_id, `order`, kind, payload, "
            "human_recipients, agent_recipients, status, attempts, deferrals, claim_epoch, last_error, created_at) "
            "VALUES (%s, %s, %s, %s, %s, 'message', %s, %s, %s, 'pending', 0, 0, 0, '', NOW())",
            [
                *(event, self.company.workspace, self.task, event, self.order),
                *(json.dumps(payload), json.dumps([ben]), json.dumps(agents)),
            ],
        )
        return message

    def statuses(self) -> list[str]:
        rows = self.stage.run(
            "SELECT status FROM task_attention_outbox WHERE scope_id = %s ORDER BY `order`", [self.task]
        )
        return [row[0] for row in rows]

    def protected(self) -> list[int]:
        """The counts in the shadows of the task."""
        rows = self.stage.run(
            f"SELECT task_snapshot_json FROM {SNAPSHOTS} WHERE scope_id = %s AND task_snapshot_json IS NOT NULL",
            [UUID(self.task).hex],
        )
        return [json.loads(row[0])["message_unread"] for row in rows]

    def feed(self) -> str | None:
        [[end]] = self.stage.run("SELECT end_offset FROM conversation_consumers WHERE scope_id = %s", [self.task])
        return end and str(end)

    def shown(self) -> Any:
        entry = self.company.settled("ben")["counts"].get(self.task)
        return entry and (entry["messages"], entry["mentions"])


@pytest.mark.parametrize(
    ("point", "answer", "protected", "woken"),
    [
        (CLAIM, False, [1], False),
        (CLAIM, True, [1], False),
        (BARRIER, False, [1], False),
        (WRITTEN, True, [1], False),
        (DELIVERED, False, [2], True),
    ],
    ids=["before the claim", "before accounting", "before the barrier", "in the barrier", "before delivered"],
)
def test_killed_on_the_way(stage: Stage, point: str, answer: bool, protected: list[int], woken: bool) -> None:
    with stage.serving() as (server, proxy):
        desk = Desk(stage.company(server))
        first = desk.message()
        wait_until(lambda: desk.statuses() == ["delivered"], 20, desk.statuses)
        assert (desk.protected(), desk.feed(), desk.shown()) == ([1], first, (1, 1))
        hold = proxy.hold(point, answer=answer)
        second = desk.message()
        kill_at(server, hold)
        wait_until(lambda: desk.statuses() == ["delivered", "pending"], 20, desk.statuses)
        assert desk.protected() == protected
        assert desk.feed() == (second if woken else first)
        desk.start()
        wait_until(lambda: desk.statuses() == ["delivered", "delivered"], 20, desk.statuses)
        assert (desk.protected(), desk.feed()) == ([2], second)
        assert desk.shown() == (2, 2)
        server.kill()
        desk.start()
        assert desk.shown() == (2, 2)
