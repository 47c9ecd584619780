"""Answers that are written while somebody looks: token by token, through reloads, dropped networks and restarts."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from playwright.sync_api import Locator, expect

from tests.server import Server, wait_until

from .stage import Person, Stage

pytestmark = [pytest.mark.chromium, pytest.mark.server]
GONE = r"ERR_CONNECTION|ERR_EMPTY_RESPONSE|ERR_INTERNET_DISCONNECTED|ERR_INCOMPLETE|ERR_NETWORK|WebSocket connection to"
WORDS = [f"word{number:03} " for number in range(60)]


class Answer:
    """Written by a program over HTTP, event by event."""

    def __init__(self, stage: Stage, conversation: str, by: str = "ben") -> None:
        self.stage, self.by, self.seq = stage, by, 0
        body = {"content": {"version": "1.1", "biz": "chat", "meta": {}, "blocks": []}, "stream": True}
        self.id: str = stage.api(by, "POST", f"/conversations/{conversation}/messages", body)["id"]

    def emit(self, **event: Any) -> None:
        self.seq += 1
        body = {"event": {"seq": self.seq, **event}}
        status = body["event"].pop("status", None)
        self.stage.api(self.by, "POST", f"/messages/{self.id}/events", body | ({"status": status} if status else {}))

    def block(self, block_id: str = "a", kind: str = "text", **fields: Any) -> None:
        self.emit(op="set", block={"id": block_id, "type": kind, **fields})

    def say(self, *words: str, block_id: str = "a") -> None:
        for word in words:
            self.emit(op="append", mask="block.content", block={"id": block_id, "type": "text", "content": word})

    def end(self, status: str | None = None) -> None:
        self.emit(op="end", status=status)

    def text(self) -> str:
        blocks = self.stage.api(self.by, "GET", f"/messages/{self.id}")["content"]["blocks"]
        return "".join(block["content"] for block in blocks if block["type"] == "text")


def article(person: Person, answer: Answer) -> Locator:
    return person.log.locator(f"#m-{answer.id}")


def whole(person: Person, answer: Answer) -> None:
    """What the page shows is what the API has: nothing lost, nothing doubled."""
    expect(article(person, answer)).not_to_have_attribute("aria-busy", "true")
    expect(article(person, answer)).to_have_count(1)
    expect(article(person, answer).locator(".text")).to_have_text(answer.text().strip())


@pytest.fixture
def stoppable(server: Server) -> Iterator[Server]:
    yield server
    if server.process is None or server.process.poll() is not None:
        server.start()


def test_an_answer_grows_in_an_open_page_and_becomes_markdown(stage: Stage) -> None:
    channel = stage.channel("general", "ann", "ben")
    ann = stage.person("ann", channel)
    ann.page.wait_for_load_state("networkidle")
    with ann.counting() as asked:
        answer = Answer(stage, channel)
        shown = article(ann, answer)
        expect(shown).to_have_attribute("aria-busy", "true")
        expect(shown).to_contain_text("writing")
        expect(ann.page.locator("#announcer")).to_have_text("ben is writing", ignore_case=True)
        answer.say("Some ", "**bold** ")
        expect(shown.locator(".text")).to_have_text("Some **bold** ")
        shown.evaluate("node => { node.held = node.querySelector('.text').firstChild; }")
        for word in WORDS:
            answer.say(word)
        expect(shown.locator(".text")).to_contain_text(WORDS[-1])
        same = "node => node.held === node.querySelector('.text').firstChild && node.held.data.includes('word059')"
        assert shown.evaluate(same), "text is added to the node that was there"
        answer.end()
        expect(shown.locator(".text strong")).to_have_text("bold")
        expect(shown).not_to_have_attribute("aria-busy", "true")
        expect(ann.page.locator("#announcer")).to_contain_text("word000")
    for path in asked:
        assert path.endswith(("/stream", "/rendered")), path
    assert len([path for path in asked if path.endswith("/rendered")]) == 1
    assert len([path for path in asked if path.endswith("/stream")]) == 1
    expect(shown.locator(".text")).to_have_text(re.compile(r"^Some bold word000 .* word059\s*$"))
    ann.page.reload()
    expect(ann.page.locator("body")).to_have_attribute("data-connection", "live")
    expect(shown.locator(".text strong")).to_have_text("bold")


def test_a_reload_in_mid_answer(stage: Stage) -> None:
    channel = stage.channel("general", "ann", "ben")
    ann = stage.person("ann", channel)
    answer = Answer(stage, channel)
    answer.say(*WORDS[:20])
    expect(article(ann, answer)).to_contain_text(WORDS[19])
    ann.page.reload()
    answer.say(*WORDS[20:40])
    expect(article(ann, answer)).to_contain_text(WORDS[39])
    answer.say(*WORDS[40:])
    answer.end()
    whole(ann, answer)


@pytest.mark.parametrize("ended", [False, True], ids=["goes on afterwards", "ends meanwhile"])
def test_a_dropped_network_in_mid_answer(stage: Stage, ended: bool) -> None:
    channel = stage.channel("general", "ann", "ben")
    ann = stage.person("ann", channel)
    ann.allow(GONE)
    answer = Answer(stage, channel)
    answer.say(*WORDS[:20])
    expect(article(ann, answer)).to_contain_text(WORDS[19])
    ann.context.set_offline(True)
    answer.say(*WORDS[20:40])
    if ended:
        answer.end()
    ann.context.set_offline(False)
    if not ended:
        answer.say(*WORDS[40:])
        answer.end()
    whole(ann, answer)


def test_a_restart_of_the_server_in_mid_answer(stage: Stage, stoppable: Server) -> None:
    channel = stage.channel("general", "ann", "ben")
    ann = stage.person("ann", channel)
    ann.allow(f"{GONE}|503")
    answer = Answer(stage, channel)
    answer.say(*WORDS[:20])
    expect(article(ann, answer)).to_contain_text(WORDS[19])
    stoppable.stop()
    stoppable.start()
    answer.say(*WORDS[20:40])
    ann.page.evaluate("window.dispatchEvent(new Event('pageshow'))")
    expect(article(ann, answer)).to_contain_text(WORDS[39])
    answer.say(*WORDS[40:])
    answer.end()
    whole(ann, answer)


def test_a_large_output_of_a_tool_is_a_preview_until_all_is_asked_for(stage: Stage) -> None:
    channel = stage.channel("general", "ann", "ben")
    ann = stage.person("ann", channel)
    answer = Answer(stage, channel)
    answer.block("t", "tool", name="search", status="running", input={"query": "x"})
    tool = article(ann, answer).locator(".tool-block")
    expect(tool.locator("summary")).to_contain_text("search")
    expect(tool.locator("summary")).to_contain_text("running")
    tool.locator("summary").click()
    size = 5_000_000
    answer.block(
        "t", "tool", name="search", status="completed", input={"query": "x"}, output="0123456789" * (size // 10)
    )
    answer.end()
    expect(tool.locator("summary")).to_contain_text("done")
    if tool.get_attribute("open") is None:
        tool.locator("summary").click()
    expect(tool).to_contain_text("The first 16 KiB of 5.0 MB")
    assert len(tool.inner_text()) < 20_000
    with ann.page.expect_download() as saved:
        tool.get_by_role("button", name="Download").click()
    assert Path(saved.value.path()).stat().st_size == size
    with ann.counting() as asked:
        tool.get_by_role("button", name="Show all").click()
        expect(tool.locator(".whole pre").first).to_be_visible()
    assert asked == ["GET /v1/messages/{id}/blocks"]
    assert tool.locator(".whole").evaluate("node => node.textContent.length") == size
    assert (
        tool.locator(".whole").evaluate("node => Math.max(...[...node.children].map((pre) => pre.textContent.length))")
        <= 65_536
    )


def test_an_output_that_grows_large_and_a_long_text_keep_growing(stage: Stage) -> None:
    channel = stage.channel("general", "ann", "ben")
    ann = stage.person("ann", channel)
    answer = Answer(stage, channel)
    answer.block("a", content="x" * 140_000)
    length = "node => node.textContent.length"
    text = article(ann, answer).locator(".text")
    wait_until(lambda: text.evaluate(length) == 140_000)
    text.evaluate("node => { node.held = node.firstChild; }")
    answer.say("y", "z" * 4_000)
    wait_until(lambda: text.evaluate(length) == 144_001)
    assert text.evaluate("node => node.held === node.firstChild")
    answer.block("t", "tool", name="log", status="running", output="line\n" * 40_000)
    tool = article(ann, answer).locator(".tool-block")
    tool.locator("summary").click()
    expect(tool).to_contain_text("200 kB")
    tool.evaluate("node => { node.held = true; }")
    for _ in range(3):
        answer.emit(op="append", mask="block.output", block={"id": "t", "type": "tool", "output": "line\n"})
    answer.block("u", content="after")
    expect(text.last).to_have_text("after")
    assert tool.evaluate("node => node.held"), "a few lines more are not worth a new preview"
    answer.emit(op="append", mask="block.output", block={"id": "t", "type": "tool", "output": "line\n" * 10_000})
    expect(tool).to_contain_text("250 kB")
    answer.end()
    expect(article(ann, answer)).not_to_have_attribute("aria-busy", "true")


def test_what_is_hostile_stays_text_while_it_grows_and_after(stage: Stage) -> None:
    channel = stage.channel("general", "ann", "ben")
    ann = stage.person("ann", channel)
    answer = Answer(stage, channel)
    attack = '<img src=x onerror="window.hit=1"><script>window.hit=1</script> [x](javascript:window.hit=1) **end**'
    answer.say(*[attack[at : at + 9] for at in range(0, len(attack), 9)])
    expect(article(ann, answer).locator(".text")).to_have_text(attack)
    answer.block("u", "<b onclick=window.hit=1>", content=attack)
    answer.block("t", "tool", name=attack, output=attack)
    answer.block("l", "link", url="javascript:window.hit=1", title=attack)
    answer.end()
    shown = article(ann, answer)
    expect(shown.locator(".text strong")).to_have_text("end")
    ann.page.reload()
    expect(shown.locator(".text strong")).to_have_text("end")
    assert shown.locator("img, script, a[href^=javascript], [onclick], [onerror]").count() == 0
    assert ann.page.evaluate("window.hit") is None


@pytest.mark.parametrize(("status", "words"), [("failed", "failed"), ("cancelled", "cancelled")])
def test_an_answer_that_does_not_complete_says_so(stage: Stage, status: str, words: str) -> None:
    channel = stage.channel("general", "ann", "ben")
    ann = stage.person("ann", channel)
    answer = Answer(stage, channel)
    answer.say("half a sen")
    answer.emit(op="error", mask="meta.error", meta={"error": {"code": "oops", "message": "It broke."}})
    answer.end(status)
    expect(article(ann, answer).locator(".status")).to_have_text(words)
    expect(article(ann, answer).locator(".block-error")).to_contain_text("It broke.")
    expect(article(ann, answer)).to_contain_text("half a sen")


def test_the_feed_is_open_only_while_something_is_written(stage: Stage) -> None:
    channel, other = stage.channel("general", "ann", "ben"), stage.channel("other", "ann", "ben")
    stage.say("ben", channel, "hello")
    ann = stage.person("ann", channel)
    expect(ann.message("hello")).to_be_visible()
    answer = Answer(stage, channel)
    answer.say("one ")
    expect(article(ann, answer)).to_contain_text("one")
    streams = [path for _, path in ann.requests if path.endswith("/stream")]
    assert len(streams) == 1
    closed: list[str] = []
    ann.page.on("requestfailed", lambda request: closed.append(request.url))
    ann.open("other")
    wait_until(lambda: ann.page.evaluate("1") and [url for url in closed if url.endswith("/stream")])
    assert other != channel
    answer.say("two")
    answer.end()
    ann.open("general")
    whole(ann, answer)
    assert not [path for _, path in ann.requests if path.endswith("/unread")]


def test_a_settled_block_becomes_markdown_while_the_answer_goes_on(stage: Stage) -> None:
    channel = stage.channel("general", "ann", "ben")
    ann = stage.person("ann", channel)
    answer = Answer(stage, channel)
    answer.block("a", content="First **one**")
    texts = article(ann, answer).locator(".text")
    expect(texts).to_have_text("First **one**")
    answer.block("b", content="Second **two**")
    expect(texts.first.locator("strong")).to_have_text("one")
    expect(texts.last).to_have_text("Second **two**")
    texts.first.evaluate("node => { node.held = true; }")
    answer.say(" and", " more", block_id="b")
    expect(texts.last).to_have_text("Second **two** and more")
    assert texts.first.evaluate("node => node.held"), "what is settled is not drawn again"
    answer.say("! **Three**", block_id="a")
    expect(texts.first.locator("strong")).to_have_text(["one", "Three"])
    expect(article(ann, answer)).to_have_attribute("aria-busy", "true")
    answer.end()
    expect(texts.last.locator("strong")).to_have_text("two")
    expect(article(ann, answer)).not_to_have_attribute("aria-busy", "true")


def test_an_answer_that_is_never_ended_expires_in_the_open_page(stage: Stage, server: Server) -> None:
    channel = stage.channel("general", "ann", "ben")
    ann = stage.person("ann", channel)
    answer = Answer(stage, channel)
    answer.say("half a sen")
    expect(article(ann, answer)).to_contain_text("half a sen")
    with closing(sqlite3.connect(server.home / "loopd.sqlite3", timeout=10)) as database, database:
        long_ago = "2020-01-01 00:00:00"
        found = database.execute("UPDATE messages SET updated_at = ? WHERE id = ?", (long_ago, UUID(answer.id).hex))
        assert found.rowcount == 1
    assert stage.api("ben", "GET", f"/messages/{answer.id}")["status"] == "expired"
    expect(article(ann, answer).locator(".status")).to_have_text("stopped without an end")
    expect(article(ann, answer)).not_to_have_attribute("aria-busy", "true")
    whole(ann, answer)


def test_a_page_that_nobody_sees_lets_the_feed_go_and_loses_nothing(stage: Stage) -> None:
    channel = stage.channel("general", "ann", "ben")
    ann = stage.person("ann", channel)
    answer = Answer(stage, channel)
    answer.say(*WORDS[:20])
    expect(article(ann, answer)).to_contain_text(WORDS[19])
    closed: list[str] = []
    ann.page.on("requestfailed", lambda request: closed.append(request.url))
    ann.page.clock.install()
    see(ann, "hidden")
    ann.page.clock.run_for(59_000)
    answer.say(*WORDS[20:30])
    assert not [url for url in closed if url.endswith("/stream")]
    ann.page.clock.run_for(2_000)
    wait_until(lambda: ann.page.evaluate("1") and [url for url in closed if url.endswith("/stream")])
    answer.say(*WORDS[30:40])
    see(ann, "visible")
    expect(article(ann, answer)).to_contain_text(WORDS[39])
    answer.say(*WORDS[40:])
    answer.end()
    whole(ann, answer)


def see(person: Person, state: str) -> None:
    """What the browser says when its tab is hidden or shown."""
    person.page.evaluate(
        """state => {
            Object.defineProperty(document, "visibilityState", { value: state, configurable: true });
            document.dispatchEvent(new Event("visibilitychange"));
        }""",
        state,
    )
