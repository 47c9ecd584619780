"""Everything by keyboard alone."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from .stage import Person, Stage

pytestmark = [pytest.mark.chromium, pytest.mark.server]


def keys(person: Person, *pressed: str) -> None:
    for key in pressed:
        person.page.keyboard.press(key)


def test_from_the_list_to_a_sent_message_without_a_pointer(stage: Stage) -> None:
    stage.channel("general", "ann", "ben")
    stage.channel("launch", "ann", "ben")
    ann = stage.person("ann")
    keys(ann, "Control+k")
    field = ann.page.get_by_role("combobox", name="Jump to")
    expect(field).to_be_focused()
    ann.page.keyboard.type("lau")
    expect(ann.page.get_by_role("option", selected=True)).to_contain_text("launch")
    keys(ann, "Enter")
    expect(ann.page.locator("#head h1")).to_contain_text("launch")
    expect(ann.composer).to_be_focused()
    ann.page.keyboard.type("line one")
    keys(ann, "Shift+Enter")
    ann.page.keyboard.type("line two")
    keys(ann, "Enter")
    expect(ann.message("line two")).to_have_count(1)
    expect(ann.message("line two").locator(".text")).to_have_text(re.compile("line one\nline two"), use_inner_text=True)

    keys(ann, "Alt+ArrowUp")
    expect(ann.page.locator("#head h1")).to_contain_text("general")
    keys(ann, "Alt+ArrowDown")
    expect(ann.page.locator("#head h1")).to_contain_text("launch")


def test_alt_shift_goes_to_the_next_unread_conversation(stage: Stage) -> None:
    channels = [stage.channel(name, "ann", "ben") for name in ("a", "b", "c", "d")]
    ben = stage.person("ben", channels[0])
    stage.say("ann", channels[2], "look here")
    expect(ben.badge("c")).to_have_count(1)
    keys(ben, "Alt+Shift+ArrowDown")
    expect(ben.page.locator("#head h1")).to_contain_text("c")
    expect(ben.message("look here")).to_be_visible()


def test_messages_are_walked_and_acted_on(stage: Stage) -> None:
    channel = stage.channel("general", "ann", "ben")
    for text in ("first", "second", "third"):
        stage.say("ann", channel, text)
    ann = stage.person("ann", channel)
    expect(ann.composer).to_be_focused()
    keys(ann, "Shift+Tab")
    expect(ann.message("third")).to_be_focused()
    keys(ann, "ArrowUp")
    expect(ann.message("second")).to_be_focused()
    keys(ann, "Tab", "Enter")
    expect(ann.message("second").locator(".reaction")).to_have_count(1)
    ann.message("second").focus()
    keys(ann, "e")
    expect(ann.composer).to_have_value("second")
    keys(ann, "Escape")
    expect(ann.composer).to_have_value("")
    ann.message("second").focus()
    keys(ann, "r")
    expect(ann.page.locator("#composer .context")).to_contain_text("Replying to")
    keys(ann, "Escape")
    ann.message("first").focus()
    keys(ann, "Delete")
    expect(ann.page.get_by_role("dialog")).to_contain_text("Delete this message?")
    keys(ann, "Escape")
    expect(ann.page.get_by_role("dialog")).to_have_count(0)
    expect(ann.message("first")).to_have_count(1)


def test_a_menu_opens_moves_by_arrows_and_gives_the_focus_back(stage: Stage) -> None:
    channel = stage.channel("general", "ann", "ben")
    ann = stage.person("ann", channel)
    more = ann.page.locator("#head").get_by_role("button", name="More")
    more.focus()
    keys(ann, "Enter")
    expect(ann.page.get_by_role("menuitem").first).to_be_focused()
    keys(ann, "ArrowDown", "ArrowDown")
    stage.say("ben", channel, "the page redraws meanwhile")
    expect(ann.message("meanwhile")).to_be_visible()
    expect(ann.page.get_by_role("menuitem").nth(2)).to_be_focused()
    keys(ann, "Escape")
    expect(more).to_be_focused()


def test_escape_closes_the_panel_and_question_mark_lists_the_keys(stage: Stage) -> None:
    channel = stage.channel("general", "ann", "ben")
    ann = stage.person("ann", channel)
    ann.page.get_by_role("button", name="People and details").click()
    expect(ann.page.locator("#panel")).to_contain_text("Ben")
    expect(ann.page).to_have_url(re.compile("/about/$"))
    keys(ann, "Escape")
    expect(ann.page.locator("#panel")).to_be_hidden()
    expect(ann.page).to_have_url(stage.address(channel))
    ann.composer.press("?")
    expect(ann.composer).to_have_value("?")
    ann.composer.fill("")
    ann.page.locator("#head").get_by_role("button", name="More").focus()
    keys(ann, "?")
    expect(ann.page.get_by_role("dialog", name="Keys")).to_be_visible()


def test_up_in_an_empty_composer_edits_the_last_own_message_and_not_with_text(stage: Stage) -> None:
    channel = stage.channel("general", "ann", "ben")
    stage.say("ann", channel, "mine")
    stage.say("ben", channel, "not mine")
    ann = stage.person("ann", channel)
    ann.composer.fill("typing")
    ann.composer.press("ArrowUp")
    expect(ann.composer).to_have_value("typing")
    ann.composer.fill("")
    ann.composer.press("ArrowUp")
    expect(ann.composer).to_have_value("mine")


@pytest.mark.parametrize("event", [{"keyCode": 229, "isComposing": False}, {"keyCode": 13, "isComposing": True}])
def test_enter_of_an_input_method_does_not_send_synthetic_event(stage: Stage, event: dict[str, object]) -> None:
    """Only a real input method could show what each browser sends; the two known shapes are dispatched by hand."""
    channel = stage.channel("general", "ann")
    ann = stage.person("ann", channel)
    ann.composer.fill("你好")
    press = """(field, event) => field.dispatchEvent(
      new KeyboardEvent("keydown", {key: "Enter", bubbles: true, cancelable: true, ...event}))"""
    not_cancelled = ann.composer.evaluate(press, event)
    assert not_cancelled is True
    expect(ann.composer).to_have_value("你好")
    ann.composer.press("Enter")
    expect(ann.message("你好")).to_have_count(1)
    expect(ann.log.locator(".pending")).to_have_count(0)
    assert stage.history("ann", channel) == ["你好"]


def test_completing_a_mention(stage: Stage) -> None:
    channel = stage.channel("general", "ann", "ben", "cat")
    ann = stage.person("ann", channel)
    ann.composer.press_sequentially("Hello @c")
    expect(ann.page.locator("#completion").get_by_role("option")).to_contain_text(["Cat"])
    keys(ann, "Enter")
    expect(ann.composer).to_have_value("Hello @cat ")
    expect(ann.page.locator("#completion")).to_be_hidden()
    keys(ann, "Enter")
    expect(ann.message("Hello").locator(".mention")).to_have_text("@Cat")


def test_a_draft_is_kept_for_each_conversation(stage: Stage) -> None:
    general = stage.channel("general", "ann")
    stage.channel("other", "ann")
    ann = stage.person("ann", general)
    ann.composer.fill("half a thought")
    ann.open("other")
    expect(ann.composer).to_have_value("")
    ann.composer.fill("something else")
    ann.page.reload()
    expect(ann.composer).to_have_value("something else")
    ann.open("general")
    expect(ann.composer).to_have_value("half a thought")
