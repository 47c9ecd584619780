"""The pages of tasks and of the inbox, as people use them."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.server import wait_until

from .stage import Stage

pytestmark = [pytest.mark.chromium, pytest.mark.server]


@pytest.mark.parametrize("scripts", [True, False], ids=["with scripts", "without scripts"])
def test_a_task_from_its_creation_to_the_inbox_of_its_assignee(stage: Stage, scripts: bool) -> None:
    stage.channel("general", "ann", "ben")
    ann = stage.person("ann", java_script_enabled=scripts)
    ann.page.get_by_role("link", name="Tasks").click()
    ann.page.get_by_label("New task").fill("Paint the <b>door</b>")
    ann.page.get_by_label("Assignee").select_option(stage.member["ben"])
    ann.page.get_by_role("button", name="Create").click()
    expect(ann.page.get_by_role("heading", level=1)).to_have_text("Paint the <b>door</b>")
    ann.page.get_by_label("Status").select_option("in_progress")
    ann.page.get_by_label("Column").fill("doing")
    ann.page.get_by_role("button", name="Save").click()
    expect(ann.page.locator(".history")).to_contain_text("status: open → in progress")
    inbox = f"/workspaces/{stage.workspace}/inbox"

    def told() -> bool:
        return [item["unread"]["activities"] for item in stage.api("ben", "GET", inbox)["items"]] == [2]

    wait_until(told)
    ben = stage.person("ben", java_script_enabled=scripts)
    ben.page.get_by_role("link", name="Inbox").click()

    line = ben.page.locator(".lines a")
    expect(line).to_contain_text("Paint the <b>door</b>")
    expect(line.locator(".badge")).to_have_text(re.compile("^2"))
    ben.page.get_by_role("link", name="Tasks").click()
    expect(ben.page.get_by_role("region", name="In Progress")).to_contain_text("Paint the <b>door</b>")
    ben.page.locator(".board a").click()
    ben.page.get_by_role("button", name="Mark as read").click()
    expect(ben.page.get_by_role("button", name="Mark as read")).to_have_count(0)
    ben.page.get_by_role("button", name="Watch", exact=True).click()
    expect(ben.page.get_by_role("button", name="Stop watching")).to_be_visible()
    ben.page.get_by_role("link", name="Inbox").click()
    expect(ben.page.get_by_text("Nothing asks for your attention.")).to_be_visible()


def test_a_change_of_what_somebody_else_changed_is_refused_in_words(stage: Stage) -> None:
    task = stage.api("ann", "POST", f"/workspaces/{stage.workspace}/tasks", {"title": "Paint"})
    ann = stage.person("ann", java_script_enabled=False)
    ann.allow("409")
    ann.page.goto(f"{stage.address()}tasks/{task['id']}/")
    stage.api("ben", "PATCH", f"/tasks/{task['id']}", {"status": "done"})
    ann.page.get_by_label("Title").fill("Paint it black")
    ann.page.get_by_role("button", name="Save").click()
    expect(ann.page.get_by_role("alert")).to_contain_text("version 2")
    assert stage.api("ben", "GET", f"/tasks/{task['id']}")["title"] == "Paint"
