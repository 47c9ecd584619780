"""What a page asks the server for: counted, not timed."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from .stage import Stage

pytestmark = [pytest.mark.chromium, pytest.mark.server]


def test_a_page_never_asks_for_unread_and_opening_a_conversation_is_one_request(stage: Stage) -> None:
    general = stage.channel("general", "ann", "ben")
    other, third = stage.channel("other", "ann", "ben"), stage.channel("third", "ann", "ben")
    for channel in (general, other, third):
        stage.say("ann", channel, f"in {channel}")
    ben = stage.person("ben", general)
    expect(ben.badge("other")).to_have_count(1)
    expect(ben.badge("general")).to_have_count(0)

    with ben.counting() as asked:
        ben.open("other")
        expect(ben.message("in ")).to_be_visible()
        expect(ben.badge("other")).to_have_count(0)
    assert asked == ["GET /v1/conversations/{id}/messages"], "reading goes over the socket"

    with ben.counting() as asked:
        stage.say("ann", third, "more")
        expect(ben.badge("third")).to_have_text(re.compile("^2"))
        stage.say("ann", other, "in front of the reader")
        expect(ben.message("in front of the reader")).to_be_visible()
    assert asked == [], "what is live needs no request"

    with ben.counting() as asked:
        ben.say("hi")
        expect(ben.log.locator(".pending")).to_have_count(0)
        expect(ben.message("hi")).to_have_count(1)
    assert asked == ["POST /v1/conversations/{id}/messages"]
    ben.page.reload()
    expect(ben.page.locator("body")).to_have_attribute("data-connection", "live")
    assert not [path for _, path in ben.requests if path.endswith("/unread")]
    assert not [path for _, path in ben.requests if path.endswith("/bootstrap")], "the page came with it"


def test_the_first_screen_needs_one_reading_of_the_open_window_and_no_more(stage: Stage) -> None:
    channel = stage.channel("general", "ann")
    stage.say("ann", channel, "hello")
    ann = stage.person("ann", channel)
    expect(ann.message("hello")).to_be_visible()
    asked = [f"{method} {path}" for method, path in ann.requests if path.startswith("/v1/")]
    assert asked in ([], ["GET /v1/conversations/{id}/messages"])
    ann.page.wait_for_load_state("networkidle")
    asked = [f"{method} {path}" for method, path in ann.requests if path.startswith("/v1/")]
    assert asked == ["GET /v1/conversations/{id}/messages"], "once, for what came before the socket was open"
    hosts = {method for method, path in ann.requests if method != "GET"}
    assert hosts == set()


def test_nothing_comes_from_another_host(stage: Stage) -> None:
    channel = stage.channel("general", "ann")
    stage.say("ann", channel, "https://example.com/ ![](https://example.com/x.png)")
    ann = stage.person("ann", channel)
    asked: list[str] = []
    ann.page.on("request", lambda request: asked.append(request.url))
    ann.page.reload()
    expect(ann.page.locator("body")).to_have_attribute("data-connection", "live")
    assert asked
    assert [url for url in asked if not url.startswith(stage.cast.origin)] == []


def test_a_gap_reads_the_window_and_the_list_again_but_never_unread(stage: Stage) -> None:
    channel = stage.channel("general", "ann")
    stage.say("ann", channel, "hello")
    ann = stage.person("ann", channel)
    ann.allow("WebSocket")
    ann.page.wait_for_load_state("networkidle")
    with ann.counting() as asked:
        ann.page.evaluate("() => new Promise((done) => { const s = WebSocket.prototype.send; done(); })")
        ann.context.set_offline(True)
        ann.page.evaluate("window.dispatchEvent(new Event('pageshow'))")
        expect(ann.page.locator("body")).not_to_have_attribute("data-connection", "live")
        ann.context.set_offline(False)
        expect(ann.page.locator("body")).to_have_attribute("data-connection", "live")
        ann.page.wait_for_load_state("networkidle")
    assert sorted(set(asked)) == ["GET /v1/conversations/{id}/messages", "GET /v1/workspaces/{id}/bootstrap"]
