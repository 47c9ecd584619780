"""Pages as the server renders them: who may see what, what a browser without scripts can do, and what is never sent."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from conversations.actions.workspaces import create_workspace
from conversations.models import Message, Workspace
from conversations.models.scope import Visibility
from loopd.pages.first_screen import WORKSPACES_SHOWN
from loopd.pages.looks import badge, conversation_name, initials
from tests.verbs import join, publicise
from tests.world import World


@pytest.fixture
def world() -> World:
    world = World("ann", "ben", "cat", strangers=("zed",))
    world.channel("general", "ann", "ben")
    world.channel("secret", "ann", private=True)
    return world


def browser(world: World, who: str, **options: Any) -> Client:
    client = Client(raise_request_exception=False, **options)
    client.force_login(world.user[who])
    return client


def address(world: World, scope: str, page: str = "conversation") -> str:
    return reverse(page, args=[world.workspace.slug, world.scope[scope].id])


def say(world: World, who: str, scope: str, text: str) -> None:
    world.call(who, "POST", f"/conversations/{world.scope[scope].id}/messages", {"text": text}).ok()


def boot(response: Any) -> dict[str, Any]:
    found = re.search(r'<script id="boot" type="application/json">(.*?)</script>', response.content.decode(), re.S)
    assert found
    return json.loads(found[1])


def test_nobody_sees_a_page_without_logging_in(world: World) -> None:
    pages = [address(world, "general"), address(world, "general", "about"), f"/w/{world.workspace.slug}/", "/", "/new/"]
    for page in pages:
        response = Client().get(page)
        assert response.status_code == 302
        assert response["Location"].startswith("/login/?next=")


@pytest.mark.parametrize(
    ("who", "scope", "seen"),
    [
        ("ann", "general", True),
        ("cat", "general", True),
        ("zed", "general", False),
        ("ann", "secret", True),
        ("cat", "secret", False),
        ("zed", "secret", False),
    ],
)
def test_pages_show_what_the_gate_lets_through(world: World, who: str, scope: str, seen: bool) -> None:
    say(world, "ann", scope, "a word in here")
    for page in ("conversation", "about"):
        response = browser(world, who).get(address(world, scope, page))
        assert response.status_code == (200 if seen else 404)
        assert (b"a word in here" in response.content) is seen


def test_a_conversation_is_not_served_under_another_workspace(world: World) -> None:
    other = World("ann")
    path = reverse("conversation", args=[other.workspace.slug, world.scope["general"].id])
    assert browser(world, "ann").get(path).status_code == 404


def test_text_is_escaped_wherever_it_stands(world: World) -> None:
    evil = "</script><script>alert(1)</script><img src=x onerror=alert(2)>"
    say(world, "ann", "general", evil)
    content = browser(world, "ben").get(address(world, "general")).content.decode()
    assert "<script>alert" not in content
    assert "<img src=x" not in content
    assert "&lt;img src=x onerror=alert(2)&gt;" in content


def test_only_scripts_of_the_page_run(world: World) -> None:
    response = browser(world, "ann").get(address(world, "general"))
    policy = response["Content-Security-Policy"]
    nonce = re.search(r"script-src 'self' 'nonce-([^']+)'", policy)
    assert nonce
    assert "unsafe" not in policy
    content = response.content.decode()
    inline = re.findall(r"<script(?![^>]*application/json)[^>]*>", content)
    assert inline
    assert all(f'nonce="{nonce[1]}"' in script for script in inline)
    assert not re.search(r"\son\w+=|style=", re.sub(r"<script.*?</script>", "", content, flags=re.S))
    assert "no-store" in response["Cache-Control"]


def test_the_page_carries_the_same_unread_as_the_api(world: World) -> None:
    say(world, "ann", "general", "news")
    page = boot(browser(world, "ben").get(f"/w/{world.workspace.slug}/"))
    answer = world.call("ben", "GET", f"/workspaces/{world.id}/bootstrap").ok().body
    assert page["unread"].keys() == answer["unread"].keys()
    assert page["conversations"] == answer["conversations"]
    assert page["me"] == answer["me"]
    assert {member["id"] for member in page["members"]} == {str(m.id) for m in world.member.values()}


def test_a_post_sends_and_leads_back(world: World) -> None:
    ann = browser(world, "ann")
    response = ann.post(address(world, "general"), {"text": " hello \n there "})
    assert response.status_code == 302
    assert response["Location"].startswith(address(world, "general"))
    assert Message.objects.filter(scope=world.scope["general"]).count() == 1
    assert ann.post(address(world, "general"), {"text": "   "}).status_code == 302
    assert Message.objects.filter(scope=world.scope["general"]).count() == 1


def test_a_refused_post_keeps_what_was_written(world: World) -> None:
    response = browser(world, "cat").post(address(world, "general"), {"text": "let me in"})
    assert response.status_code == 409
    assert b"let me in" in response.content
    assert b"Join this conversation first." in response.content
    assert browser(world, "zed").post(address(world, "general"), {"text": "x"}).status_code == 404
    assert not Message.objects.filter(scope=world.scope["general"]).exists()


def test_posts_need_the_token_of_a_form(world: World) -> None:
    ann = browser(world, "ann", enforce_csrf_checks=True)
    for page in ("conversation", "read", "join"):
        assert ann.post(address(world, "general", page), {"text": "x"}).status_code == 403
    assert ann.post("/logout/").status_code == 403


def test_joining_and_reading_by_form(world: World) -> None:
    cat = browser(world, "cat")
    assert cat.post(address(world, "general", "join")).status_code == 302
    say(world, "ann", "general", "news")
    path = f"/conversations/{world.scope['general'].id}"
    assert world.call("cat", "GET", path)["last_read_seq"] == 0
    assert cat.post(address(world, "general", "read")).status_code == 302
    assert world.call("cat", "GET", path)["last_read_seq"] == 1
    assert cat.post(address(world, "secret", "join")).status_code == 404
    assert cat.get(address(world, "general", "read")).status_code == 405


def test_pages_of_the_past_have_addresses(world: World) -> None:
    for number in range(55):
        say(world, "ann", "general", f"message {number:03}")
    ben = browser(world, "ben")
    newest = ben.get(address(world, "general"))
    assert b"message 054" in newest.content
    assert b"message 004" not in newest.content
    older = re.search(r'rel="prev" href="([^"]+)"', newest.content.decode())
    assert older
    page = ben.get(older[1])
    assert b"message 004" in page.content
    assert b"message 005" not in page.content
    assert boot(page)["page"] is None, "the modules start from the newest page, not from this one"
    for cursor in ("nonsense", "01a22e04-af08-7078-bfe2-d698f5f25d15"):
        assert ben.get(f"{address(world, 'general')}?before={cursor}").status_code == 404


def test_a_page_takes_the_same_number_of_statements_for_one_message_and_for_fifty(world: World) -> None:
    ben = browser(world, "ben")

    def statements() -> int:
        with CaptureQueriesContext(
            connection,
        ) as counted:
            assert ben.get(address(world, "general")).status_code == 200
        return len(counted)

    say(world, "ann", "general", "one @ben")
    join(world, "cat", "general")
    few = statements()
    for number in range(49):
        say(world, "ann" if number % 2 else "cat", "general", f"more {number}")
    for number in range(10):
        world.channel(f"channel {number}", "ann", "ben")
    assert statements() == few


def test_the_open_workspace_is_in_the_list_however_many_there_are(world: World) -> None:
    ann = world.user["ann"]
    for number in range(WORKSPACES_SHOWN + 1):
        create_workspace(user=ann, slug=f"a{number}-{world.tag}", name=f"A {number:03}")
    shown = boot(browser(world, "ann").get(f"/w/{world.workspace.slug}/"))["workspaces"]
    assert len(shown) == WORKSPACES_SHOWN + 1
    assert str(world.id) in {workspace["id"] for workspace in shown}


def test_home_leads_to_a_workspace_or_to_making_one(world: World) -> None:
    assert browser(world, "ann").get("/")["Location"] == f"/w/{world.workspace.slug}/"
    zed = browser(world, "zed")
    assert zed.get("/")["Location"] == "/new/"
    assert zed.get("/new/").status_code == 200
    for name in ("", "x" * 121, "a\x00b"):
        assert zed.post("/new/", {"name": name}).status_code == 400
    assert zed.post("/new/", {"name": "Mine", "slug": world.workspace.slug}).status_code == 400
    made = zed.post("/new/", {"name": "Zed's Own", "slug": f"zed-{world.tag}"})
    assert made["Location"] == f"/w/zed-{world.tag}/"
    assert Workspace.objects.filter(slug=f"zed-{world.tag}").exists()
    assert zed.get(made["Location"]).status_code == 200


def test_login_shows_its_error_and_leads_only_inside(world: World) -> None:
    user = get_user_model().objects.create_user(f"pat-{world.tag}", password="a long pass phrase")
    client = Client()
    wrong = client.post("/login/", {"username": user.username, "password": "no"})
    assert b"do not match" in wrong.content
    assert user.username.encode() in wrong.content
    given = {"username": user.username, "password": "a long pass phrase", "next": "https://evil.example/"}
    assert client.post("/login/", given)["Location"] == "/"


def test_a_private_channel_that_becomes_public_is_shown(world: World) -> None:
    cat = browser(world, "cat")
    assert cat.get(address(world, "secret")).status_code == 404
    publicise(world, "ann", "secret", Visibility.PUBLIC)
    assert cat.get(address(world, "secret")).status_code == 200


def test_names_and_badges() -> None:
    me = {"id": "1", "display_name": "Ann"}
    people = [
        {"id": str(n), "display_name": name} for n, name in enumerate(["Ann", "Ben", "Cat", "Dan", "Eve", "Fay"], 1)
    ]
    dm = {"name": "", "type": "dm", "members": people}
    assert conversation_name(dm, me) == "Ben, Cat, Dan, Eve and 1 more"
    assert conversation_name({**dm, "members": people[:1]}, me) == "Ann (you)"
    assert (initials("Ann Lee"), initials("王伟"), initials(" ")) == ("AL", "王", "?")
    entry = {"state": "ready", "messages": 2, "activities": 1, "mentions": 1, "manual": False}
    shown = badge(entry)
    assert shown is not None
    assert (shown.text, shown.spoken) == ("3", "3 unread, 1 mentioning you")
    hint = badge({**entry, "state": "snapshot_serving"})
    assert hint is not None
    assert hint.is_hint
    assert badge({**entry, "state": "stale"}) is None
    marked = badge({**entry, "state": "stale", "manual": True})
    assert marked is not None
    assert marked.text == ""
