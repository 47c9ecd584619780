"""The oracle and the facts checked against counts made by hand: the acceptance cases, and each rule on its own."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from unread.core.events import MembershipChanged, MessageRewound, MessagesChanged, MessageStored, ReadCursorAdvanced

from . import oracle
from .facts import Facts, Refused
from .oracle import NOTHING, Truth
from .tables import Message

ROOT = Path(__file__).resolve().parents[2]
CASES = json.loads((ROOT / "tests" / "data" / "unread.json").read_text())


class CasePlayer:
    """Plays an acceptance case on the facts, where restarts and edits of text change nothing."""

    def __init__(self, case: dict[str, Any]) -> None:
        self.facts = Facts(len(case["members"]))
        self.member = dict(zip(case["members"], self.facts.members, strict=True))
        self.scope: dict[str, int] = {}
        self.message: dict[str, tuple[int, int]] = {}
        self.sent: dict[str, str] = {}
        for name, scope in case["scopes"].items():
            self.scope[name], _ = self.facts.create_channel(tuple(self.member[m] for m in scope["members"]))

    def play(self, steps: list[dict[str, Any]]) -> None:
        for step in steps:
            getattr(self, "step_" + next(iter(step)))(step)

    def step_post(self, step: dict[str, Any]) -> None:
        scope = self.scope[step["post"]]
        if step.get("client_id") in self.sent:
            self.facts.replay_post(*self.message[self.sent[step["client_id"]]])
            return
        mentions = tuple(self.member[m] for m in step.get("mentions", ()))
        for _ in range(step.get("times", 1)):
            self.facts.post(self.member[step["by"]], scope, mentions, hidden=step.get("type") == "task_dispatch")
        if "as" in step:
            self.message[step["as"]] = (scope, self.facts.tables.scopes[scope].latest_seq)
            if "client_id" in step:
                self.sent[step["client_id"]] = step["as"]

    def step_emit(self, step: dict[str, Any]) -> None:
        """A stream's later events are no facts of unread."""

    step_restart = step_emit

    def step_react(self, step: dict[str, Any]) -> None:
        scope, _ = self.message[step["react"]]
        self.facts.add_activity(self.member[step["by"]], scope, high_signal=False)

    def step_activity(self, step: dict[str, Any]) -> None:
        self.facts.add_activity(self.member[step["by"]], self.scope[step["activity"]], high_signal=True)

    def step_read(self, step: dict[str, Any]) -> None:
        member, scope = self.member[step["by"]], self.scope[step["read"]]
        if "upto" not in step:
            self.facts.read_all(member, (scope,))
            return
        named_in, seq = self.message[step["upto"]]
        if named_in != scope:
            raise Refused("another conversation's message")
        self.facts.read_to(member, scope, seq)

    def step_refused(self, step: dict[str, Any]) -> None:
        with pytest.raises(Refused):
            self.play([step["step"]])

    def step_read_many(self, step: dict[str, Any]) -> None:
        self.facts.read_all(self.member[step["by"]], tuple(self.scope[x] for x in step["read_many"]))

    def step_mark_unread(self, step: dict[str, Any]) -> None:
        member, scope = self.member[step["by"]], self.scope[step["mark_unread"]]
        if "from" in step:
            self.facts.mark_unread_from(member, scope, self.message[step["from"]][1])
        else:
            self.facts.mark_unread(member, scope)

    def step_notify(self, step: dict[str, Any]) -> None:
        self.facts.set_level(self.member[step["by"]], self.scope[step["notify"]], step["level"])

    def step_join(self, step: dict[str, Any]) -> None:
        self.facts.join(self.member[step["member"]], self.scope[step["join"]])

    def step_leave(self, step: dict[str, Any]) -> None:
        self.facts.leave(self.member[step["member"]], self.scope[step["leave"]])

    def step_archive(self, step: dict[str, Any]) -> None:
        self.facts.archive(self.scope[step["archive"]])

    def step_restore(self, step: dict[str, Any]) -> None:
        self.facts.restore(self.scope[step["restore"]])

    def step_rewind(self, step: dict[str, Any]) -> None:
        self.facts.rewind(self.scope[step["rewind"]], self.message[step["to"]][1])

    def step_delete(self, step: dict[str, Any]) -> None:
        self.facts.delete(*self.message[step["delete"]])

    def step_thread(self, step: dict[str, Any]) -> None:
        channel, seq = self.message[step["thread"]]
        self.scope[step["as"]], _ = self.facts.create_thread(self.member[step["by"]], channel, seq)

    def step_expect(self, step: dict[str, Any]) -> None:
        for name, expected in step["expect"].items():
            view = oracle.view(self.facts.tables, self.member[name])
            assert set(view) == {self.scope[scope] for scope in expected}, name
            for scope, want in expected.items():
                fields = want if isinstance(want, dict) else {"messages": want}
                shown = view[self.scope[scope]]
                assert {field: getattr(shown, field) for field in fields} == fields, (name, scope)
        for name, lit in step.get("dot", {}).items():
            assert oracle.has_unread(self.facts.tables, self.member[name]) is lit


@pytest.mark.parametrize(
    "case",
    [case for case in CASES if all(s["type"] != "task" for s in case["scopes"].values())],
    ids=lambda case: case["name"],
)
def test_facts_and_oracle_agree_with_the_acceptance_case(case: dict[str, Any]) -> None:
    CasePlayer(case).play(case["steps"])


def test_the_oracle_leans_on_nothing_under_test() -> None:
    code = "import sys, tests.core.oracle; sys.exit(any(m.split('.')[0] in ('unread', 'numpy') for m in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, timeout=60).returncode == 0


@pytest.fixture
def facts() -> Facts:
    return Facts(3)


@pytest.fixture
def channel(facts: Facts) -> int:
    return facts.create_channel(facts.members)[0]


def test_a_person_spoken_for_is_not_notified_and_nobody_s_cursor_moves(facts: Facts, channel: int) -> None:
    ann, ben, cat = facts.members
    facts.post(cat, channel)
    (event,) = facts.post(ann, channel, on_behalf_of=ben)
    assert isinstance(event, MessageStored)
    assert oracle.truth(facts.tables, ann, channel) == Truth(messages=1)
    assert oracle.truth(facts.tables, ben, channel) == Truth(messages=1)
    assert oracle.truth(facts.tables, cat, channel) == Truth(messages=1)


def test_imported_history_leaves_everybody_as_they_were(facts: Facts, channel: int) -> None:
    ann, ben, _ = facts.members
    facts.post(ben, channel)
    facts.post(ann, channel, silent=True)
    assert oracle.truth(facts.tables, ann, channel) == Truth(messages=1)
    assert oracle.truth(facts.tables, ben, channel) == NOTHING


def test_level_mentions_shows_mentions_as_messages_and_no_activities(facts: Facts, channel: int) -> None:
    ann, ben, _ = facts.members
    facts.post(ann, channel)
    facts.post(ann, channel, (ben,))
    facts.add_activity(ann, channel, high_signal=True)
    assert oracle.truth(facts.tables, ben, channel) == Truth(2, 1, 1)
    facts.set_level(ben, channel, "mentions")
    assert oracle.truth(facts.tables, ben, channel) == Truth(1, 1, 0)
    facts.set_level(ben, channel, "none")
    facts.mark_unread(ben, channel)
    assert oracle.truth(facts.tables, ben, channel) == Truth(manual=True)


def test_a_thread_is_silent_while_its_channel_is_archived_or_left(facts: Facts, channel: int) -> None:
    ann, ben, cat = facts.members
    facts.post(ann, channel)
    thread, _ = facts.create_thread(ben, channel, 1)
    joined = facts.post(cat, thread, (ben,))
    assert [type(event) for event in joined] == [MembershipChanged, MessageStored, ReadCursorAdvanced]
    assert oracle.truth(facts.tables, ann, thread) == Truth(messages=1)
    facts.archive(channel)
    assert oracle.truth(facts.tables, ann, thread) == NOTHING
    with pytest.raises(Refused):
        facts.post(cat, thread)
    facts.restore(channel)
    assert oracle.truth(facts.tables, ben, thread) == Truth(1, 1)
    assert len(facts.leave(ann, channel)) == 2
    facts.join(ann, channel)
    assert oracle.truth(facts.tables, ann, thread) == NOTHING
    facts.post(cat, thread, (ann,))
    assert oracle.truth(facts.tables, ann, thread) == Truth(1, 1), "mentioned, so in it again, from that message on"


def test_a_rewind_that_removes_a_root_archives_its_thread(facts: Facts, channel: int) -> None:
    ann, ben, cat = facts.members
    facts.post(cat, channel)
    facts.post(ann, channel)
    thread, _ = facts.create_thread(ben, channel, 2)
    facts.post(ben, thread)
    facts.delete(channel, 2)
    assert oracle.truth(facts.tables, ann, thread) == Truth(messages=1), "deleting a root keeps its thread"
    facts.post(ann, channel)
    other, _ = facts.create_thread(ben, channel, 3)
    facts.post(ben, other)
    facts.rewind(channel, 1)
    assert oracle.truth(facts.tables, ann, other) == NOTHING
    assert oracle.truth(facts.tables, ann, thread) == Truth(messages=1)


def test_what_changes_nothing_emits_nothing_and_touches_no_generation(facts: Facts, channel: int) -> None:
    ann, ben, _ = facts.members
    facts.post(ann, channel, (ben,))
    facts.read_all(ben, (channel,))
    facts.mark_unread(ben, channel)
    before = repr(facts.tables)
    assert facts.mark_unread(ben, channel) == ()
    assert facts.set_level(ben, channel, "all") == ()
    assert facts.join(ben, channel) == ()
    assert facts.restore(channel) == ()
    assert facts.edit_mentions(channel, 1, (ben,)) == ()
    assert facts.set_message_visibility(channel, 1, True) == ()
    assert facts.rewind(channel, 1) == ()
    assert [type(event) for event in facts.replay_post(channel, 1)] == [MessageStored]
    assert repr(facts.tables) == before
    facts.clear_unread(ben, channel)
    before = repr(facts.tables)
    assert facts.clear_unread(ben, channel) == ()
    assert facts.read_all(ben, (channel,)) == ()
    assert facts.read_to(ben, channel, 1) == ()
    assert repr(facts.tables) == before


def test_every_change_of_messages_raises_the_rewind_generation_by_one(facts: Facts, channel: int) -> None:
    ann, ben, _ = facts.members
    for _ in range(3):
        facts.post(ann, channel)
    events = [
        *facts.edit_mentions(channel, 1, (ben,)),
        *facts.set_message_visibility(channel, 2, False),
        *facts.delete(channel, 3),
        *facts.set_message_visibility(channel, 2, True),
        *facts.rewind(channel, 1),
    ]
    assert [event.rewind_generation for event in events if isinstance(event, MessagesChanged)] == [1, 2, 3, 4, 5]
    assert isinstance(events[-1], MessageRewound)
    scope = facts.tables.scopes[channel]
    assert [len(scope.messages_at(generation)) for generation in range(6)] == [3, 3, 3, 2, 2, 1]
    assert [m.visible for m in scope.messages_at(2)] == [True, False, True]


def test_marking_from_a_message_carries_every_row_past_the_new_cursor(facts: Facts, channel: int) -> None:
    ann, ben, _ = facts.members
    for _ in range(4):
        facts.post(ann, channel)
    facts.delete(channel, 3)
    facts.read_all(ben, (channel,))
    (event,) = facts.mark_unread_from(ben, channel, 2)
    assert [seq for seq, _ in event.unread_from.rows] == [2, 4]
    assert oracle.truth(facts.tables, ben, channel) == Truth(messages=2, manual=True)
    facts.read_to(ben, channel, 2)
    assert oracle.truth(facts.tables, ben, channel) == Truth(messages=1)
    facts.leave(ben, channel)
    facts.join(ben, channel)
    with pytest.raises(Refused):
        facts.mark_unread_from(ben, channel, 2)


def test_the_oracle_can_tell_a_difference() -> None:
    """Each clause of the counting rule, switched on alone, takes the message away."""
    counted = Message(5, author=1, principal=1, visible=True, silent=False, mentions=())
    assert oracle.message_counts(counted, 2, 5, 4)
    assert not oracle.message_counts(counted, 1, 5, 4)
    assert not oracle.message_counts(replace(counted, principal=2), 2, 5, 4)
    assert not oracle.message_counts(replace(counted, visible=False), 2, 5, 4)
    assert not oracle.message_counts(replace(counted, silent=True), 2, 5, 4)
    assert not oracle.message_counts(counted, 2, 6, 4)
    assert not oracle.message_counts(counted, 2, 5, 5)
