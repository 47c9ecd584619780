"""Which names in a text are mentions. `{ann}` stands for ann's username, `{lee}` for that of `ann.lee`."""

from __future__ import annotations

import pytest

from conversations.actions.code_spans import without_code
from conversations.actions.mentioning import MAX_MENTIONS, mentioned
from conversations.errors import InvalidRequest
from conversations.ids import new_id
from conversations.models import MessageMention
from tests.verbs import join, leave, post, thread
from tests.world import World

TEXTS = [
    ("@{ann}", "ann"),
    ("hi @{ann}, and @{ben}!", "ann ben"),
    ("@{ann}.", "ann"),
    ("(@{ann})", "ann"),
    ("..@{ann}", "ann"),
    ("@{ANN} at the beginning of a sentence", "ann"),
    ("@{lee} is longer than ann", "lee"),
    ("@{lee}. ends a sentence", "lee"),
    ("@{ann}.lex is nobody's, but ann is somebody", "ann"),
    ("@{ann}abel is another word", ""),
    ("mail x@{ann} or {ben}@{ann}", ""),
    ("@{ann}@{ben}", "ann"),
    ("https://example.org/@{ann} and http://x/@{ben}", ""),
    ("`@{ann}`", ""),
    ("``a ` @{ann}`` @{ben}", "ben"),
    ("`not closed @{ann}", "ann"),
    ("a ```` not a fence @{ann} ```", "ann"),
    ("```\n@{ann}\n```\n@{ben}", "ben"),
    ("~~~~ python\n@{ann}\n~~~\n@{ben}", ""),
    ("```\n@{ann}", ""),
    ("@{zoe} is in the workspace, not in the conversation", ""),
    ("@{ann} @{ann} @{ann}", "ann"),
    ("no names, just an @ and @@ and @.", ""),
    ("日本語@{ann}", ""),
    ("日本語 @{ann} です", "ann"),
]


@pytest.fixture
def world() -> World:
    made = World("ann", "lee", "ben", "zoe")
    made.channel("x", "ann", "lee", "ben")
    for name, username in (("ann", "ann"), ("lee", "ann{}.lee"), ("ben", "ben"), ("zoe", "zoe")):
        user = made.user[name]
        user.username = username.format(made.tag) if "{}" in username else f"{username}{made.tag}"
        user.save(update_fields=["username"])
    return made


def _written(world: World, text: str) -> str:
    names = {name: user.get_username() for name, user in world.user.items()}
    return text.format(**names, ANN=names["ann"].capitalize())


@pytest.mark.parametrize(("text", "expected"), TEXTS)
def test_names_in_texts(world: World, text: str, expected: str) -> None:
    found = mentioned(world.scope["x"], _written(world, text))
    assert sorted(member.id for member in found) == sorted(world.member[name].id for name in expected.split())


def test_listed_members_are_added_to_those_in_the_text(world: World) -> None:
    message = post(world, "ann", "x", _written(world, "hi @{ben}"), mentions=["lee", "ben"])
    rows = set(MessageMention.objects.filter(message=message).values_list("member_id", flat=True))
    assert rows == {world.member["ben"].id, world.member["lee"].id}


@pytest.mark.parametrize("who", ["zoe", "nobody"])
def test_listing_a_stranger_is_refused(world: World, who: str) -> None:
    listed = [world.member[who].id if who in world.member else new_id()]
    with pytest.raises(InvalidRequest):
        mentioned(world.scope["x"], "", listed)


def test_only_so_many_can_be_listed(world: World) -> None:
    with pytest.raises(InvalidRequest):
        mentioned(world.scope["x"], "", [new_id() for _ in range(MAX_MENTIONS + 1)])


def test_whoever_left_is_mentioned_no_more(world: World) -> None:
    leave(world, "ben", "x")
    assert mentioned(world.scope["x"], _written(world, "@{ben}")) == []
    join(world, "ben", "x")
    assert mentioned(world.scope["x"], _written(world, "@{ben}")) == [world.member["ben"]]


def test_in_a_thread_members_of_the_conversation_around_it_can_be_mentioned(world: World) -> None:
    thread(world, "ann", post(world, "ann", "x"), "t")
    assert mentioned(world.scope["t"], _written(world, "@{ben} @{zoe}")) == [world.member["ben"]]


def test_a_wall_of_handles_stays_small_work(world: World) -> None:
    hostile = "@." * 200_000 + "`" * 100_000 + "``x" * 50_000
    assert mentioned(world.scope["x"], hostile) == []
    assert len(without_code(hostile)) > 0
