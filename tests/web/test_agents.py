"""Agents in the page: conversations with them, messages directed at one, and their work beside the conversation."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from .stage import Person, Stage
from .test_accessibility import violations
from .test_streaming import Answer

pytestmark = [pytest.mark.chromium, pytest.mark.server]
OPS = {"kind": "operator", "key": "ops"}
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


def messages(stage: Stage, conversation: str) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = stage.api("ann", "GET", f"/conversations/{conversation}/messages")["items"]
    return items


def with_ops(stage: Stage, *people: str) -> str:
    stage.agent("ops")
    return stage.conversation("deploy", *(people or ("ann",)), "ops")


def picker(person: Person) -> Locator:
    return person.page.get_by_role("dialog", name="Whom the message is for")


def to(person: Person) -> Locator:
    return person.page.locator("#composer .to button")


def panel(person: Person) -> Locator:
    return person.page.locator("#beside")


def test_start_a_conversation_with_an_agent(stage: Stage) -> None:
    stage.agent("ops")
    ann = stage.person("ann")
    ann.page.get_by_role("button", name="Start a conversation").click()
    dialog = ann.page.get_by_role("dialog", name="Start a conversation")
    field = dialog.get_by_role("combobox", name="With")
    field.fill("ops")
    field.press("Enter")
    expect(dialog.get_by_role("list", name="Chosen")).to_contain_text("Ops")
    assert violations(ann.page) == []
    dialog.get_by_label("What about").fill("deploy")
    dialog.get_by_role("button", name="Start").click()
    expect(ann.page.locator("#head h1")).to_contain_text("deploy")
    expect(ann.link("deploy")).to_have_count(1)
    expect(to(ann)).to_have_text("To everybody here")
    ann.say("hello both")
    expect(ann.message("hello both")).to_have_count(1)
    expect(ann.message("hello both").locator(".addressee")).to_have_count(0)


def test_a_message_is_directed_by_keyboard_and_the_choice_is_kept(stage: Stage) -> None:
    conversation = with_ops(stage)
    other = stage.conversation("elsewhere", "ann", "ops")
    ann = stage.person("ann", conversation)
    ann.composer.fill("Deploy it")
    ann.page.keyboard.press("Tab")
    ann.page.keyboard.press("Tab")
    expect(to(ann)).to_be_focused()
    ann.page.keyboard.press("Enter")
    expect(picker(ann).get_by_role("option")).to_contain_text(["Everybody here", "Ops"])
    assert violations(ann.page) == []
    ann.page.keyboard.press("ArrowDown")
    ann.page.keyboard.press("Enter")
    expect(picker(ann)).to_have_count(0)
    expect(to(ann)).to_have_text("To Ops")
    expect(to(ann)).to_be_focused()
    ann.composer.press("Enter")
    sent = ann.message("Deploy it")
    expect(sent.locator(".addressee")).to_have_text("to operator/ops")
    expect(sent).not_to_have_class(re.compile("pending"))
    assert messages(stage, conversation)[0]["target"] == OPS
    ann.page.reload()
    expect(sent.locator(".addressee")).to_have_text("to operator/ops")
    expect(to(ann)).to_have_text("To Ops")
    ann.goto(other)
    expect(to(ann)).to_have_text("To everybody here")


def test_everybody_again_begins_a_new_head(stage: Stage) -> None:
    conversation = with_ops(stage)
    ann = stage.person("ann", conversation)
    stage.say("ann", conversation, "for ops", target=OPS)
    stage.say("ann", conversation, "also for ops", target=OPS)
    stage.say("ann", conversation, "for all")
    expect(ann.message("also for ops")).to_have_class(re.compile("grouped"))
    expect(ann.message("for all")).not_to_have_class(re.compile("grouped"))
    expect(ann.message("for all").locator(".addressee")).to_have_count(0)


def test_those_online_are_offered_and_filtered(stage: Stage) -> None:
    stage.agent("scribe")
    conversation = with_ops(stage)
    stage.api("scribe", "PUT", "/operators/scribe/notes", {"name": "Note taker", "lease_s": 600})
    ann = stage.person("ann", conversation)
    to(ann).click()
    option = picker(ann).get_by_role("option", name="Note taker")
    expect(option).to_contain_text("operator/scribe/notes · online")
    picker(ann).get_by_role("combobox").fill("note")
    expect(picker(ann).get_by_role("option")).to_have_count(1)
    picker(ann).get_by_role("combobox").fill("nobody of that name")
    expect(picker(ann)).to_contain_text("No agent by that name")
    ann.page.keyboard.press("Escape")
    expect(picker(ann)).to_have_count(0)
    expect(to(ann)).to_have_text("To everybody here")
    to(ann).click()
    option.click()
    ann.say("write this down")
    expect(ann.message("write this down").locator(".addressee")).to_have_text("to operator/scribe/notes")


def test_channels_have_nobody_to_choose(stage: Stage) -> None:
    ann = stage.person("ann", stage.channel("general", "ann"))
    ann.say("hello")
    expect(ann.message("hello")).to_have_count(1)
    expect(to(ann)).to_have_count(0)


def test_the_work_on_a_message_stands_beside_it_and_is_live(stage: Stage) -> None:
    conversation = with_ops(stage)
    ann = stage.person("ann", conversation)
    asked = stage.say("ann", conversation, "Deploy it", target=OPS)
    inner = asked["process_conversation_id"]
    ann.act("Deploy it", "Work on this")
    expect(panel(ann)).to_contain_text("Work of operator/ops")
    expect(panel(ann)).to_contain_text("Nothing here yet")
    expect(ann.page).to_have_url(f"{stage.address(conversation)}?beside={inner}")
    stage.say("ops", inner, "looking at **the logs**")
    expect(panel(ann).locator("article strong")).to_have_text("the logs")
    answer = Answer(stage, inner, by="ops")
    answer.say("step one ")
    growing = panel(ann).locator(f"#m-{answer.id}")
    expect(growing).to_contain_text("step one")
    expect(growing).to_have_attribute("aria-busy", "true")
    answer.say("step two")
    answer.end()
    expect(growing).to_contain_text("step one step two")
    expect(growing).not_to_have_attribute("aria-busy", "true")
    panel(ann).locator("textarea").fill("use the other host")
    panel(ann).locator("textarea").press("Enter")
    expect(panel(ann).locator("article", has_text="use the other host")).to_have_count(1)
    expect(panel(ann).locator(".pending")).to_have_count(0)
    assert stage.history("ann", inner)[-1] == "use the other host"
    expect(ann.page.locator("#log article")).to_have_count(1)
    assert violations(ann.page) == []
    ann.page.reload()
    expect(panel(ann)).to_contain_text("use the other host")
    ann.page.keyboard.press("Escape")
    expect(panel(ann)).to_be_hidden()
    expect(ann.page).to_have_url(stage.address(conversation))
    expect(ann.message("Deploy it")).to_be_visible()


def test_who_may_not_write_there_reads_along(stage: Stage) -> None:
    conversation = with_ops(stage, "ann", "ben")
    asked = stage.say("ann", conversation, "Deploy it", target=OPS)
    stage.say("ops", asked["process_conversation_id"], "on my way")
    ben = stage.person("ben", conversation)
    ben.act("Deploy it", "Work on this")
    expect(panel(ben)).to_contain_text("on my way")
    expect(panel(ben)).to_contain_text("Only agents and whoever started the conversation write here.")
    expect(panel(ben).locator("textarea")).to_be_hidden()
    stage.say("ops", asked["process_conversation_id"], "done")
    expect(panel(ben).locator("article", has_text="done")).to_have_count(1)


def test_details_and_work_take_turns(stage: Stage) -> None:
    conversation = with_ops(stage)
    stage.say("ann", conversation, "Deploy it", target=OPS)
    ann = stage.person("ann", conversation)
    ann.act("Deploy it", "Work on this")
    expect(panel(ann)).to_be_visible()
    ann.page.get_by_role("button", name="People and details").click()
    expect(ann.page.locator("#panel")).to_be_visible()
    expect(panel(ann)).to_be_hidden()
    ann.page.go_back()
    expect(panel(ann)).to_be_visible()
    expect(ann.page.locator("#panel")).to_be_hidden()


def test_by_keyboard_the_focus_goes_in_and_back(stage: Stage) -> None:
    conversation = with_ops(stage)
    stage.say("ann", conversation, "Deploy it", target=OPS)
    ann = stage.person("ann", conversation)
    ann.message("Deploy it").focus()
    ann.page.keyboard.press("w")
    expect(panel(ann).get_by_role("button", name="Close the side panel")).to_be_focused()
    ann.page.keyboard.press("Escape")
    expect(panel(ann)).to_be_hidden()
    expect(ann.message("Deploy it")).to_be_focused()


def test_on_a_phone_the_work_covers_and_can_be_left(stage: Stage) -> None:
    conversation = with_ops(stage)
    asked = stage.say("ann", conversation, "Deploy it", target=OPS)
    stage.say("ops", asked["process_conversation_id"], "on my way")
    ann = stage.person("ann", conversation, **PHONE)
    ann.message("Deploy it").tap()
    ann.message("Deploy it").get_by_role("button", name="Work on this").tap()
    expect(panel(ann)).to_contain_text("on my way")
    expect(ann.page.locator("main.conversation")).to_be_hidden()
    width = ann.page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert width[0] <= width[1], "nothing sticks out sideways"
    assert violations(ann.page) == []
    panel(ann).get_by_role("button", name="Close the side panel").tap()
    expect(ann.message("Deploy it")).to_be_visible()


def test_without_scripts_the_addressee_is_named_and_the_work_can_be_opened(stage: Stage) -> None:
    conversation = with_ops(stage, "ann", "ben")
    asked = stage.say("ann", conversation, "Deploy it", target=OPS)
    stage.say("ops", asked["process_conversation_id"], "on my way")
    ben = stage.person("ben", conversation, java_script_enabled=False)
    expect(ben.message("Deploy it").locator(".addressee")).to_have_text("to operator/ops")
    ben.page.get_by_role("link", name="Work on this").click()
    expect(ben.message("on my way")).to_be_visible()
    expect(ben.page.get_by_text("Only agents and whoever started the conversation write here.")).to_be_visible()
    expect(ben.page.get_by_role("button", name="Join to write")).to_have_count(0)
