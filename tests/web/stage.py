"""People in browsers against a real server: `stage.person("ann")` gives a signed-in browser with its own cookies.

Every test gets a workspace of its own on the one server of the session. A person's page collects what must not happen
(console errors, uncaught exceptions); `quiet()` at the end of a test fails on any that was not announced by `allow`.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Locator, Page, Request, expect

from tests.server import Server

PEOPLE = ("ann", "ben", "cat", "dan")
AGENTS = ("ops", "scribe")
WITHIN_MS = 10_000
expect.set_options(timeout=WITHIN_MS)

MAKE_PEOPLE = """
from django.contrib.auth import get_user_model
from conversations.actions.tokens import create_token
from conversations.actions.users import ensure_user
for name in {names!r}:
    user = get_user_model().objects.create_user(name, password="pass of " + name)
    print(name, create_token(user=user, label="tests"))
for name in {agents!r}:
    print(name, create_token(user=ensure_user(username=name, service=True), label="tests"))
"""


class Cast:
    """The users of the server, their tokens, and their signed-in states once somebody needed one."""

    def __init__(self, server: Server, browser: Browser) -> None:
        self.server, self.browser = server, browser
        printed = server.manage("shell", "-v", "0", "-c", MAKE_PEOPLE.format(names=PEOPLE, agents=AGENTS))
        pairs = [line.split() for line in printed.splitlines() if line.split(" ")[0] in (*PEOPLE, *AGENTS)]
        self.token: dict[str, str] = dict(pairs)
        self._signed_in: dict[str, Any] = {}

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.server.port}"

    def signed_in(self, name: str) -> Any:
        """Cookies of a person who signed in through the login page."""
        if name not in self._signed_in:
            context = self.browser.new_context()
            page = context.new_page()
            sign_in(page, self.origin, name)
            self._signed_in[name] = context.storage_state()
            context.close()
        return self._signed_in[name]


def sign_in(page: Page, origin: str, name: str) -> None:
    page.goto(f"{origin}/login/")
    page.get_by_label("Username").fill(name)
    page.get_by_label("Password").fill(f"pass of {name}")
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(re.compile(r"/(w/|new/)"))


class Stage:
    """A workspace with everybody in it; ann, who made it, is its admin."""

    def __init__(self, cast: Cast) -> None:
        self.cast, self.server = cast, cast.server
        self.slug = f"stage-{secrets.token_hex(4)}"
        self.workspace: str = self.api("ann", "POST", "/workspaces", {"slug": self.slug, "name": "The Stage"})["id"]
        self.member = {"ann": self.api("ann", "GET", f"/me?workspace_id={self.workspace}")["member"]["id"]}
        for name in PEOPLE[1:]:
            body = {"username": name, "display_name": name.capitalize()}
            self.member[name] = self.api("ann", "POST", f"/workspaces/{self.workspace}/members", body)["id"]
        self._contexts: list[BrowserContext] = []
        self.people: list[Person] = []

    def api(self, name: str, method: str, path: str, body: Any = None) -> Any:
        answer = self.server.call(self.cast.token[name], method, path, body)
        assert answer.status < 300, f"{method} {path}: {answer.status} {answer.value}"
        return answer.value

    def channel(self, name: str, *members: str, private: bool = False) -> str:
        """The first member named makes it; its id."""
        body = {
            "workspace_id": self.workspace,
            "type": "channel",
            "name": name,
            "visibility": "private" if private else "public",
            "member_ids": [self.member[m] for m in members[1:]],
        }
        return str(self.api(members[0], "POST", "/conversations", body)["id"])

    def dm(self, *members: str) -> str:
        body = {"workspace_id": self.workspace, "type": "dm", "member_ids": [self.member[m] for m in members[1:]]}
        return str(self.api(members[0], "POST", "/conversations", body)["id"])

    def agent(self, name: str) -> str:
        """A service account becomes a member, as operator/<name>; its member id."""
        body = {"username": name, "display_name": name.capitalize()}
        self.member[name] = self.api("ann", "POST", f"/workspaces/{self.workspace}/members", body)["id"]
        return self.member[name]

    def conversation(self, name: str, *members: str) -> str:
        """A user conversation of the first member named; its id."""
        ids = [self.member[m] for m in members[1:]]
        body = {"workspace_id": self.workspace, "type": "conversation", "name": name, "member_ids": ids}
        return str(self.api(members[0], "POST", "/conversations", body)["id"])

    def say(self, name: str, conversation: str, text: str, **more: Any) -> Any:
        return self.api(name, "POST", f"/conversations/{conversation}/messages", {"text": text, **more})

    def history(self, name: str, conversation: str) -> list[str]:
        page = self.api(name, "GET", f"/conversations/{conversation}/messages?limit=200")
        return [message["content"]["blocks"][0]["content"] for message in page["items"]]

    def read(self, name: str, conversation: str) -> None:
        self.api(name, "PUT", f"/conversations/{conversation}/read", {})

    def address(self, conversation: str | None = None) -> str:
        inside = f"c/{conversation}/" if conversation else ""
        return f"{self.cast.origin}/w/{self.slug}/{inside}"

    def person(self, name: str, conversation: str | None = None, **context: Any) -> Person:
        """Opens a browser for somebody, at a conversation or the list; live, unless scripts are off."""
        options = {"viewport": {"width": 1280, "height": 800}, "locale": "en-GB", **context}
        opened = self.cast.browser.new_context(storage_state=self.cast.signed_in(name), **options)
        self._contexts.append(opened)
        person = Person(self, name, opened)
        self.people.append(person)
        person.goto(conversation)
        if options.get("java_script_enabled", True):
            expect(person.page.locator("body")).to_have_attribute("data-connection", "live")
        return person

    def quiet(self) -> None:
        for person in self.people:
            assert not person.trouble, f"{person.name}: {person.trouble}"

    def close(self) -> None:
        for context in self._contexts:
            context.close()


class Person:
    def __init__(self, stage: Stage, name: str, context: BrowserContext) -> None:
        self.stage, self.name, self.context = stage, name, context
        self.page = context.new_page()
        self.trouble: list[str] = []
        self.requests: list[tuple[str, str]] = []
        self._allowed: list[re.Pattern[str]] = []
        self.page.on("console", self._heard)
        self.page.on("pageerror", lambda error: self._note(f"uncaught: {error}"))
        self.page.on("request", self._requested)

    def goto(self, conversation: str | None = None) -> None:
        self.page.goto(self.stage.address(conversation))

    def allow(self, pattern: str) -> None:
        """Console errors that the test provokes (a browser logs each failed request by itself)."""
        self._allowed.append(re.compile(pattern))

    @contextmanager
    def counting(self) -> Iterator[list[str]]:
        """The API requests made inside, as "METHOD /path" with ids left out."""
        start, found = len(self.requests), []
        yield found
        found += [f"{method} {path}" for method, path in self.requests[start:] if path.startswith("/v1/")]

    # what a person sees

    @property
    def log(self) -> Locator:
        return self.page.get_by_role("log")

    @property
    def composer(self) -> Locator:
        return self.page.locator("#composer textarea")

    def message(self, text: str) -> Locator:
        return self.log.locator("article", has_text=text)

    def link(self, name: str) -> Locator:
        """A conversation in the sidebar."""
        return self.page.locator("#conversations a.item").filter(has=self.page.get_by_text(name, exact=True))

    def badge(self, name: str) -> Locator:
        return self.link(name).locator(".badge")

    @property
    def red_dot(self) -> Locator:
        """This workspace in the rail, while it is lit."""
        return self.page.locator(f'#rail .workspace.lit[data-workspace="{self.stage.workspace}"]')

    def at_end(self) -> bool:
        script = "s => s.scrollHeight - s.scrollTop - s.clientHeight < 4"
        return bool(self.page.locator("#scroller").evaluate(script))

    # what a person does

    def open(self, name: str) -> None:
        self.link(name).click()
        expect(self.link(name)).to_have_attribute("aria-current", "page")
        expect(self.page.locator("#head h1")).to_contain_text(name)

    def say(self, text: str) -> None:
        self.composer.fill(text)
        self.composer.press("Enter")

    def act(self, text: str, action: str) -> None:
        """An action of the toolbar of a message."""
        self.message(text).hover()
        self.message(text).get_by_role("button", name=action, exact=True).click()

    def choose(self, text: str, item: str) -> None:
        """An item of the menu of a message."""
        self.act(text, "More")
        self.page.get_by_role("menuitem", name=item).click()

    def conversation_menu(self, item: str) -> None:
        self.page.locator("#head").get_by_role("button", name="More").click()
        self.page.get_by_role("menuitem", name=item).click()

    def _heard(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self._note(f"console {message.type}: {message.text} {message.location.get('url', '')}")

    def _note(self, words: str) -> None:
        if not any(pattern.search(words) for pattern in self._allowed):
            self.trouble.append(words)

    def _requested(self, request: Request) -> None:
        path = re.sub(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "{id}", urlsplit(request.url).path)
        self.requests.append((request.method, path))
