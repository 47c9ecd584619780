"""axe finds nothing serious, in both colour schemes and on a phone; and what it cannot see."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from .stage import Stage

pytestmark = [pytest.mark.chromium, pytest.mark.server]
AXE = (Path(__file__).parent / "vendor/axe-core-4.14.1.min.js").read_text()
GRAVE = ("serious", "critical")


def violations(page: Page) -> list[str]:
    page.evaluate(AXE)
    found = page.evaluate("() => axe.run({resultTypes: ['violations']}).then((result) => result.violations)")
    return [
        f"{rule['id']}: {node['target']} {node['failureSummary']}"
        for rule in found
        if rule["impact"] in GRAVE
        for node in rule["nodes"][:3]
    ]


def everything(stage: Stage) -> str:
    """A conversation with each kind of thing in it."""
    channel, other = stage.channel("general", "ann", "ben"), stage.channel("other", "ann", "ben")
    first = stage.say("ann", channel, "Hello @ben, see https://example.com/")
    stage.say("ben", channel, "Read it", reply_to_id=first["id"])
    stage.api("ben", "PUT", f"/messages/{first['id']}/reactions/eyes")
    stage.api("ann", "PUT", f"/messages/{first['id']}", {"text": "Hello @ben, see https://example.com/a"})
    stage.say("ann", channel, "@ben again")
    blocks = [
        {"id": "a", "type": "file", "name": "plan.pdf", "url": "https://example.com/p"},
        {"id": "b", "type": "chart"},
    ]
    stage.api(
        "ann",
        "POST",
        f"/conversations/{channel}/messages",
        {"content": {"version": "1.1", "biz": "chat", "meta": {}, "blocks": blocks}},
    )
    stage.say("ann", other, "@ben over here")
    stage.say("ann", stage.dm("ann", "ben"), "hi")
    return channel


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_conversation_with_everything_in_it(stage: Stage, scheme: str) -> None:
    channel = everything(stage)
    ben = stage.person("ben", channel, color_scheme=scheme)
    expect(ben.badge("other")).to_have_count(1)
    ben.message("Read it").hover()
    assert violations(ben.page) == []
    ben.page.get_by_role("button", name="People and details").click()
    expect(ben.page.locator("#panel")).to_contain_text("@ann")
    assert violations(ben.page) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_dialogs_menus_and_the_list(stage: Stage, scheme: str) -> None:
    everything(stage)
    ben = stage.person("ben", color_scheme=scheme)
    assert violations(ben.page) == []
    for name in ("Create a channel", "New direct message", "Browse channels"):
        ben.page.locator("#conversations").get_by_role("button", name=name).click()
        expect(ben.page.get_by_role("dialog")).to_be_visible()
        assert violations(ben.page) == [], name
        ben.page.keyboard.press("Escape")
    ben.page.keyboard.press("Control+k")
    ben.page.keyboard.type("o")
    expect(ben.page.get_by_role("option", selected=True)).to_have_count(1)
    assert violations(ben.page) == []
    ben.page.keyboard.press("Escape")
    ben.open("general")
    ben.page.locator("#head").get_by_role("button", name="More").click()
    assert violations(ben.page) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_login_and_pages_of_refusal(stage: Stage, scheme: str) -> None:
    context = stage.cast.browser.new_context(color_scheme=scheme)  # type: ignore[arg-type]
    try:
        page = context.new_page()
        page.goto(f"{stage.cast.origin}/login/")
        page.get_by_label("Username").fill("ann")
        page.get_by_label("Password").fill("wrong")
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_role("alert")).to_be_visible()
        expect(page.get_by_label("Username")).to_have_value("ann")
        assert violations(page) == []
        page.goto(f"{stage.cast.origin}/nowhere/")
        assert violations(page) == []
    finally:
        context.close()


def test_a_phone_shows_one_pane_with_an_address_and_big_targets(stage: Stage) -> None:
    channel = everything(stage)
    phone = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
    ben = stage.person("ben", **phone)
    expect(ben.page.locator(".conversation")).to_be_hidden()
    assert violations(ben.page) == []
    ben.link("general").tap()
    expect(ben.message("Read it")).to_be_visible()
    expect(ben.page.locator(".sidebar")).to_be_hidden()
    expect(ben.page).to_have_url(stage.address(channel))
    assert ben.composer.evaluate("field => parseFloat(getComputedStyle(field).fontSize)") >= 16
    for button in ben.page.locator("#head .tool").all():
        box = button.bounding_box()
        assert box is not None
        assert min(box["width"], box["height"]) >= 44
    ben.message("again").tap()
    expect(ben.message("again").get_by_role("toolbar")).to_be_visible()
    assert violations(ben.page) == []
    ben.page.get_by_role("link", name="Back to the list").tap()
    expect(ben.link("general")).to_be_visible()
    width = ben.page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert width[0] <= width[1], "nothing sticks out sideways"


def test_names_for_the_ear(stage: Stage) -> None:
    channel = everything(stage)
    ben = stage.person("ben", channel)
    expect(ben.page.get_by_role("log", name="Messages in #general")).to_be_visible()
    expect(ben.log.get_by_role("article").first).to_have_accessible_name(
        "ann, " + ben.log.locator("time").first.inner_text()
    )
    expect(ben.link("other")).to_have_accessible_name("other , 1 unread, 1 mentioning you")
    expect(ben.page.get_by_role("navigation", name="Conversations")).to_be_visible()
    ben.page.keyboard.press("Control+k")
    ben.page.keyboard.press("Escape")
    expect(ben.composer).to_be_focused()


def test_the_theme_is_chosen_kept_and_set_before_the_page_is_painted(stage: Stage) -> None:
    channel = stage.channel("general", "ann")
    ann = stage.person("ann", channel, color_scheme="light")
    background = "getComputedStyle(document.body).backgroundColor"
    light = ann.page.evaluate(background)
    button = ann.page.get_by_role("button", name="Theme")
    button.click()
    button.click()
    expect(ann.page.locator("html")).to_have_attribute("data-theme", "dark")
    dark = ann.page.evaluate(background)
    assert dark != light
    ann.page.reload(wait_until="commit")
    expect(ann.page.locator("html")).to_have_attribute("data-theme", "dark")
    assert ann.page.evaluate(background) == dark


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_pages_of_tasks_and_the_inbox(stage: Stage, scheme: str) -> None:
    body = {"title": "Paint the door", "assignee_id": stage.member["ben"]}
    task = stage.api("ann", "POST", f"/workspaces/{stage.workspace}/tasks", body)
    stage.api("ann", "PATCH", f"/tasks/{task['id']}", {"status": "done"})
    ben = stage.person("ben", color_scheme=scheme)
    for page in ("inbox/", "tasks/", f"tasks/{task['id']}/"):
        ben.page.goto(f"{stage.address()}{page}")
        expect(ben.page.get_by_text("Paint the door").first).to_be_visible()
        assert violations(ben.page) == [], page
