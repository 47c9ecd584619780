"""The server goes away and comes back: nothing is lost, nothing is doubled, the page says what is going on."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Route, expect

from tests.server import Server

from .stage import Person, Stage, sign_in

pytestmark = [pytest.mark.chromium, pytest.mark.server]
GONE = (
    r"ERR_CONNECTION_REFUSED|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE|ERR_INTERNET_DISCONNECTED|WebSocket connection to"
)


@pytest.fixture
def stoppable(server: Server) -> Iterator[Server]:
    """Running again afterwards, whatever the test did."""
    yield server
    if server.process is None or server.process.poll() is not None:
        server.start()


def stop(server: Server, *people: Person) -> None:
    for person in people:
        person.allow(GONE)
    server.stop()
    for person in people:
        expect(person.page.locator("body")).not_to_have_attribute("data-connection", "live")


def test_after_a_restart_the_page_reconnects_and_badges_are_kept(stage: Stage, stoppable: Server) -> None:
    general, other = stage.channel("general", "ann", "ben"), stage.channel("other", "ben")
    ben = stage.person("ben", other)
    for text in ("one", "two", "three"):
        stage.say("ann", general, text)
    expect(ben.badge("general")).to_have_text(re.compile("^3"))
    stop(stoppable, ben)
    expect(ben.page.locator("#connection")).to_contain_text("Reconnecting…")
    expect(ben.page.locator("#connection").get_by_role("button", name="Retry now")).to_be_visible()
    stoppable.start()
    ben.page.locator("#connection").get_by_role("button", name="Retry now").click()
    expect(ben.page.locator("body")).to_have_attribute("data-connection", "live")
    expect(ben.page.locator("#connection")).to_be_hidden()
    expect(ben.badge("general")).to_have_text(re.compile("^3"))
    stage.say("ann", general, "four")
    expect(ben.badge("general")).to_have_text(re.compile("^4"))
    expect(ben.page).to_have_title(re.compile(r"^\(4\) "))


def test_what_happened_meanwhile_is_there_after_the_gap(stage: Stage, stoppable: Server) -> None:
    channel = stage.channel("general", "ann", "ben")
    kept, changed, removed = (stage.say("ann", channel, text) for text in ("kept", "to change", "to remove"))
    ben = stage.person("ben", channel)
    expect(ben.message("to remove")).to_be_visible()
    ben.allow(GONE)
    ben.context.set_offline(True)
    stop(stoppable, ben)
    stoppable.start()
    stage.api("ann", "PUT", f"/messages/{changed['id']}", {"text": "changed"})
    stage.api("ann", "DELETE", f"/messages/{removed['id']}")
    stage.api("ann", "PUT", f"/messages/{kept['id']}/reactions/eyes")
    stage.say("ann", channel, "new")
    stage.api("ann", "PATCH", f"/conversations/{channel}", {"name": "renamed"})
    expect(ben.page.locator("#connection")).to_contain_text("You are offline")
    ben.context.set_offline(False)
    expect(ben.message("new")).to_be_visible()
    expect(ben.message("changed")).to_be_visible()
    expect(ben.message("to remove")).to_have_count(0)
    expect(ben.message("kept").locator(".reaction")).to_contain_text("👀")
    expect(ben.link("renamed")).to_have_count(1)
    expect(ben.page.locator("#head h1")).to_contain_text("renamed")


def test_messages_written_while_the_server_is_away_are_sent_once_and_in_order(stage: Stage, stoppable: Server) -> None:
    channel = stage.channel("general", "ann", "ben")
    ann = stage.person("ann", channel)
    stop(stoppable, ann)
    ann.say("first")
    expect(ann.message("first").get_by_role("alert")).to_contain_text("Not sent.")
    ann.say("second")
    expect(ann.message("second")).to_contain_text("Waiting…")
    stoppable.start()
    ann.message("first").get_by_role("button", name="Retry").click()
    expect(ann.log.locator(".pending")).to_have_count(0)
    assert stage.history("ann", channel) == ["first", "second"]
    expect(ann.log.locator("article")).to_have_text([re.compile("first"), re.compile("second")])


def test_a_send_whose_answer_was_lost_is_not_doubled_by_the_retry(stage: Stage) -> None:
    channel = stage.channel("general", "ann")
    ann = stage.person("ann", channel)
    ann.allow("ERR_FAILED|ERR_CONNECTION|WebSocket")
    lost: list[str] = []

    def let_through_and_lose_the_answer(route: Route) -> None:
        if lost or route.request.method != "POST":
            route.continue_()
            return
        answer = route.fetch()
        lost.append(answer.json()["client_message_id"])
        route.abort()

    # Without its socket the page cannot hear of its own message before the answer.
    ann.page.route_web_socket(re.compile("/ws/"), lambda socket: socket.close())
    ann.goto(channel)
    ann.page.route(re.compile(r"/messages$"), let_through_and_lose_the_answer)
    ann.say("only once")
    ann.message("only once").get_by_role("button", name="Retry").click()
    expect(ann.log.locator(".pending")).to_have_count(0)
    expect(ann.message("only once")).to_have_count(1)
    assert lost
    assert stage.history("ann", channel) == ["only once"]


def test_catching_up_goes_on_until_it_worked(stage: Stage) -> None:
    channel = stage.channel("general", "ann", "ben")
    stage.say("ann", channel, "before")
    ben = stage.person("ben", channel)
    ben.allow(f"{GONE}|503")
    ben.page.wait_for_load_state("networkidle")
    broken = [True]

    def answer(route: Route) -> None:
        if broken:
            route.fulfill(status=503, json={"error": {"type": "unavailable", "message": "Later.", "fields": {}}})
        else:
            route.continue_()

    ben.page.route(re.compile(r"/messages\?"), answer)
    ben.context.set_offline(True)
    ben.page.evaluate("window.dispatchEvent(new Event('pageshow'))")
    expect(ben.page.locator("body")).not_to_have_attribute("data-connection", "live")
    stage.say("ann", channel, "missed")
    ben.context.set_offline(False)
    expect(ben.page.locator("body")).to_have_attribute("data-connection", "live")
    expect(ben.page.locator("#connection")).to_contain_text("Catching up…")
    expect(ben.message("missed")).to_have_count(0)
    broken.clear()
    ben.page.locator("#connection").get_by_role("button", name="Retry now").click()
    expect(ben.message("missed")).to_have_count(1)
    expect(ben.page.locator("#connection")).to_be_hidden()


def test_a_conversation_that_could_not_be_loaded_is_there_once_the_server_is(stage: Stage, stoppable: Server) -> None:
    general, other = stage.channel("general", "ann"), stage.channel("other", "ann")
    stage.say("ann", other, "worth waiting for")
    ann = stage.person("ann", general)
    stop(stoppable, ann)
    ann.link("other").click()
    expect(ann.page.get_by_role("heading", name="This conversation could not be loaded")).to_be_visible()
    stoppable.start()
    expect(ann.message("worth waiting for")).to_be_visible(timeout=40_000)
    expect(ann.page.locator("#intro")).to_contain_text("This is where #other begins.")
    ann.say("and for writing in")
    expect(ann.message("and for writing in")).to_have_count(1)


def test_a_failed_message_can_be_discarded_and_survives_a_reload(stage: Stage, stoppable: Server) -> None:
    channel = stage.channel("general", "ann")
    ann = stage.person("ann", channel)
    stop(stoppable, ann)
    ann.say("never mind")
    expect(ann.message("never mind").get_by_role("alert")).to_be_visible()
    stoppable.start()
    ann.page.reload()
    expect(ann.message("never mind")).to_contain_text("Not sent")
    ann.message("never mind").get_by_role("button", name="Discard").click()
    expect(ann.message("never mind")).to_have_count(0)
    assert stage.history("ann", channel) == []


def test_signing_out_elsewhere_stops_retries_and_keeps_the_draft(stage: Stage) -> None:
    channel = stage.channel("general", "ann", "dan")
    context = stage.cast.browser.new_context(locale="en-GB")
    try:
        sign_in(context.new_page(), stage.cast.origin, "dan")
        page = context.new_page()
        page.goto(stage.address(channel))
        expect(page.locator("body")).to_have_attribute("data-connection", "live")
        page.locator("#composer textarea").fill("half a thought")
        elsewhere = context.new_page()
        elsewhere.goto(stage.address())
        elsewhere.get_by_role("button", name="Sign out").click()
        elsewhere.wait_for_url(re.compile("/login/"))
        page.locator("#composer textarea").press("Enter")
        expect(page.locator("#connection")).to_contain_text("You are signed out")
        expect(page.locator("#connection").get_by_role("link", name="Sign in")).to_have_attribute(
            "href", re.compile(r"^/login/\?next=%2Fw%2F")
        )
        expect(page.locator("body")).to_have_attribute("data-connection", "stopped")
        expect(page.get_by_role("log")).to_contain_text("half a thought")
    finally:
        context.close()


def test_losing_a_conversation_closes_only_that_one(stage: Stage) -> None:
    secret, general = stage.channel("secret", "ann", "ben", private=True), stage.channel("general", "ann", "ben")
    stage.say("ann", secret, "hidden plans")
    ben = stage.person("ben", secret)
    expect(ben.message("hidden plans")).to_be_visible()
    stage.api("ann", "DELETE", f"/conversations/{secret}/members/{stage.member['ben']}")
    ben.allow("404")
    expect(ben.link("secret")).to_have_count(0)
    expect(ben.message("hidden plans")).to_have_count(0)
    expect(ben.page.get_by_text("There is nothing here for you")).to_be_visible()
    stage.say("ann", general, "still here?")
    ben.open("general")
    expect(ben.message("still here?")).to_be_visible()
