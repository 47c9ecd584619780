"""Two people in two browsers: what one does, the other sees, without a reload."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from .stage import Stage

pytestmark = [pytest.mark.chromium, pytest.mark.server]


def test_a_message_is_seen_at_once_by_both_and_stands_there_once(stage: Stage) -> None:
    channel = stage.channel("general", "ann", "ben")
    ann, ben = stage.person("ann", channel), stage.person("ben", channel)
    ann.say("Good morning")
    for person in (ann, ben):
        expect(person.message("Good morning")).to_have_count(1)
    expect(ann.log.locator(".pending")).to_have_count(0)
    ben.say("Morning, Ann")
    expect(ann.message("Morning, Ann")).to_have_count(1)
    assert stage.history("ann", channel) == ["Good morning", "Morning, Ann"]


def test_badge_red_dot_and_title_move_without_a_reload_and_reading_clears_them(stage: Stage) -> None:
    general, other = stage.channel("general", "ann", "ben"), stage.channel("other", "ben")
    ann, ben = stage.person("ann", general), stage.person("ben", other)
    expect(ben.red_dot).to_have_count(0)
    ann.say("one")
    expect(ben.badge("general")).to_have_text(re.compile("^1"))
    ann.say("two @ben")
    expect(ben.badge("general")).to_contain_text("2 unread, 1 mentioning you")
    expect(ben.red_dot).to_have_count(1)
    expect(ben.page).to_have_title(re.compile(r"^\(2\) "))
    expect(ben.page.locator('link[rel="icon"]')).to_have_attribute("href", re.compile("unread"))
    expect(ben.badge("other")).to_have_count(0)

    ben.open("general")
    expect(ben.message("two")).to_be_visible()
    expect(ben.badge("general")).to_have_count(0)
    expect(ben.red_dot).to_have_count(0)
    expect(ben.page).not_to_have_title(re.compile(r"^\("))
    ben.page.reload()
    expect(ben.message("two")).to_be_visible()
    expect(ben.badge("general")).to_have_count(0)


def test_reading_in_one_browser_clears_the_badge_in_the_other_browser_of_the_same_person(stage: Stage) -> None:
    general, other = stage.channel("general", "ann", "ben"), stage.channel("other", "ben")
    desk, phone = stage.person("ben", other), stage.person("ben", other)
    stage.say("ann", general, "news")
    expect(desk.badge("general")).to_have_count(1)
    expect(phone.badge("general")).to_have_count(1)
    desk.open("general")
    expect(phone.badge("general")).to_have_count(0)
    expect(phone.red_dot).to_have_count(0)


def test_what_arrives_in_front_of_the_reader_lights_nothing_and_is_read(stage: Stage) -> None:
    general = stage.channel("general", "ann", "ben")
    stage.person("ben", general)
    ben = stage.people[0]
    ben.page.evaluate(
        "window.titles = []; new MutationObserver(() => titles.push(document.title))"
        ".observe(document.querySelector('title'), {childList: true})"
    )
    stage.say("ann", general, "hello")
    expect(ben.message("hello")).to_be_visible()
    ben.page.wait_for_function(
        "id => fetch(`/v1/conversations/${id}`).then(r => r.json()).then(c => c.last_read_seq === 1)", arg=general
    )
    assert ben.page.evaluate("window.titles.filter((title) => title.startsWith('('))") == []


def test_edits_deletions_and_reactions_are_live(stage: Stage) -> None:
    channel = stage.channel("general", "ann", "ben")
    ann, ben = stage.person("ann", channel), stage.person("ben", channel)
    ann.say("frist draft")
    expect(ben.message("frist draft")).to_be_visible()

    ann.composer.press("ArrowUp")
    expect(ann.composer).to_have_value("frist draft")
    ann.composer.fill("first draft")
    ann.composer.press("Enter")
    expect(ben.message("first draft")).to_contain_text("(edited)")
    expect(ann.composer).to_have_value("")

    ben.act("first draft", "React with 👍")
    chip = ann.message("first draft").get_by_role("button", name="thumbs up, 1: Ben")
    expect(chip).to_have_attribute("aria-pressed", "false")
    chip.click()
    expect(ben.message("first draft").get_by_role("button", name="thumbs up, 2")).to_have_attribute(
        "aria-pressed", "true"
    )
    ben.message("first draft").get_by_role("button", name="thumbs up, 2").click()
    expect(ann.message("first draft").get_by_role("button", name="thumbs up, 1: ")).to_be_visible()

    ann.choose("first draft", "Delete")
    ann.page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(ben.message("first draft")).to_have_count(0)
    expect(ann.message("first draft")).to_have_count(0)


def test_a_reply_shows_what_it_answers_and_leads_there(stage: Stage) -> None:
    channel = stage.channel("general", "ann", "ben")
    ann, ben = stage.person("ann", channel), stage.person("ben", channel)
    ann.say("Who brings cake?")
    ben.act("Who brings cake?", "Reply")
    expect(ben.page.locator("#composer .context")).to_contain_text("Replying to")
    ben.say("I do")
    quote = ann.message("I do").locator(".quote")
    expect(quote).to_contain_text("Who brings cake?")
    expect(ben.page.locator("#composer .context")).to_be_hidden()
    quote.click()
    expect(ann.log.locator("article", has_text="Who brings cake?").first).to_be_focused()


def test_somebody_who_is_written_to_for_the_first_time_sees_the_new_conversation(stage: Stage) -> None:
    stage.channel("general", "ann", "ben")
    ben = stage.person("ben")
    dm = stage.dm("ann", "ben")
    stage.say("ann", dm, "psst")
    name = "ann"
    expect(ben.link(name)).to_have_count(1)
    expect(ben.badge(name)).to_have_text(re.compile("^1"))
    stage.api(
        "ann", "DELETE", f"/messages/{stage.api('ann', 'GET', f'/conversations/{dm}/messages')['items'][0]['id']}"
    )
    expect(ben.badge(name)).to_have_count(0)


def test_text_is_shown_as_text_and_links_are_safe(stage: Stage) -> None:
    channel = stage.channel("general", "ann", "ben")
    ann, ben = stage.person("ann", channel), stage.person("ben", channel)
    ann.say("<img src=x onerror=alert(1)> javascript:alert(1) https://example.com/a_(b). @ben")
    shown = ben.message("onerror")
    expect(shown).to_contain_text("<img src=x onerror=alert(1)> javascript:alert(1)")
    expect(shown.locator("img")).to_have_count(0)
    expect(shown.get_by_role("link")).to_have_count(1)
    link = shown.get_by_role("link")
    expect(link).to_have_attribute("href", "https://example.com/a_(b)")
    expect(link).to_have_attribute("rel", re.compile("noopener"))
    expect(shown.locator(".mention.me")).to_have_text("@Ben")


def test_blocks_of_other_types_are_links_or_folded(stage: Stage) -> None:
    channel = stage.channel("general", "ann")
    blocks = [
        {
            "id": "a",
            "type": "file",
            "name": "plan.pdf",
            "url": "https://example.com/plan.pdf",
            "mimetype": "application/pdf",
            "size": 20_480,
        },
        {"id": "b", "type": "file", "name": "evil.html", "url": "javascript:alert(1)"},
        {"id": "c", "type": "chart", "data": {"x": [1, 2]}},
    ]
    content = {"version": "1.1", "biz": "chat", "meta": {}, "blocks": blocks}
    stage.api("ann", "POST", f"/conversations/{channel}/messages", {"content": content})
    ann = stage.person("ann", channel)
    message = ann.log.locator("article")
    expect(message.get_by_role("link", name="plan.pdf")).to_have_attribute("href", "https://example.com/plan.pdf")
    expect(message).to_contain_text("application/pdf, 20 kB")
    expect(message.get_by_role("link", name="evil.html")).to_have_count(0)
    expect(message).to_contain_text("evil.html")
    expect(message.locator("pre")).to_be_hidden()
    message.get_by_text("chart block").click()
    expect(message.locator("pre")).to_contain_text('"type": "chart"')
