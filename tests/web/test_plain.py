"""Without JavaScript: log in, read, page, write."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.server import wait_until

from .stage import Stage, sign_in

pytestmark = [pytest.mark.chromium, pytest.mark.server]


def test_log_in_read_page_and_write(stage: Stage) -> None:
    channel = stage.channel("general", "ann", "ben")
    for number in range(120):
        stage.say("ann", channel, f"message {number:03}")
    context = stage.cast.browser.new_context(java_script_enabled=False, locale="en-GB")
    try:
        page = context.new_page()
        sign_in(page, stage.cast.origin, "ben")
        page.goto(stage.address())
        item = page.locator("#conversations a.item", has_text="general")
        expect(item.locator(".badge")).to_have_text(re.compile(r"^99\+"))
        item.click()
        log = page.get_by_role("log")
        expect(log.locator("article")).to_have_count(50)
        expect(log).to_contain_text("message 119")
        page.get_by_role("link", name="Older messages").click()
        expect(log.locator("article").first).to_contain_text("message 020")
        expect(log.locator("article").last).to_contain_text("message 069")
        page.get_by_role("link", name="Older messages").click()
        expect(log.locator("article")).to_have_count(20)
        expect(page.get_by_role("link", name="Older messages")).to_have_count(0)
        page.get_by_role("link", name="Newer messages").click()
        expect(log.locator("article").first).to_contain_text("message 020")
        page.get_by_role("link", name="Newest").click()
        page.get_by_role("textbox").fill("written <b>without</b> scripts")
        page.get_by_role("button", name="Send").click()
        expect(log.locator("article").last).to_contain_text("written <b>without</b> scripts")
        expect(page.get_by_role("button", name="Jump to")).to_have_count(0)
    finally:
        context.close()
    assert stage.history("ann", channel)[-1] == "written <b>without</b> scripts"


def test_marking_read_joining_and_details(stage: Stage) -> None:
    channel, open_to_all = stage.channel("general", "ann", "ben"), stage.channel("lobby", "ann")
    stage.say("ann", channel, "news")
    counted = f"/workspaces/{stage.workspace}/unread"
    wait_until(lambda: stage.api("ben", "GET", counted)["counts"].get(channel, {}).get("messages") == 1)
    ben = stage.person("ben", channel, java_script_enabled=False)
    expect(ben.badge("general")).to_have_text(re.compile("^1"))
    ben.page.get_by_role("button", name="Mark as read").click()
    expect(ben.badge("general")).to_have_count(0)
    ben.page.get_by_role("link", name="People and details").click()
    expect(ben.page.locator("#panel")).to_contain_text("@ann")
    ben.goto(open_to_all)
    ben.page.get_by_role("button", name="Join to write").click()
    expect(ben.link("lobby")).to_have_count(1)
    expect(ben.composer).to_be_visible()
