"""Scrolling, paging and the "new messages" line of a long conversation."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.server import wait_until

from .stage import Person, Stage

pytestmark = [pytest.mark.chromium, pytest.mark.server]


def filled(stage: Stage, count: int, *members: str) -> str:
    channel = stage.channel("general", *members)
    for number in range(count):
        stage.say(members[0], channel, f"message {number:03}")
    return channel


def top_of(person: Person, text: str) -> float:
    box = person.message(text).bounding_box()
    assert box is not None
    return box["y"]


def scroll(person: Person, top: int) -> None:
    person.page.locator("#scroller").evaluate("(s, top) => s.scrollTo({top})", top)


def test_older_pages_come_while_scrolling_and_nothing_jumps(stage: Stage) -> None:
    channel = filled(stage, 130, "ann", "ben")
    stage.read("ben", channel)
    ben = stage.person("ben", channel)
    expect(ben.message("message 129")).to_be_visible()
    assert ben.at_end()
    expect(ben.log.locator("article")).to_have_count(50)
    ben.page.locator("#scroller").hover()
    ben.page.mouse.wheel(0, -600)
    expect(ben.log.locator("article")).to_have_count(100)
    seen = ben.log.locator("article", has_text="message 085")
    seen.scroll_into_view_if_needed()
    before = top_of(ben, "message 085")
    scroll(ben, 0)
    expect(ben.log.locator("article")).to_have_count(130)
    expect(ben.page.get_by_text("This is where #general begins.")).to_be_attached()
    numbers = ben.log.locator("article .text").all_inner_texts()
    assert numbers == [f"message {number:03}" for number in range(130)]
    assert before >= 0


def test_a_page_put_above_leaves_what_is_read_where_it_is(stage: Stage) -> None:
    channel = filled(stage, 110, "ann", "ben")
    stage.read("ben", channel)
    ben = stage.person("ben", channel)
    expect(ben.log.locator("article")).to_have_count(50)
    # Read the positions in the same frame in which the new page is drawn, so that no scrolling of ours comes between.
    moved = ben.page.evaluate(
        """() => new Promise((done) => {
          const scroller = document.querySelector("#scroller"), log = document.querySelector("#log");
          const seen = log.querySelectorAll("article")[10].id;
          const top = () => document.getElementById(seen).getBoundingClientRect().top;
          new MutationObserver((_, observer) => {
            const after = log.querySelectorAll("article").length;
            if (after === 50) return;
            observer.disconnect();
            requestAnimationFrame(() => done([before, top(), after]));
          }).observe(log, {childList: true});
          scroller.scrollTop = 200;
          const before = top();
        })"""
    )
    assert moved[2] == 100
    assert abs(moved[0] - moved[1]) < 2


def test_the_end_is_followed_only_by_who_is_there(stage: Stage) -> None:
    channel = filled(stage, 60, "ann", "ben")
    stage.read("ben", channel)
    ben = stage.person("ben", channel)
    stage.say("ann", channel, "seen at once")
    expect(ben.message("seen at once")).to_be_in_viewport()
    wait_until(lambda: stage.api("ben", "GET", f"/conversations/{channel}")["last_read_seq"] == 61)
    assert ben.at_end()

    ben.page.locator("#scroller").hover()
    ben.page.mouse.wheel(0, -500)
    expect(ben.message("seen at once")).not_to_be_in_viewport()
    stage.say("ann", channel, "missed one")
    stage.say("ann", channel, "missed two")
    jump = ben.page.locator("#jump")
    expect(jump).to_have_text("2 new")
    expect(ben.message("missed two")).not_to_be_in_viewport()
    expect(ben.badge("general")).to_have_text(re.compile("^2"))
    expect(ben.page).to_have_title(re.compile(r"^\(2\)"))
    jump.click()
    expect(ben.message("missed two")).to_be_in_viewport()
    expect(jump).to_be_hidden()
    expect(ben.badge("general")).to_have_count(0)
    assert ben.log.locator(".newline").count() == 1, "the line shows where the reader was"


def test_the_new_line_is_frozen_at_opening_and_cleared_by_writing(stage: Stage) -> None:
    channel = stage.channel("general", "ann", "ben")
    stage.say("ann", channel, "read before")
    stage.read("ben", channel)
    stage.say("ann", channel, "unread one")
    stage.say("ann", channel, "unread two")
    ben = stage.person("ben", channel)
    line = ben.log.locator(".newline")
    expect(line).to_have_count(1)
    expect(line.locator("xpath=following-sibling::article[1]")).to_contain_text("unread one")
    expect(ben.badge("general")).to_have_count(0)
    stage.say("ann", channel, "while looking")
    expect(ben.message("while looking")).to_be_visible()
    expect(line.locator("xpath=following-sibling::article[1]")).to_contain_text("unread one")
    ben.say("answer")
    expect(ben.message("answer")).to_have_count(1)
    expect(line).to_have_count(0)


def test_many_unread_are_opened_at_their_first(stage: Stage) -> None:
    channel = stage.channel("general", "ann", "ben")
    stage.say("ann", channel, "read before")
    stage.read("ben", channel)
    for number in range(120):
        stage.say("ann", channel, f"unread {number:03}")
    ben = stage.person("ben", channel)
    expect(ben.badge("general")).to_have_text(re.compile(r"^99\+"))
    ben.page.get_by_role("button", name="Jump to the first unread message").click()
    expect(ben.message("unread 000")).to_be_in_viewport()
    expect(ben.log.locator(".newline")).to_be_in_viewport()
    expect(ben.badge("general")).to_have_count(1)
    ben.composer.press("Escape")
    expect(ben.message("unread 119")).to_be_in_viewport()
    expect(ben.badge("general")).to_have_count(0)


def test_mark_unread_from_here_holds_although_its_end_is_in_view(stage: Stage) -> None:
    channel, other = stage.channel("general", "ann", "ben"), stage.channel("other", "ben")
    for text in ("one", "two", "three"):
        stage.say("ann", channel, text)
    ben = stage.person("ben", channel)
    expect(ben.badge("general")).to_have_count(0)
    ben.choose("two", "Mark unread from here")
    expect(ben.badge("general")).to_have_text(re.compile("^2"))
    expect(ben.log.locator(".newline + article")).to_contain_text("two")
    ben.open("other")
    expect(ben.badge("general")).to_have_text(re.compile("^2"))
    ben.open("general")
    expect(ben.badge("general")).to_have_count(0)
    assert other


def test_the_link_of_an_old_message_opens_it_in_its_surroundings(stage: Stage) -> None:
    channel = filled(stage, 130, "ann", "ben")
    stage.read("ben", channel)
    old = stage.api("ann", "GET", f"/conversations/{channel}/messages?limit=130")["items"][20]
    ben = stage.person("ben")
    ben.page.goto(f"{stage.address(channel)}#m-{old['id']}")
    expect(ben.message("message 020")).to_be_in_viewport()
    expect(ben.message("message 020")).to_be_focused()
    expect(ben.message("message 129")).to_have_count(0)
    expect(ben.page.locator("#jump")).to_have_text("Latest")
    stage.say("ann", channel, "newest")
    expect(ben.page.locator("#jump")).to_have_text("1 new")
    ben.page.locator("#jump").click()
    expect(ben.message("newest")).to_be_in_viewport()


def test_who_looks_at_another_page_reads_nothing(stage: Stage) -> None:
    channel = stage.channel("general", "ann", "ben")
    ben = stage.person("ben", channel)
    ben.page.evaluate("() => { document.hasFocus = () => false; window.dispatchEvent(new Event('blur')); }")
    stage.say("ann", channel, "are you there?")
    expect(ben.message("are you there?")).to_be_visible()
    expect(ben.badge("general")).to_have_text(re.compile("^1"))
    expect(ben.page).to_have_title(re.compile(r"^\(1\)"))
    ben.page.evaluate("() => { document.hasFocus = () => true; window.dispatchEvent(new Event('focus')); }")
    expect(ben.badge("general")).to_have_count(0)
    expect(ben.log.locator(".newline + article")).to_contain_text("are you there?")


def test_a_very_long_message_is_cut_and_shown_whole_on_demand(stage: Stage) -> None:
    channel = stage.channel("general", "ann")
    stage.say("ann", channel, "x" * 20_000 + " the end")
    ann = stage.person("ann", channel)
    expect(ann.log).not_to_contain_text("the end")
    ann.page.get_by_role("button", name="Show 3,624 more characters").click()
    expect(ann.log).to_contain_text("the end")


def test_a_message_too_big_for_a_frame_is_fetched(stage: Stage) -> None:
    channel = stage.channel("general", "ann", "ben")
    ben = stage.person("ben", channel)
    stage.say("ann", channel, "big " + "y" * 100_000)
    expect(ben.message("big yyy")).to_have_count(1)
