"""The dialogs about conversations, and what they change for others."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from .stage import Stage

pytestmark = [pytest.mark.chromium, pytest.mark.server]


def test_create_a_channel_browse_it_and_join(stage: Stage) -> None:
    ann, ben = stage.person("ann"), stage.person("ben")
    ann.page.get_by_role("button", name="Create a channel").click()
    dialog = ann.page.get_by_role("dialog", name="Create a channel")
    dialog.get_by_label("Name").fill("launch")
    dialog.get_by_role("button", name="Create").click()
    expect(ann.page.locator("#head h1")).to_contain_text("launch")
    expect(ann.page.get_by_text("Nothing has been said here yet")).to_be_visible()
    ann.say("Welcome")
    expect(ann.message("Welcome")).to_have_count(1)

    ben.page.get_by_role("button", name="Browse channels").first.click()
    dialog = ben.page.get_by_role("dialog", name="Channels")
    dialog.get_by_role("searchbox").fill("lau")
    dialog.get_by_role("link", name="launch").click()
    expect(ben.message("Welcome")).to_be_visible()
    expect(ben.composer).to_be_hidden()
    ben.page.get_by_role("button", name="Join to write").click()
    expect(ben.link("launch")).to_have_count(1)
    ben.say("Here I am")
    expect(ann.message("Here I am")).to_be_visible()


def test_a_taken_or_bad_name_keeps_the_dialog_with_its_text(stage: Stage) -> None:
    ann = stage.person("ann")
    ann.allow("400|409")
    ann.page.get_by_role("button", name="Create a channel").click()
    dialog = ann.page.get_by_role("dialog", name="Create a channel")
    dialog.get_by_label("Name").fill("   ")
    dialog.get_by_role("button", name="Create").click()
    expect(dialog.get_by_role("alert")).to_be_visible()
    dialog.get_by_label("Name").fill("fine")
    dialog.get_by_role("button", name="Create").click()
    expect(ann.page.locator("#head h1")).to_contain_text("fine")


def test_write_directly_to_two_people(stage: Stage) -> None:
    ann, cat = stage.person("ann"), stage.person("cat")
    ann.page.get_by_role("button", name="New direct message").click()
    dialog = ann.page.get_by_role("dialog", name="New direct message")
    field = dialog.get_by_role("combobox", name="To")
    field.fill("ben")
    field.press("Enter")
    field.fill("ca")
    field.press("Enter")
    expect(dialog.get_by_role("list", name="Chosen")).to_contain_text("Cat")
    dialog.get_by_role("button", name="Start").click()
    expect(ann.page.locator("#head h1")).to_contain_text("Ben, Cat")
    ann.say("the three of us")
    expect(cat.link("ann, Ben")).to_have_count(1)
    expect(cat.badge("ann, Ben")).to_have_text(re.compile("^1"))


def test_add_somebody_who_then_sees_it(stage: Stage) -> None:
    channel = stage.channel("secret", "ann", private=True)
    ann, ben = stage.person("ann", channel), stage.person("ben")
    expect(ben.link("secret")).to_have_count(0)
    ann.conversation_menu("Add people…")
    dialog = ann.page.get_by_role("dialog", name="Add people to #secret")
    dialog.get_by_role("combobox").fill("ben")
    dialog.get_by_role("option", name="Ben").click()
    dialog.get_by_role("button", name="Add", exact=True).click()
    expect(ben.link("secret")).to_have_count(1)
    ann.say("now you see it")
    expect(ben.badge("secret")).to_have_text(re.compile("^1"))


def test_rename_archive_and_restore_are_live(stage: Stage) -> None:
    channel = stage.channel("general", "ann", "ben")
    ann, ben = stage.person("ann", channel), stage.person("ben", channel)
    ann.conversation_menu("Rename…")
    dialog = ann.page.get_by_role("dialog")
    dialog.get_by_label("Name").fill("all hands")
    dialog.get_by_role("button", name="Rename").click()
    expect(ben.link("all hands")).to_have_count(1)
    expect(ben.page.locator("#head h1")).to_contain_text("all hands")
    expect(ben.page).to_have_title(re.compile("#all hands"))

    ann.conversation_menu("Archive…")
    ann.page.get_by_role("dialog").get_by_role("button", name="Archive").click()
    expect(ben.page.locator("#gate")).to_contain_text("#all hands is archived")
    expect(ben.composer).to_be_hidden()
    expect(ben.link("all hands")).to_have_count(0)
    expect(ben.page.locator("#gate").get_by_role("button")).to_have_count(0)

    ann.page.locator("#gate").get_by_role("button", name="Restore").click()
    expect(ben.composer).to_be_visible()
    expect(ben.link("all hands")).to_have_count(1)


def test_leave_and_come_back(stage: Stage) -> None:
    channel = stage.channel("general", "ann", "ben")
    ben = stage.person("ben", channel)
    ben.conversation_menu("Leave…")
    ben.page.get_by_role("dialog").get_by_role("button", name="Leave").click()
    expect(ben.link("general")).to_have_count(0)
    expect(ben.page).to_have_url(stage.address())
    ben.goto(channel)
    ben.page.get_by_role("button", name="Join to write").click()
    expect(ben.link("general")).to_have_count(1)


def test_muting_hides_counts_and_unmuting_shows_them(stage: Stage) -> None:
    channel, other = stage.channel("general", "ann", "ben"), stage.channel("other", "ben")
    ben = stage.person("ben", channel)
    ben.page.locator("#head").get_by_role("button", name="Notified of every message").click()
    ben.page.get_by_role("menuitem", name="Nothing").click()
    expect(ben.page.locator("#head").get_by_role("button", name="Muted")).to_be_visible()
    ben.open("other")
    stage.say("ann", channel, "quiet")
    stage.say("ann", stage.dm("ann", "ben"), "loud")
    expect(ben.badge("ann")).to_have_text(re.compile("^1"))
    expect(ben.badge("general")).to_have_count(0)
    expect(ben.link("general")).to_contain_text("muted")
    stage.api("ben", "PUT", f"/conversations/{channel}/notifications", {"level": "all"})
    expect(ben.badge("general")).to_have_text(re.compile("^1"))
    assert other


def test_details_list_people_and_lead_to_a_direct_message(stage: Stage) -> None:
    channel = stage.channel("general", "ann", "ben", "cat")
    ann = stage.person("ann", channel)
    ann.page.get_by_role("button", name="People and details").click()
    panel = ann.page.locator("#panel")
    expect(panel).to_contain_text("People (3)")
    panel.get_by_role("button", name="Remove Cat").click()
    ann.page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    expect(panel).to_contain_text("People (2)")
    panel.get_by_role("button", name="Write to Ben").click()
    expect(ann.page.locator("#head h1")).to_contain_text("Ben")
    expect(panel).to_be_hidden()


def test_back_and_forward_follow_conversations(stage: Stage) -> None:
    first, second = stage.channel("first", "ann"), stage.channel("second", "ann")
    stage.say("ann", first, "in the first")
    stage.say("ann", second, "in the second")
    ann = stage.person("ann", first)
    ann.open("second")
    expect(ann.message("in the second")).to_be_visible()
    ann.page.go_back()
    expect(ann.message("in the first")).to_be_visible()
    ann.page.go_forward()
    expect(ann.message("in the second")).to_be_visible()
    expect(ann.page).to_have_url(stage.address(second))
