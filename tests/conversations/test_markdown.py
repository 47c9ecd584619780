"""Markdown becomes HTML that is safe whatever was written, and reads as it was meant."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from urllib.parse import urlsplit

import pytest

from conversations import markdown
from conversations.markdown import MAX_CHARS, SCHEMES, render, render_blocks
from tests.verbs import post, thread
from tests.world import World

ALLOWED = {
    "a": {"href", "title", "rel", "target"},
    "span": {"class", "title"},
    "ol": {"start"},
}
ATTACKS = [
    "<script>alert(1)</script>",
    "<ScRiPt src=//evil.example/x.js></sCrIpT>",
    "<img src=x onerror=alert(1)>",
    "<svg onload=alert(1)><animate attributeName=href values=javascript:alert(1) /></svg>",
    "<math><mi xlink:href='data:x,<script>alert(1)</script>'>x</mi></math>",
    "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "<style>@import 'https://evil.example/'</style>",
    "<a href='javascript:alert(1)' onclick=alert(1)>x</a>",
    "<!-- --><base href=//evil.example/><form action=//evil.example><input name=x>",
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](java&#115;cript:alert(1))",
    "[x](java&Tab;script:alert(1))",
    "[x](<java\tscript:alert(1)>)",
    "[x](\x01javascript:alert(1))",
    "[x](data:text/html;base64,PHNjcmlwdD4=)",
    "![x](data:image/svg+xml;base64,PHN2Zz4=)",
    "![x](https://evil.example/beacon.png)",
    "[x](vbscript:msgbox(1))",
    "[x](file:///etc/passwd)",
    "[x](//evil.example/path)",
    "[x](/logout/)",
    '[x](https://ok.example/"onmouseover="alert(1))',
    "[x](https://ok.example/ '\" onmouseover=\"alert(1)')",
    '[x](https://ok.example/ "<script>alert(1)</script>")',
    "<javascript:alert(1)>",
    '<https://ok.example/"><script>alert(1)</script>>',
    "[a]: javascript:alert(1)\n\n[a]",
    "> > > <script>\n> > alert(1)\n> </script>",
    "> - > - `<b onclick=alert(1)>` <b onclick=alert(1)>",
    "```html\n<script>alert(1)</script>\n```",
    '```"><script>alert(1)</script>\nx\n```',
    "| a | <img src=x onerror=alert(1)> |\n|---|:-:|\n| `|` | [x](javascript:alert(1)) |",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "\x00<scr\x00ipt>alert(1)</scr\x00ipt>",
    '<noscript><p title="</noscript><img src=x onerror=alert(1)>">',
    "`<img src=x onerror=alert(1)>",
    "[<img src=x onerror=alert(1)>](https://ok.example/)",
    "@<script>alert(1)</script>",
]


class Reader(HTMLParser):
    """Reads HTML as a browser would, and refuses what the allow-list does not have."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        assert tag in markdown._TAGS, tag
        given = dict(attributes)
        assert given.keys() <= ALLOWED.get(tag, set()), (tag, given)
        if tag == "a" and "href" in given:
            assert urlsplit(given["href"] or "").scheme in SCHEMES, given
            assert set((given["rel"] or "").split()) >= {"noopener", "noreferrer"}
        if tag == "span":
            assert given.get("class") == "mention"

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data}")


def check(html: str | None) -> list[str]:
    assert html is not None
    reader = Reader()
    reader.feed(html)
    reader.close()
    return reader.seen


@pytest.mark.parametrize("attack", ATTACKS)
def test_an_attack_is_text(attack: str) -> None:
    for text in (attack, f"- {attack}", f"> {attack}", f"**{attack}**", f"[{attack}](https://ok.example/)"):
        check(render(text, {"<script>alert(1)</script>": '"><img src=x onerror=alert(1)>'}))


def test_the_reader_of_this_test_refuses_what_is_dangerous() -> None:
    for html in (
        "<script>",
        "<p onclick=x>",
        '<a href="javascript:x" rel="noopener noreferrer">',
        "<!-- x -->",
        "<img>",
    ):
        with pytest.raises(AssertionError):
            check(html)


def test_what_people_write() -> None:
    text = "# Title\n\none **two** ~~three~~ `four`\nnext\n\n- a\n- b\n\n"
    text += "| x | y |\n|---|---|\n| 1 | 2 |\n\n```python\nx < 1\n```"
    html = render(text) or ""
    tags = {"h1", "p", "strong", "s", "code", "br", "ul", "li", "pre"}
    assert set(check(html)) == tags | {"table", "thead", "tbody", "tr", "th", "td"}
    assert "x &lt; 1" in html
    assert render("hello") == "<p>hello</p>\n"
    assert 'href="https://a.example/x"' in (render("see https://a.example/x.") or "")
    assert 'href="mailto:a@b.example"' in (render("[mail](mailto:a@b.example)") or "")
    assert "<a" not in (render("example.com and ftp://a.example/") or "")


def test_mentions_are_highlighted_but_not_in_code_links_or_words() -> None:
    names = {"ann": "Ann <b>", "ann_x": "Other"}
    html = render("@ann, @ann_x **@ann** x@ann `@ann` [@ann](https://a.example/)", names) or ""
    check(html)
    assert re.findall(r'<span class="mention" title="@(\w+)">([^<]*)</span>', html) == [
        ("ann", "@Ann &lt;b&gt;"),
        ("ann_x", "@Other"),
        ("ann", "@Ann &lt;b&gt;"),
    ]
    assert 'class="mention"' not in (render("@ann") or "")


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "piece",
    ["[", "*a **a ", "> ", "- ", "`", "![", "<a", "|", "[a](", "_", "&#", "\\", "https://", "](", "~~", "@ann "],
)
def test_hostile_repetition_ends(piece: str) -> None:
    check(render((piece * MAX_CHARS)[:MAX_CHARS], {"ann": "Ann"}))


def test_what_is_too_long_stays_as_it_was_written() -> None:
    assert render("x" * (MAX_CHARS + 1)) is None
    blocks = [{"id": str(n), "type": "text", "content": "x" * 40} for n in range(3)] + [{"id": "t", "type": "tool"}]
    rendered, left = render_blocks(blocks, {}, 100)
    assert [each["html"] is None for each in rendered] == [False, False, True]
    assert left == -20


@pytest.fixture
def world() -> World:
    made = World("ann", "ben", "cat", strangers=("eve",))
    made.channel("x", "ann", "ben", private=True)
    return made


def test_rendering_over_http(world: World) -> None:
    username = world.user["ben"].get_username()
    first = post(world, "ann", "x", text=f"**hi** @{username}")
    second = post(world, "ben", "x", text="plain")
    thread(world, "ann", first, "t")
    inside = post(world, "ann", "t", text="in the thread")
    path = f"/conversations/{world.scope['x'].id}/rendered"
    ids = ",".join(str(message.id) for message in (second, first, inside))
    items = world.call("ben", "GET", path, message_ids=ids).ok()["items"]
    assert [item["id"] for item in items] == [str(first.id), str(second.id)]
    assert items[0]["revision"] == first.revision
    [block] = items[0]["blocks"]
    assert block["html"].startswith("<p><strong>hi</strong> <span")
    stored = world.call("ben", "GET", f"/messages/{first.id}").ok()["content"]["blocks"][0]["content"]
    assert stored == f"**hi** @{username}"
    assert world.call("cat", "GET", path, message_ids=ids).status == 404
    assert world.call("eve", "GET", path, message_ids=ids).status == 404
    assert world.call(None, "GET", path, message_ids=ids).status == 401
    assert world.call("ann", "GET", path).status == 400
    assert world.call("ann", "GET", path, message_ids="x").status == 400
    assert world.call("ann", "GET", path, message_ids=",".join([str(first.id)] * 51)).status == 400


def test_rendering_some_blocks_of_an_open_message(world: World) -> None:
    blocks = [{"id": name, "type": "text", "content": f"**{name}**"} for name in "abc"]
    content = {"version": "1.1", "biz": "chat", "meta": {}, "blocks": blocks}
    path = f"/conversations/{world.scope['x'].id}"
    opened = world.call("ann", "POST", f"{path}/messages", {"content": content, "stream": True}).ok()
    asked = {"message_ids": opened["id"], "block_id": ["b", "a", "gone"]}
    [item] = world.call("ben", "GET", f"{path}/rendered", **asked).ok()["items"]
    assert [block["id"] for block in item["blocks"]] == ["a", "b"]
    assert item["revision"] == 0
    too_many = {"message_ids": opened["id"], "block_id": ["b"] * 51}
    assert world.call("ben", "GET", f"{path}/rendered", **too_many).status == 400
