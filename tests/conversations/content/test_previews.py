"""One line of each message, wherever its text lies."""

from __future__ import annotations

from conversations.content.previews import read_previews

from .rows import EMPTY, Desk, Statements, limits, model, text


def test_previews_of_many_messages() -> None:
    desk = Desk()
    tool = {"id": "tool", "type": "tool", "name": "grep"}
    with limits(inline_bytes=300, part_bytes=2000):
        made = {
            desk.create(model(text("a", 60, "a"))).pk: "a" * 20,
            desk.create(model(text("b", 1000, "b"))).pk: "b" * 159 + "…",
            desk.create(model(tool, text("c", 1000, "c"))).pk: "c" * 159 + "…",
            desk.create(model(tool)).pk: "grep",
            desk.create(model(tool, {"id": "t", "type": "tool", "content": [0] * 500})).pk: "grep",
            desk.create(EMPTY).pk: "",
            desk.create(model(text("d", 2_000_000, "d"))).pk: "…",
        }
    with Statements() as done:
        assert {key: line[: len(made[key]) or None] for key, line in read_previews(made).items()} == made
    assert done.count() == 2


def test_inline_texts_take_one_statement() -> None:
    desk = Desk()
    ids = [desk.create(model(text("a", 60))).pk for _ in range(3)]
    with Statements() as done:
        assert len(read_previews(ids)) == 3
    assert done.count() == 1
    assert read_previews([]) == {}
